"""What a question says about places: names with the words around them → ``PlacePhrase``.

Owns "near", "within 10 km of", "north of", "between", "not in" and "or"; which words are a name
is decided in mentions.py. Knows no photos, only where a library has some.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

from photocraft_local.places import phrase_words as words
from photocraft_local.places.areas import Area, PlaceMention
from photocraft_local.places.joining import joined, narrowed
from photocraft_local.places.phrase import PlacePhrase, PlaceSpot, Relation, near_km
from photocraft_local.places.ranking import Doubt, doubt_about, town_among
from photocraft_local.places.sectors import Side
from photocraft_local.places.visited import NOWHERE, Visited

_FARTHEST_KM = 20_000.0  # half around the Earth; the filter language takes no more


class PlaceNames(Protocol):
    """What the reading needs of a gazetteer."""

    def find_in_text(self, text: str) -> list[PlaceMention]: ...

    def find(self, name: str) -> list[Area]: ...


def find_places(
    text: str,
    places: PlaceNames,
    *,
    visited: Visited | None = None,
    parted: Callable[[int, int], bool] = lambda start, end: False,
) -> list[PlacePhrase]:
    """Phrases in order of position, none overlapping; neighbours joined by "or", and by "and" or
    a comma where no photo can lie in both, are one phrase with several spots.

    ``start`` and ``end`` take in the words around the name that belong to it: "not in", "near",
    "my trip to". ``visited`` (by default that of ``places``, if it has one) says where photos
    are; names are read and ranked by it. ``parted``: whether ``text[start:end]`` says something
    else than that two phrases belong together.
    """
    known = visited if visited is not None else getattr(places, "visited", NOWHERE)
    read = getattr(places, "mentions", places.find_in_text)  # an atlas also knows what is wrong
    mentions = list(narrowed(text, read(text)))
    found: list[PlacePhrase] = []
    at = 0
    while at < len(mentions):
        left = found[-1].end if found else 0
        reader = _Reader(text, left, places, known)
        if pair := reader.between(mentions[at : at + 2]):
            found.append(pair)
            at += 2
            continue
        found.append(reader.one(mentions[at]))
        at += 1
    return list(joined(text, found, parted))


@dataclass(frozen=True, slots=True)
class _How:
    """The relation that the words around a name state, and where those words end."""

    start: int
    end: int
    relation: Relation = "in"
    km: float | None = None
    side: Side | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    left: int  # where the phrase before ended
    places: PlaceNames
    visited: Visited

    def one(self, mention: PlaceMention) -> PlacePhrase:
        if mention.problem:
            start, negated = self._lead(mention.start)
            return replace(
                self._phrase(start, mention.end, (), negated),
                problem=mention.problem,
                hint=mention.hint,
            )
        if away := words.TIME_AWAY.search(self.text, self.left, mention.start):
            problem = f"{away[0].strip()!r} is no distance: it depends on how one travels"
            phrase = self._phrase(away.start(), mention.end, (), False)
            return replace(phrase, problem=problem, hint="say how many km")
        if going := words.HEADING.search(self.text, self.left, mention.start):
            problem = "where something goes to is not known, only where photos were taken"
            phrase = self._phrase(going.start(), mention.end, (), False)
            return replace(phrase, problem=problem, hint=f"say 'in {mention.text}' if they are")
        how = self._how(mention)
        start, negated = self._lead(how.start)
        spot, doubt = self._spot(mention, how)
        negated ^= how.negated
        end = self._tail(how.end)
        if how.end == mention.end and (found := words.NOT_BEHIND.match(self.text[end:])):
            end, negated = end + found.end(), True
        elif negated and (found := words.EXCEPT_BEHIND.match(self.text[end:])):
            end += found.end()
        phrase = self._phrase(start, end, (spot,), negated)
        notes = (*mention.notes, *doubt.notes)
        phrase = replace(phrase, notes=notes, ambiguous=doubt.ambiguous)
        area = spot.area
        if spot.relation in ("near", "within") and not area.is_round:
            problem = f"{area.name} is a {area.kind}; nearness is measured from a town or a point"
            return replace(phrase, spots=(), problem=problem, hint="name a town in it")
        if spot.relation == "toward" and area.kind == "continent":
            return replace(phrase, spots=(), problem=f"what lies {spot.side} of {area.name}?")
        return phrase

    def between(self, pair: Sequence[PlaceMention]) -> PlacePhrase | None:
        """ "between Lisbon and Porto": both names together, or nothing."""
        if len(pair) < 2 or any(mention.problem for mention in pair):
            return None
        first, last = pair
        opened = words.BETWEEN.search(self.text, self.left, first.start)
        closed = words.BETWEEN_BEHIND.match(self.text[last.end :])
        joint = words.BETWEEN_JOINT.match(self.text[first.end : last.start])
        han = opened is None or opened[0].endswith("从")
        if not joint or (han and not closed):
            return None
        start, negated = self._lead(opened.start() if opened else first.start)
        end = last.end + (closed.end() if closed else 0)
        one, doubt = self._spot(first, _How(first.start, first.end, "between"))
        other, doubt2 = self._spot(last, _How(last.start, last.end, "between"))
        phrase = self._phrase(start, end, (replace(one, to=other),), negated)
        for spot in (one, other):
            if not spot.area.is_round:
                problem = f"{spot.area.name} is a {spot.area.kind}; a way leads between towns"
                return replace(phrase, spots=(), problem=problem, hint="name two towns")
        notes = doubt.notes + doubt2.notes
        return replace(phrase, notes=notes, ambiguous=doubt.ambiguous or doubt2.ambiguous)

    def _how(self, mention: PlaceMention) -> _How:
        start, end, text = mention.start, mention.end, self.text
        if mention.side:
            return _How(start, end, "part", side=cast(Side, mention.side))
        behind = text[end:]
        for pattern, rest, beyond in (
            (words.BEYOND, words.BEYOND_BEHIND, True),
            (words.WITHIN, words.WITHIN_BEHIND, False),
        ):
            found = pattern.search(text, self.left, start)
            after = rest.match(behind)
            if match := found or after:
                km = min(_FARTHEST_KM, max(0.01, words.kilometres(*_length_in(match))))
                start = found.start() if found else self._near_word(start)
                after = after or words.AWAY_BEHIND.match(behind)
                return _How(start, end + _length(after), "within", km, negated=beyond)
        if found := words.JUST_OUTSIDE.search(text, self.left, start):
            return _How(found.start(), end, "near")
        if found := words.FAR.search(text, self.left, start):
            return _How(found.start(), end, "near", negated=True)
        found = words.NEAR.search(text, self.left, start)
        if found and not (mention.own and words.AT_ONES.match(found[0])):
            after = words.NEAR_BEHIND.match(behind) if found[0][-1:] > "\u3000" else None
            return _How(found.start(), end + _length(after), "near")
        if after := words.NEAR_BEHIND.match(behind):
            return _How(start, end + after.end(), "near")
        return self._directed(start, end)

    def _directed(self, start: int, end: int) -> _How:
        relations: tuple[tuple[Relation, ...], ...] = (("part",), ("toward",))
        for (relation,), before, after in zip(
            relations,
            (words.PART, words.DIRECTION),
            (words.PART_BEHIND, words.DIRECTION_BEHIND),
            strict=True,
        ):
            if found := before.search(self.text, self.left, start):
                side = next(filter(None, found.groupdict().values()))
                return _How(found.start(), end, relation, side=words.side_of(side))
            if match := after.match(self.text[end:]):
                side = words.side_of(match["side"])
                return _How(start, end + match.end(), relation, side=side)
        return _How(start, end)

    def _near_word(self, start: int) -> int:
        """ "离里斯本20公里以内": the word for "from" before the name."""
        found = words.NEAR.search(self.text, self.left, start)
        return found.start() if found else start

    def _lead(self, start: int) -> tuple[int, bool]:
        """Where the words begin that belong to what stands at ``start``, and whether NOT is one."""
        start = self._before(words.LEAD, start)
        at = self._before(words.NOT, start)
        if at < start:
            return at, True
        at = self._before(words.TRIP, start)
        return self._before(words.LEAD, at) if at < start else start, False

    def _before(self, pattern: re.Pattern[str], start: int) -> int:
        found = pattern.search(self.text, self.left, start)
        return found.start() if found else start

    def _tail(self, end: int) -> int:
        found = words.TRIP_BEHIND.match(self.text[end:])
        return end + _length(found)

    def _spot(self, mention: PlaceMention, how: _How) -> tuple[PlaceSpot, Doubt]:
        areas = mention.areas
        area = areas[0]
        if how.relation in ("near", "within", "between"):
            area = town_among(areas)
        km = near_km(area) if how.relation == "near" else how.km
        doubt = doubt_about(mention.text, area, areas, self.visited)
        name = self._name_of(mention, area)
        others = tuple(other for other in areas if other != area)
        return PlaceSpot(name, area, how.relation, km, how.side, None, others), doubt

    def _name_of(self, mention: PlaceMention, area: Area) -> str:
        """A name that the filter language reads as this very area: the question's own word, if
        it does that."""
        for name in (mention.text, area.label(), area.name):
            found = self.places.find(name)
            if found and (found[0] == area or town_among(found) == area):
                return name
        return f"{area.latitude:.5f},{area.longitude:.5f}"

    def _phrase(
        self, start: int, end: int, spots: tuple[PlaceSpot, ...], negated: bool
    ) -> PlacePhrase:
        while start < end and self.text[start].isspace():
            start += 1
        return PlacePhrase(start, end, self.text[start:end], spots, negated)


def _length_in(match: re.Match[str]) -> tuple[str, str]:
    """Number and unit as they were written."""
    groups = match.groupdict()
    if groups.get("near"):
        return groups["near"], groups["near_unit"]
    if groups["number"]:
        return groups["number"], groups["unit"]
    return groups["bare"], groups["bare_unit"]


def _length(match: re.Match[str] | None) -> int:
    return match.end() if match else 0

"""Neighbouring names and phrases that belong together: "Paris in Texas", "Lisbon or Porto".

Before reading, a name and the land around it become one name; after it, phrases that are choices
of one condition become one phrase. Knows no gazetteer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from photocraft_local.places import phrase_words as words
from photocraft_local.places.areas import Area, PlaceMention
from photocraft_local.places.phrase import PlacePhrase
from photocraft_local.places.ranking import apart, lies_in


def narrowed(text: str, mentions: Sequence[PlaceMention]) -> Iterator[PlaceMention]:
    """ "Paris in Texas" and "Tuscany's beach town Viareggio" name one place, not two."""
    rest = list(mentions)
    while rest:
        first = rest.pop(0)
        if rest:
            between = text[first.end : rest[0].start]
            other = rest[0]
            if words.INSIDE.match(between) and (inner := _within(first, other)):
                rest[0] = PlaceMention(first.start, other.end, text[first.start : other.end], inner)
                continue
            if words.OWNED.match(between) and (inner := _within(other, first)):
                rest[0] = PlaceMention(first.start, other.end, other.text, inner)
                continue
        yield first


def _within(one: PlaceMention, whole: PlaceMention) -> tuple[Area, ...]:
    """The areas of ``one`` in the likeliest of ``whole``; none if both are the same place."""
    outer = whole.areas[0] if whole.areas and not one.problem else None
    if outer is None or outer.is_round or outer in one.areas[:1]:
        return ()
    return tuple(area for area in one.areas if lies_in(area, outer))


def joined(
    text: str, phrases: Sequence[PlacePhrase], parted: Callable[[int, int], bool]
) -> Iterator[PlacePhrase]:
    """Neighbours that are choices of one condition become one phrase, unless ``parted``."""

    def joint_of(left: PlacePhrase, right: PlacePhrase) -> str:
        return "" if parted(left.end, right.start) else _joint(text, left, right)

    last: PlacePhrase | None = None
    for index, phrase in enumerate(phrases):
        joint = joint_of(last, phrase) if last else ""
        following = phrases[index + 1] if index + 1 < len(phrases) else None
        listed = following is not None and bool(joint_of(phrase, following))
        if last and joint == "," and not listed and _is_elsewhere(last, phrase):
            yield _nowhere(text, last, phrase)
            last = None
            continue
        if last is None or not joint or last.problem or phrase.problem:
            if last:
                yield last
            last = phrase
            continue
        same = last.negated == phrase.negated or (last.negated and not phrase.negated)
        choices = joint == "or" or all(
            apart(one, two) for one in last.areas for two in phrase.areas
        )
        if not same or not choices:
            yield last
            last = phrase
            continue
        last = _one_of(text, last, phrase)
    if last:
        yield last


def _one_of(text: str, left: PlacePhrase, right: PlacePhrase) -> PlacePhrase:
    return PlacePhrase(
        left.start,
        right.end,
        text[left.start : right.end],
        left.spots + right.spots,
        left.negated or right.negated,
        left.notes + right.notes,
        left.ambiguous or right.ambiguous,
    )


def _is_elsewhere(town: PlacePhrase, land: PlacePhrase) -> bool:
    """ "Lisbon, Italy": a town and, behind a comma, a land that it is not in."""
    if len(town.spots) != 1 or len(land.spots) != 1 or town.negated or land.negated:
        return False
    inner, outer = town.spots[0], land.spots[0]
    return (
        inner.relation == outer.relation == "in"
        and inner.area.kind == "city"
        and outer.area.kind in ("region", "country")
        and not lies_in(inner.area, outer.area)
        and land.text == outer.name  # no "in" of its own
    )


def _nowhere(text: str, town: PlacePhrase, land: PlacePhrase) -> PlacePhrase:
    said = text[town.start : land.end]
    problem = f"no {town.spots[0].name} in {land.spots[0].area.name} is known"
    hint = "join the two by 'and' if both are meant"
    return PlacePhrase(town.start, land.end, said, (), problem=problem, hint=hint)


def _joint(text: str, left: PlacePhrase, right: PlacePhrase) -> str:
    between = text[left.end : right.start]
    for name, pattern in (("or", words.OR), ("and", words.AND), (",", words.COMMA)):
        if pattern.match(between) or (between and pattern.match(between.strip(" ") + " ")):
            return name
    if right.negated and left.negated and not between.strip():
        return "or"  # "neither in Italy nor in Spain"
    return ""

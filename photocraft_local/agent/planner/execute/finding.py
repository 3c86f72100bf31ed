"""A described set, narrowed step by step by tool calls, each of which keeps a named set.

    metadata → relations → unions → pictures → looks → unwanted looks → left out → picked

Straight code whose only state is the report that it fills. Knows the tools' arguments.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import count
from typing import NoReturn

from photocraft_local.agent.planner.conditions import Condition
from photocraft_local.agent.planner.execute.claims import (
    Report,
    claim,
    looks_for,
    of_condition,
    of_look,
    of_not_look,
)
from photocraft_local.agent.planner.execute.relating import around_arguments, remarks, why_none
from photocraft_local.agent.planner.execute.steps import (
    Finding,
    Found,
    GiveUp,
    Move,
    NothingFound,
    Result,
    UnknownAnchor,
    taken,
)
from photocraft_local.agent.planner.execute.wording import in_words, of_pictures, picked, related
from photocraft_local.agent.planner.plan import Look, Pick, Relation, Wanted
from photocraft_local.records import Json, ToolCall

_ROLES = {
    "anchor": "What it leans on: ",
    "out": "What to leave out: ",
    "part": "One part of it: ",
    "other": "The other set: ",
}
_MOST_COUNTED = 4  # conditions that are counted one by one when nothing meets all


class Finder:
    """``namesakes`` are words of looks that a place bears too."""

    def __init__(self, namesakes: Sequence[str] = ()) -> None:
        self._namesakes = namesakes
        self._numbers: Iterator[int] = count(1)

    def find(self, wanted: Wanted, report: Report, base: Found, prefix: str = "") -> Finding:
        """The set ``wanted`` inside ``base``. Raises NothingFound if it is empty, UnknownAnchor if
        nothing is known of what it leans on, GiveUp if a part of it cannot be decided."""
        found = base
        if wanted.conditions:
            found = yield from self._filtered(wanted.conditions, report, found, prefix)
        for number, relation in enumerate(wanted.relations, start=1):
            name = f"{prefix}related_{number}"
            found = yield from self._related(relation, report, found, name)
        if wanted.either:
            found = yield from self._either(wanted.either, report, found, prefix)
        if wanted.like:
            found = yield from self._like(wanted.like, report, found, prefix)
        for number, look in enumerate(wanted.looks, start=1):
            name = f"{prefix}looks" + (f"_{number}" if number > 1 else "")
            found = yield from self._looked(look, report, found, name)
        for number, text in enumerate(wanted.not_looks, start=1):
            found = yield from self._without(text, report, found, f"{prefix}kept_{number}")
        for number, part in enumerate(wanted.but_not, start=1):
            found = yield from self._but_not(part, report, found, f"{prefix}left_{number}")
        if not found.name:
            found = yield from self._filtered((), report, found, prefix)
        if wanted.pick:
            found = yield from self._picked(wanted, wanted.pick, report, found, prefix)
        return found

    # -- metadata --------------------------------------------------------------------------

    def _filtered(
        self, conditions: Sequence[Condition], report: Report, base: Found, prefix: str
    ) -> Finding:
        """Time, place and camera in one exact filter; all of the base if none is asked for."""
        words = "; ".join(condition.words for condition in conditions)
        name = f"{prefix}fitting"
        arguments = {"save_as": name, **filter_arguments(conditions), **base.within}
        result = yield Move(
            _told(name, f"Keep what metadata decides: {words or 'all photos'}."),
            ToolCall("filter_photos", arguments),
        )
        found = taken(result, name)
        if not found.count:
            yield from _why_nothing(conditions, base)
        report.claims += [of_condition(condition) for condition in conditions]
        return found

    # -- other sets ------------------------------------------------------------------------

    def _prefix(self, role: str) -> str:
        """Sets of one part of the plan are named alike: ``anchor_1_looks``."""
        return f"{role}_{next(self._numbers)}_"

    def _related(self, relation: Relation, report: Report, base: Found, name: str) -> Finding:
        """First what it leans on, as a set of its own, then the photos that stand so to it."""
        aside = Report()
        given = yield from self._given(relation, aside)
        asked = around_arguments(relation)
        result = yield Move(
            _told(name, f"The photos that stand so to these: {related(relation)}."),
            ToolCall(
                "around",
                {**given, **asked, "include_given": True, **base.within, "save_as": name},
            ),
        )
        found = taken(result, name)
        report.notes += [*aside.said(), *remarks(relation, result)]
        if not found.count:
            raise NothingFound(why_none(relation, result, base))
        report.claims.append(claim(related(relation), relation={**given, **asked}))
        return found

    def _given(self, relation: Relation, aside: Report) -> Generator[Move, Result, dict[str, Json]]:
        """The set that a relation leans on; of a question's own pictures, these themselves."""
        anchor = relation.anchor
        if of_pictures(anchor):
            return {"photos": [*anchor.like]}
        try:
            found = yield from self.find(anchor, aside, Found(), self._prefix("anchor"))
        except NothingFound as reason:
            known = in_words(anchor) or relation.words or relation.kind
            raise UnknownAnchor(f"nothing is known of '{known}': {reason}") from reason
        return {"set": found.name}

    def _either(self, parts: Sequence[Wanted], report: Report, base: Found, prefix: str) -> Finding:
        """The union of the parts; one that is empty is left out, if another is not."""
        kept: list[tuple[Wanted, Found, Report]] = []
        empty: list[str] = []
        for part in parts:
            aside = Report()
            try:
                found = yield from self.find(part, aside, base, self._prefix("part"))
            except (NothingFound, UnknownAnchor) as reason:
                empty.append(f"{in_words(part)}: {reason}")
                continue
            kept.append((part, found, aside))
        if not kept:
            raise NothingFound("; ".join(empty))
        for _, found, aside in kept:
            report.add(aside.narrowed(found.name))
        report.notes += [f"nothing for {reason}" for reason in empty]
        if len(kept) == 1:
            return kept[0][1]
        names = [found.name for _, found, _ in kept]
        union = yield from _combined("or", names, f"{prefix}either", "Join them.")
        words = " or ".join(in_words(part) for part, _, _ in kept)
        report.claims.append(claim(words, in_sets=names))
        return union

    def _but_not(self, part: Wanted, report: Report, base: Found, name: str) -> Finding:
        """What is left without ``part``; if no photo is in it, that is said. If nothing is known
        of what it leans on, what to leave out is not known either."""
        words = in_words(part)
        try:
            out = yield from self.find(part, Report(), base, self._prefix("out"))
        except NothingFound:
            report.notes.append(f"none had to be left out as '{words}'")
            return base
        if not base.name:
            base = yield from self._filtered((), report, base, self._prefix("all"))
        left = yield from _combined(
            "minus", [base.name, out.name], name, f"Leave out those that are '{words}'."
        )
        if not left.count:
            raise NothingFound(f"every photo that meets the rest is '{words}'")
        report.claims.append(claim(f"not {words}", not_in_sets=[out.name]))
        return left

    # -- looks -----------------------------------------------------------------------------

    def _like(self, pictures: Sequence[str], report: Report, base: Found, prefix: str) -> Finding:
        name, words = f"{prefix}like", " and ".join(pictures)
        arguments = {"like": [*pictures], "exact": True, "save_as": name, **base.within}
        result = yield Move(
            _told(name, f"All that look like {words}."), ToolCall("search_photos", arguments)
        )
        found = taken(result, name)
        if not found.count:
            raise NothingFound(f"nothing looks enough like {words}{_among(base)}")
        report.claims.append(claim(f"looks like {words}", like=[*pictures]))
        return found

    def _looked(self, look: Look, report: Report, base: Found, name: str) -> Finding:
        wanted = looks_for(look)
        result = yield Move(
            _told(name, f"{'Among them, a' if base.name else 'A'}ll that look like {look}."),
            ToolCall("search_photos", {**wanted, "exact": True, "save_as": name, **base.within}),
        )
        found = taken(result, name)
        _check_understood(str(look).strip("'"), result)
        if not found.count:
            raise NothingFound(
                f"nothing looks enough like {look}{_among(base)}{self._or_place(look)}"
            )
        report.claims.append(of_look(look))
        return found

    def _or_place(self, look: Look) -> str:
        """A look that found nothing may have been meant as a place."""
        said = " ".join(look.texts)
        names = [f"'in {name.title()}'" for name in self._namesakes if name in said]
        return f" (if a place is meant, write {' or '.join(names)})" if names else ""

    def _without(self, text: str, report: Report, base: Found, name: str) -> Finding:
        """What is below the look's own cut-off; a photo without a vector cannot be said to be."""
        result = yield Move(
            _told(name, f"Of these, all that do not look like '{text}'."),
            ToolCall(
                "search_photos",
                {"not_text": [text], "exact": True, "save_as": name, **base.within},
            ),
        )
        found = taken(result, name)
        if found.count == result.data.get("candidates"):
            report.none_left_out.append(text)
        _check_understood(text, result)
        if not found.count:
            raise NothingFound(f"every photo that meets the rest may show '{text}'")
        report.claims.append(of_not_look(text))
        return found

    # -- the pick --------------------------------------------------------------------------

    def _picked(
        self, wanted: Wanted, pick: Pick, report: Report, base: Found, prefix: str
    ) -> Finding:
        name, words = f"{prefix}picked", picked(pick)
        if pick.by == "best":
            return (yield from self._best(wanted, pick, base, name, words))
        place: dict[str, Json] = {"of_place": pick.place} if pick.place else {}
        arguments = {"order": pick.by, "limit": pick.count, **place, "save_as": name, **base.within}
        result = yield Move(
            _told(name, f"Of these, {words}."), ToolCall("filter_photos", arguments)
        )
        found = taken(result, name)
        if not found.count:
            fact = "time" if pick.by in ("first", "last") else "position"
            raise NothingFound(f"none of the {base.count} photos has a known {fact}: {words}")
        if found.count < pick.count:
            report.notes.append(f"only {found.count} of the {pick.count} that were asked for")
        check = {"by": pick.by, "set": base.name, "limit": pick.count, **place}
        report.claims.append(claim(words, order=check))
        return found

    def _best(self, wanted: Wanted, pick: Pick, base: Found, name: str, words: str) -> Finding:
        if not wanted.looks and not wanted.like:
            raise GiveUp(f"'{words}': which photo is best is only known for something seen")
        looks: dict[str, Json] = (
            looks_for(wanted.looks[0]) if wanted.looks else {"like": [*wanted.like]}
        )
        arguments = {**looks, "top_k": min(pick.count, 200), "save_as": name, **base.within}
        result = yield Move(
            _told(name, f"Of these, {words}."), ToolCall("search_photos", arguments)
        )
        return taken(result, name)


def _told(name: str, thought: str) -> str:
    """The thought, led by the role of the set that is made: its name begins with it."""
    return _ROLES.get(name.partition("_")[0], "") + thought


def filter_arguments(conditions: Sequence[Condition]) -> dict[str, Json]:
    """The arguments of filter_photos; a single time goes in the person's own words."""
    whens = [condition.when for condition in conditions if condition.when]
    alone = whens[0] if len(whens) == 1 else ""
    parts = [condition.where for condition in conditions if not (alone and condition.when)]
    arguments: dict[str, Json] = {"when": alone} if alone else {}
    if parts:
        arguments["where"] = " and ".join(f"({part})" for part in parts) if parts[1:] else parts[0]
    return arguments


def _why_nothing(conditions: Sequence[Condition], base: Found) -> Generator[Move, Result, NoReturn]:
    """Gives up; of several conditions, says how many photos meet each alone."""
    if not conditions:
        raise NothingFound("the library is empty")
    among = _among(base)
    if len(conditions) == 1:
        raise NothingFound(f"none is known to be '{conditions[0].words}'{among}")
    counts = []
    for condition in conditions[:_MOST_COUNTED]:
        result = yield Move(
            f"Count those that are '{condition.words}'.",
            ToolCall("filter_photos", {**filter_arguments([condition]), **base.within}),
        )
        counts.append(f"'{condition.words}' ({result.count} alone)")
    raise NothingFound(f"none is known to be all of: {', '.join(counts)}{among}")


def _combined(op: str, sets: Sequence[str], name: str, thought: str) -> Finding:
    result = yield Move(
        thought, ToolCall("combine_sets", {"op": op, "sets": [*sets], "save_as": name})
    )
    return taken(result, name)


def _among(base: Found) -> str:
    return f" among the {base.count} photos that meet the rest" if base.name else ""


def _check_understood(look: str, result: Result) -> None:
    """A look of which no word is known cannot be searched, and is not left out in silence."""
    if result.data.get("not_understood") and not result.data.get("understood"):
        raise GiveUp(f"the encoder knows none of the words '{look}'")

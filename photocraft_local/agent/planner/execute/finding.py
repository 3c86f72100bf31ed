"""A described set, found step by step by tool calls, each of which keeps a named set.

    metadata → relations → unions → pictures → looks → unwanted looks → left out → picked

Straight code whose only state is the report that it fills. Knows how sets are combined; what
narrows one set by itself is in ``narrowing``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import count

from photocraft_local.agent.planner.execute.claims import Report, claim
from photocraft_local.agent.planner.execute.narrowing import (
    Counter,
    chosen,
    filtered,
    like_pictures,
    looked,
    told,
    without,
)
from photocraft_local.agent.planner.execute.relating import around_arguments, remarks, why_none
from photocraft_local.agent.planner.execute.steps import (
    Finding,
    Found,
    Move,
    NothingFound,
    Result,
    UnknownAnchor,
    taken,
)
from photocraft_local.agent.planner.execute.wording import in_words, of_pictures, related
from photocraft_local.agent.planner.plan import Relation, Wanted
from photocraft_local.records import Json, ToolCall


class Finder:
    """``namesakes`` are words of looks that a place bears too."""

    def __init__(self, namesakes: Sequence[str] = ()) -> None:
        self._namesakes = namesakes
        self._numbers: Iterator[int] = count(1)
        self._counter = Counter()

    def find(self, wanted: Wanted, report: Report, base: Found, prefix: str = "") -> Finding:
        """The set ``wanted`` inside ``base``. Raises NothingFound if it is empty, UnknownAnchor if
        nothing is known of what it leans on, GiveUp if a part of it cannot be decided."""
        found = base
        if wanted.conditions:
            found = yield from filtered(wanted.conditions, report, found, prefix, self._counter)
        for number, relation in enumerate(wanted.relations, start=1):
            name = f"{prefix}related_{number}"
            found = yield from self._related(relation, report, found, name)
        if wanted.either:
            found = yield from self._either(wanted.either, report, found, prefix)
        if wanted.like:
            found = yield from like_pictures(wanted.like, report, found, prefix)
        for number, look in enumerate(wanted.looks, start=1):
            name = f"{prefix}looks" + (f"_{number}" if number > 1 else "")
            found = yield from looked(look, self._namesakes, report, found, name)
        for number, text in enumerate(wanted.not_looks, start=1):
            found = yield from without(text, report, found, f"{prefix}kept_{number}")
        for number, part in enumerate(wanted.but_not, start=1):
            found = yield from self._but_not(part, report, found, f"{prefix}left_{number}")
        if not found.name:
            found = yield from filtered((), report, found, prefix, self._counter)
        if wanted.pick:
            found = yield from chosen(wanted, wanted.pick, report, found, prefix)
        return found

    def _prefix(self, role: str) -> str:
        """Sets of one part of the plan are named alike: ``anchor_1_looks``."""
        return f"{role}_{next(self._numbers)}_"

    def _related(self, relation: Relation, report: Report, base: Found, name: str) -> Finding:
        """First what it leans on, as a set of its own, then the photos that stand so to it."""
        aside = Report()
        given = yield from self._given(relation, aside)
        asked = around_arguments(relation)
        result = yield Move(
            told(name, f"The photos that stand so to these: {related(relation)}."),
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
            leaning = relation.words or relation.kind
            raise UnknownAnchor(f"{reason}; '{leaning}' leans on it") from reason
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
        words = " or ".join(f"({in_words(part)})" for part, _, _ in kept)
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
            base = yield from filtered((), report, base, self._prefix("all"), self._counter)
        left = yield from _combined(
            "minus", [base.name, out.name], name, f"Leave out those that are '{words}'."
        )
        if not left.count:
            raise NothingFound(f"every photo that meets the rest is '{words}'")
        report.claims.append(claim(f"not {words}", not_in_sets=[out.name]))
        return left


def _combined(op: str, sets: Sequence[str], name: str, thought: str) -> Finding:
    result = yield Move(
        thought, ToolCall("combine_sets", {"op": op, "sets": [*sets], "save_as": name})
    )
    return taken(result, name)

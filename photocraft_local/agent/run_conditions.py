"""What the runs of one question hold photos to, and which of their candidates break it.

Facts are decided by code, looks by the judge's calibrated probability, or by score where no model
sees. Knows nothing of how a choice is made of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from photocraft_local.agent.selection import Condition, Reading
from photocraft_local.errors import PhotocraftError, ServerLost
from photocraft_local.records import Answer, Evidence, Json, Photo, Step, Usage
from photocraft_local.serving.judging import ANY, Left
from photocraft_local.tools import evidence
from photocraft_local.tools.alternatives import alternatives, either
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.photos import photos_by_uid
from photocraft_local.tools.stated import LOOKS, Stated, named_photos
from photocraft_local.tools.unclaimed import Accounts, is_same, own_conditions, supported
from photocraft_local.tools.verifying import looked_again
from photocraft_local.tools.wording import said, says

_CHECKS = ("when", "where", "relation", "not_in_sets", *LOOKS, "like", "seen")
_MOST_ANCHORS = 4  # of a run, whose looks are judged where readings contradict each other


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that ended: its answer, and its context with sets and ledger."""

    answer: Answer
    steps: Sequence[Step]
    context: ToolContext

    @property
    def claims(self) -> list[Mapping[str, Any]]:
        """Of the answer that was accepted."""
        last = self.steps[-1].call if self.steps else None
        return list(last.arguments.get("evidence", ())) if last else []

    @property
    def gives(self) -> bool:
        return bool(self.answer.uids)


@dataclass(frozen=True, slots=True)
class Statement:
    """One check that one run stated. ``part``: the photos that it is about, empty for all."""

    run: int
    constraint: str
    check: str
    value: Json
    part: frozenset[str] = frozenset()

    @property
    def is_look(self) -> bool:
        return self.check in (*LOOKS, "like", "seen")

    @property
    def as_stated(self) -> Stated | None:
        """None for what only its own run can check."""
        if self.check == "seen":
            return Stated("text", self.constraint, 1)
        if self.check in ("relation", "not_in_sets", "like"):
            return None
        return Stated(
            self.check, self.value if isinstance(self.value, str) else tuple(self.value), 1
        )

    @property
    def words(self) -> str:
        stated = self.as_stated
        return self.constraint if stated is None or self.check == "where" else stated.text

    def claim(self) -> dict[str, Any]:
        """As evidence of any photo; what one run saw in its own photos is asked, not told."""
        if self.check == "seen":
            return {"constraint": self.constraint, "text": self.constraint}
        return {"constraint": self.constraint, self.check: self.value}


@dataclass(slots=True)
class Case:
    """All that is weighed: the readings of the runs, the conditions, and for each condition the
    evidence of each candidate. ``left`` is what the question has left for a model's looks."""

    left: Left = ANY
    readings: list[Reading] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    pieces: list[dict[str, list[Evidence]]] = field(default_factory=list)
    usage: Usage = Usage()


def weighed(runs: Sequence[Ran], left: Left = ANY) -> Case:
    """Raises ServerLost; whatever else a judge cannot do breaks no condition."""
    pool = sorted({uid for run in runs for uid in run.answer.uids})
    case = Case(left)
    groups = _groups(runs)
    for group in groups:
        try:
            pieces = _checked(runs, group, pool, case)
        except ServerLost:
            raise
        except PhotocraftError:  # what cannot be checked any more is held against nobody
            pieces = {}
        broken = {uid for uid, found in pieces.items() if not all(one.met for one in found)}
        case.pieces.append(pieces)
        case.conditions.append(_condition(runs, group, broken))
    case.readings = [_reading(runs, number, groups) for number in range(len(runs))]
    return case


def with_anchors(runs: Sequence[Ran], case: Case) -> list[Reading]:
    """The readings with the looks of their anchors, too: what a run went out from may be wrong."""
    readings = []
    for run, reading in zip(runs, case.readings, strict=True):
        values = [reading.least, *_anchor_looks(run, case)]
        told = [value for value in values if value != 0.5] or [0.5]
        readings.append(replace(reading, least=min(told)))
    return readings


def _order(statement: Statement) -> tuple[str, str, str]:
    return statement.check, str(statement.value), statement.constraint


# -- what is stated -------------------------------------------------------------------------------


def _statements(runs: Sequence[Ran]) -> Iterator[Statement]:
    for number, run in enumerate(runs):
        if run.gives:
            for claim in run.claims:
                yield from _of_claim(run, number, claim)
        else:
            for one in run.context.stated.conditions:
                if supported(run.context, one):
                    yield _of_stated(number, one)
        not_used = " ".join(run.answer.not_understood)
        own = [one for one in own_conditions(run.context) if not says(not_used, one.text)]
        for group in alternatives(run.context, own):
            yield _of_stated(number, either(run.context, group))


def _of_claim(run: Ran, number: int, claim: Mapping[str, Any]) -> Iterator[Statement]:
    """``in_sets`` stands for what brought its sets about."""
    about = claim.get("about")
    kept = run.context.sets.get(about).uids if about else claim.get("photos", ())
    part = frozenset(kept) & set(run.answer.uids)
    part = frozenset() if part >= set(run.answer.uids) else part
    has_look = any(key in claim for key in (*LOOKS, "like"))
    for check in _CHECKS:
        if check in claim and not (check == "seen" and has_look):
            yield Statement(number, claim["constraint"], check, claim[check], part)
    for name in claim.get("in_sets", ()):
        for one in run.context.stated.of_set(name):
            if supported(run.context, one):
                yield replace(_of_stated(number, one), part=part)


def _of_stated(number: int, one: Stated) -> Statement:
    value = one.value if isinstance(one.value, str) else list(one.value)
    return Statement(number, one.text, one.check, value)


def _groups(runs: Sequence[Ran]) -> list[list[Statement]]:
    """Statements that say the same, together."""

    def key(one: Statement) -> tuple[str, str]:
        """The same in whatever order the runs come."""
        leans = _leans_on(runs, one) if one.check in ("relation", "not_in_sets") else ""
        return str(_order(one)), str(leans)

    groups: list[list[Statement]] = []
    for statement in sorted(_statements(runs), key=key):
        for group in groups:
            if _are_same(runs, group[0], statement):
                group.append(statement)
                break
        else:
            groups.append([statement])
    return groups


def _are_same(runs: Sequence[Ran], one: Statement, other: Statement) -> bool:
    first, second = one.as_stated, other.as_stated
    if first is not None and second is not None:
        return is_same(runs[one.run].context, first, second)
    if one.check != other.check or first is not second:
        return False
    if one.check == "like":
        return set(one.value) == set(other.value)
    is_alike = says(one.constraint, other.constraint) and says(other.constraint, one.constraint)
    return is_alike and _leans_on(runs, one) == _leans_on(runs, other)


def _leans_on(runs: Sequence[Ran], one: Statement) -> Json:
    """The photos behind a check about others, whatever a run called its sets."""
    sets = runs[one.run].context.sets
    if one.check == "not_in_sets":
        return sorted({uid for name in one.value for uid in sets.get(name).uids})
    how = {key: value for key, value in one.value.items() if key not in ("photos", "set")}
    return sorted(named_photos(one.value, sets)), how


# -- what it comes to -----------------------------------------------------------------------------


def _condition(runs: Sequence[Ran], group: Sequence[Statement], broken: Iterable[str]) -> Condition:
    one = min(group, key=_order)
    question = runs[one.run].context.question
    return Condition(
        min(statement.words for statement in group),
        any(_is_supported(runs, each) for each in group) or _is_undisputed(runs, group),
        frozenset(broken),
        frozenset().union(*(said(question, each.constraint) for each in group)),
    )


def _is_supported(runs: Sequence[Ran], one: Statement) -> bool:
    context, stated = runs[one.run].context, one.as_stated
    if one.check == "like":
        return set(one.value) <= set(context.pictures)
    if stated is None:
        return says(context.question, one.constraint)
    return supported(context, stated)


def _is_undisputed(runs: Sequence[Ran], group: Sequence[Statement]) -> bool:
    giving = {number for number, run in enumerate(runs) if run.gives}
    return {statement.run for statement in group if not statement.part} >= giving


def _reading(runs: Sequence[Ran], number: int, groups: Sequence[Sequence[Statement]]) -> Reading:
    run = runs[number]
    accounts = Accounts(run.context, run.claims)
    states: set[int] = set()
    others: set[int] = set()
    parts: dict[frozenset[str], set[int]] = {}
    covered: set[str] = set()
    for at, group in enumerate(groups):
        mine = [one for one in group if one.run == number]
        whole = [one for one in mine if not one.part]
        for one in mine:
            if one.part:
                parts.setdefault(one.part, set()).add(at)
        stated = group[0].as_stated
        is_led = run.gives and stated is not None and accounts.is_led_by(stated)
        if is_led or (mine and not whole):
            others.add(at)
        elif whole:
            states.add(at)
        for one in mine or (group if is_led else ()):
            covered |= said(run.context.question, one.words)
    ways = frozenset(map(frozenset, parts.values()))
    return Reading(run.answer.uids, frozenset(states), frozenset(others), ways, frozenset(covered))


# -- evidence -------------------------------------------------------------------------------------


def _checked(
    runs: Sequence[Ran], group: Sequence[Statement], pool: Sequence[str], case: Case
) -> dict[str, list[Evidence]]:
    one = min(group, key=_order)
    context = runs[one.run].context
    photos = photos_by_uid(context, pool)
    if not one.is_look:
        concerned = {photo.uid: photo for photo in photos}
        return evidence.verified(context, [(one.claim(), concerned)], photos)
    is_weak = not any(_is_supported(runs, each) for each in group)
    if is_weak and not _is_undisputed(runs, group):
        return {}  # it is held against nobody, so nobody is looked at
    let_pass = {uid for uid in pool if _has_passed(runs, group, uid)}
    asked = [photo for photo in photos if photo.uid not in let_pass]
    if context.judge is not None and context.settings.verify:
        return _judged(context, one.claim(), asked, case)
    if one.check == "seen":
        return {}
    concerned = {photo.uid: photo for photo in asked}
    found = evidence.verified(context, [(one.claim(), concerned)], asked)
    seen = {uid for uid in found if _was_seen(runs, group, uid)}
    return {uid: pieces for uid, pieces in found.items() if uid not in seen}


def _judged(
    context: ToolContext, claim: dict[str, Any], photos: Sequence[Photo], case: Case
) -> dict[str, list[Evidence]]:
    context.left = case.left.less(case.usage)
    checked = looked_again(context, [(claim, {photo.uid: photo for photo in photos})])
    case.usage += checked.usage
    return {
        uid: [replace(piece, met=not look.is_below) for piece in checked.evidence(uid)]
        for uid, look in checked.looks.items()
    }


def _has_passed(runs: Sequence[Ran], group: Sequence[Statement], uid: str) -> bool:
    """What no run disputes was looked at before those answers: by each that states the look."""
    giving = [number for number, run in enumerate(runs) if run.gives]
    is_undisputed = all(uid in runs[number].answer.uids for number in giving)
    return is_undisputed and any(one.run in giving and not one.part for one in group)


def _was_seen(runs: Sequence[Ran], group: Sequence[Statement], uid: str) -> bool:
    """By a run that gives the photo and says so of the same look: eyes outweigh a score."""
    return any(
        "seen" in claim and uid in claim.get("photos", run.answer.uids)
        for run in runs
        if uid in run.answer.uids
        for claim in run.claims
        if any(says(claim["constraint"], one.words) for one in group)
    )


def _anchor_looks(run: Ran, case: Case) -> Iterator[float]:
    """Probabilities that anchors show what they were found by."""
    context = run.context
    if context.judge is None or not context.settings.verify:
        return
    anchors: set[str] = set()
    for claim in run.claims:
        anchors |= named_photos(claim.get("relation", {}), context.sets)
        anchors |= set(claim.get("anchors", ()))
    for one in context.stated.conditions:
        if one.is_fact or one.check == "not_text" or not supported(context, one):
            continue
        known = sorted(
            uid for uid in anchors & one.found if context.catalog.row_of(uid) is not None
        )
        photos = photos_by_uid(context, known[:_MOST_ANCHORS])
        for found in _judged(
            context, {"constraint": one.text, **one.checks}, photos, case
        ).values():
            yield from (piece.score for piece in found if piece.score is not None)

"""The answer of several runs: their candidates, chosen by evidence, with what was decided in words.

Of the runs' words those stand that go with the photos that stand. Knows nothing of how runs are
made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from photocraft_local.agent.run_conditions import Case, Ran, weighed, with_anchors
from photocraft_local.agent.selection import Rank, Selected, rank, selected
from photocraft_local.agent.wanted import asks_for_words
from photocraft_local.records import Answer, Evidence, Usage
from photocraft_local.serving.judging import ANY, Left
from photocraft_local.tools.format import counted, listing
from photocraft_local.tools.ordering import Ordering

_CLOSE_CALLS = ("contest", "rivals", "tie")


@dataclass(frozen=True, slots=True)
class Pooled:
    """``won``: numbers (from 0) of the runs whose reading the answer keeps to; ``left_out``: UID →
    what the photo breaks; ``notes``: for the person."""

    answer: Answer
    won: tuple[int, ...] = ()
    left_out: Mapping[str, tuple[str, ...]] | None = None
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()


def pooled(runs: Sequence[Ran], question: str, left: Left = ANY) -> Pooled:
    """The same whatever the order of the runs. What ``left`` does not pay for is not looked at, and
    the photo's evidence says so. Raises ServerLost while photos are judged."""
    case = weighed(runs, left)
    found = selected(case.readings, case.conditions)
    if found.decided in _CLOSE_CALLS:
        case.readings = with_anchors(runs, case)
        found = selected(case.readings, case.conditions)
    uids = _foremost(runs, found)
    answer = Answer(
        uids=uids,
        evidence={uid: _evidence(runs, case, found, uid) for uid in uids},
        text=_text(runs, case, uids, question),
        reason="" if uids else _reason(runs, case, found),
        understood=_all(run.answer.understood for run in runs),
        not_understood=_all(runs[number].answer.not_understood for number in _kept(runs, found)),
    )
    left_out = {
        uid: tuple(case.conditions[number].words for number in numbers)
        for uid, numbers in sorted(found.left_out.items())
    }
    notes = _notes(runs, case, found, left_out)
    return Pooled(answer, found.won, left_out, notes, case.usage)


def _kept(runs: Sequence[Ran], found: Selected) -> Sequence[int]:
    return found.won or range(len(runs))


def _all(parts: Any) -> tuple[str, ...]:
    return tuple(sorted({words for part in parts for words in part}))


def _foremost(runs: Sequence[Ran], found: Selected) -> tuple[str, ...]:
    """In the order of the runs that gave just these, if it is one; else by time. Where each run
    chose the foremost of an order, the foremost of all candidates that hold."""
    picks = {_pick(runs[number]) for number in found.won if runs[number].gives}
    context = runs[0].context
    by_time = context.catalog.selection_of(found.uids)
    if len(picks) == 1 and (pick := picks.pop()) is not None:
        by, of_place, limit = pick
        rows = Ordering.of(context, by, of_place).ranked(by_time)
        return tuple(context.catalog.uids_at(rows[:limit]))
    orders = {run.answer.uids for run in runs if set(run.answer.uids) == set(found.uids)}
    return orders.pop() if len(orders) == 1 else tuple(by_time.uids())


def _pick(run: Ran) -> tuple[str, str, int] | None:
    orders = [claim["order"] for claim in run.claims if "order" in claim]
    told = {(one["by"], one.get("of_place", ""), one["limit"]) for one in orders}
    return told.pop() if len(told) == 1 else None


def _evidence(runs: Sequence[Ran], case: Case, found: Selected, uid: str) -> tuple[Evidence, ...]:
    """Of the run with the most evidence that gives the photo, and of every condition that was held
    against it beyond that."""
    giving = [number for number, run in enumerate(runs) if uid in run.answer.uids]
    best = max(giving, key=lambda number: (_rank(case, number), str(_own(runs[number], uid))))
    pieces = list(_own(runs[best], uid))
    known = {piece.rule for piece in pieces if piece.score is None}
    looks = {piece.constraint for piece in pieces if piece.score is not None}
    for condition, by_uid in zip(case.conditions, case.pieces, strict=True):
        if not condition.is_strong:
            continue
        for piece in by_uid.get(uid, ()):
            is_known = piece.rule in known if piece.score is None else piece.constraint in looks
            if piece.met and not is_known:
                pieces.append(piece)
    return tuple(pieces)


def _own(run: Ran, uid: str) -> tuple[Evidence, ...]:
    return run.answer.evidence.get(uid, ())


def _rank(case: Case, number: int) -> Rank:
    return rank(case.readings[number], case.conditions)


def _text(runs: Sequence[Ran], case: Case, uids: Sequence[str], question: str) -> str:
    """Of the runs whose photos are those of the answer; for a question that asks for words else
    of the one that comes closest."""
    told = [number for number, run in enumerate(runs) if run.answer.text]
    if not uids:
        told = [number for number in told if not runs[number].answer.reason]
    same = [number for number in told if set(runs[number].answer.uids) == set(uids)]
    if not same and asks_for_words(question):
        same = told
    best = max(
        same,
        key=lambda number: (
            _likeness(runs[number].answer.uids, uids),
            _rank(case, number),
            runs[number].answer.text,
        ),
        default=None,
    )
    return "" if best is None else runs[best].answer.text


def _likeness(some: Sequence[str], others: Sequence[str]) -> float:
    union = set(some) | set(others)
    return len(set(some) & set(others)) / len(union) if union else 1.0


def _reason(runs: Sequence[Ran], case: Case, found: Selected) -> str:
    """Why there is no photo: of the runs that found none, or what their candidates break."""
    pool = {uid for run in runs for uid in run.answer.uids}
    empty = [number for number, run in enumerate(runs) if not run.gives and run.answer.reason]
    best = max(
        empty, key=lambda number: (_rank(case, number), runs[number].answer.reason), default=None
    )
    own = "" if best is None else runs[best].answer.reason
    if not pool:
        return own
    broken = sorted({case.conditions[n].words for ns in found.left_out.values() for n in ns})
    told = f"{counted(len(pool), 'photo')} that a run gave broke: {listing(broken)}"
    return f"{own}; {told}" if own else told


def _notes(
    runs: Sequence[Ran], case: Case, found: Selected, left_out: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    notes = [
        f"left out, since evidence is against it: {uid} ({listing(list(words))})"
        for uid, words in left_out.items()
    ]
    texts = {run.answer.text for run in runs if run.answer.text and not run.answer.reason}
    if found.decided == "tie":
        notes.append(
            "the runs contradict each other, and nothing tells which is right: all are given"
        )
    elif found.decided != "held":
        notes.append("the runs contradict each other; the reading with more evidence was taken")
    if len(texts) > 1 and asks_for_words(runs[0].context.question):
        notes.append(f"the runs' words differ: {listing(sorted(map(repr, texts)))}")
    alone = [
        condition.words
        for number, condition in enumerate(case.conditions)
        if not condition.is_strong
        and (condition.broken_by or not case.pieces[number])
        and any(number in reading.states for reading in case.readings)
    ]
    if alone:
        told = listing(sorted(map(repr, alone)))
        notes.append(f"not held against other runs' photos, since only some state it: {told}")
    return tuple(notes)

"""Rows of a run → the figures of its report; each is plain JSON, shares are 0…1.

A question that failed, was cut or was declined counts as wrong, as its row says. Knows no page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean, median
from typing import Any, Literal

from photocraft_local.evaluation.bootstrap import Interval, interval
from photocraft_local.evaluation.results import ResultRow
from photocraft_local.records import Json

NO_KIND = "(none)"
LEAST_LIBRARIES = 6  # of fewer, no flip of signs is rare enough to tell anything
_DIGITS = 6  # of a share: whoever shows one in % rounds it once more
_TEXTS = ("text_exact", "text_normalised", "text_contained")


def figures(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """All of a report but its failures. Intervals are of 95 %; ``unit`` says what is drawn, the
    same in all parts."""
    unit = Unit.of(rows)
    judged = [row for row in rows if row.has_gold]
    return {
        "unit": unit.to_json(),
        "all": scores(rows, unit),
        "by_kind": _by(judged, unit, lambda row: [row.kind or NO_KIND]),
        "by_hops": _by(judged, unit, lambda row: [str(row.hops)] if row.hops else []),
        "by_group": _by(judged, unit, lambda row: row.groups),
        "by_gold": _by(judged, unit, lambda row: ["some photos" if row.gold else "no photo"]),
        "status": dict(sorted(Counter(row.status for row in rows).items())),
        "failure_classes": _counted(row.failure_class for row in rows if row.failure_class),
        "text": text_scores(rows, unit),
        "turns": by_turns(rows),
        "tools": tool_calls(rows),
        "cost": cost(rows),
    }


@dataclass(frozen=True, slots=True)
class Unit:
    """What a run's intervals and tests draw whole. The questions of a library hang together, so it
    is libraries; of too few of them it is questions, and what is said holds for these alone."""

    drawn: Literal["library", "question"]
    num_libraries: int

    @classmethod
    def of(cls, rows: Iterable[ResultRow]) -> Unit:
        num = len({row.library for row in rows})
        return cls("library" if num >= LEAST_LIBRARIES else "question", num)

    @property
    def note(self) -> str:
        if self.drawn == "library":
            return f"drawn: {self.num_libraries} libraries, each with all of its questions"
        these = (
            f"these {self.num_libraries} libraries" if self.num_libraries > 1 else "this library"
        )
        return f"drawn: single questions, so intervals and p-values hold for {these} only"

    def clusters(self, rows: Iterable[ResultRow]) -> list[str] | None:
        return [row.library for row in rows] if self.drawn == "library" else None

    def to_json(self) -> dict[str, Json]:
        return {"drawn": self.drawn, "libraries": self.num_libraries, "note": self.note}


def scores(rows: Sequence[ResultRow], unit: Unit | None = None) -> dict[str, Json]:
    """EM and F1 as [mean, low, high] of the ``num`` questions whose set is known; None: that it
    cannot be said."""
    unit = unit or Unit.of(rows)
    judged = [row for row in rows if row.has_gold]
    told: dict[str, Json] = {"num": len(judged)}
    for name in ("em", "f1"):
        values = [getattr(row, name) for row in judged]
        told[name] = _rounded(interval(values, clusters=unit.clusters(judged), shares=True))
    return told


def text_scores(rows: Sequence[ResultRow], unit: Unit | None = None) -> dict[str, Json]:
    """Shares of right answers in words, of the questions that have one, and in ``intervals`` where
    each lies; empty without any. ``without_gold``: those of them whose set is not known."""
    asked = [row for row in rows if row.gold_text]
    if not asked:
        return {}
    unit = unit or Unit.of(rows)
    values = {name: [float(getattr(row, name) or 0) for row in asked] for name in _TEXTS}
    around = {
        name: interval(part, clusters=unit.clusters(asked), shares=True)
        for name, part in values.items()
    }
    return {
        "num": len(asked),
        "without_gold": sum(not row.has_gold for row in asked),
        **{name: round(found.mean, _DIGITS) for name, found in around.items()},
        "intervals": {name: _rounded(found)[1:] for name, found in around.items()},
    }


def _rounded(found: Interval) -> list[float | None]:
    ends = (found.mean, found.low, found.high)
    return [None if isnan(value) else round(value, _DIGITS) for value in ends]


def by_turns(rows: Sequence[ResultRow]) -> list[dict[str, Json]]:
    """For each number of turns, the share of all questions that the model had ended by itself by
    then, the share that was right then, and both over each other."""
    last = max((row.turns for row in rows), default=0)
    points = []
    for turn in range(last + 1):
        ended = [row for row in rows if row.finished_by_itself and row.turns <= turn]
        right = sum(row.right for row in ended)
        points.append(
            {
                "turn": turn,
                "finished": round(len(ended) / len(rows), _DIGITS),
                "right": round(right / len(rows), _DIGITS),
                "accuracy": round(right / len(ended), _DIGITS) if ended else None,
            }
        )
    return points


def tool_calls(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """Of each tool: calls, share of all calls, share of the questions that made one."""
    calls: Counter[str] = Counter()
    users: Counter[str] = Counter()
    for row in rows:
        calls.update(row.tools)
        users.update(name for name, number in row.tools.items() if number)
    total = calls.total()
    return {
        name: {
            "calls": number,
            "share": round(number / total, _DIGITS),
            "questions": round(users[name] / len(rows), _DIGITS),
        }
        for name, number in sorted(calls.items(), key=lambda item: (-item[1], item[0]))
        if number
    }


def cost(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """Tokens and seconds, in all and a question. ``new``: prompt tokens that came from no cache."""
    prompt, cached, generated = (
        sum(getattr(row, name) for row in rows)
        for name in ("prompt_tokens", "cached_tokens", "generated_tokens")
    )
    right = sum(row.right for row in rows)
    work = [row.prompt_tokens - row.cached_tokens + row.generated_tokens for row in rows]
    return {
        "prompt_tokens": prompt,
        "cached_tokens": cached,
        "cached_share": round(cached / prompt, _DIGITS) if prompt else None,
        "new_tokens": prompt - cached,
        "generated_tokens": generated,
        "seconds": round(sum(row.seconds for row in rows), 3),
        "tokens_per_question": _spread(work, 0),
        "seconds_per_question": _spread([row.seconds for row in rows], 3),
        "turns_per_question": _spread([row.turns for row in rows], 2),
        "tokens_per_right_answer": round(sum(work) / right) if right else None,
        "seconds_per_right_answer": (
            round(sum(row.seconds for row in rows) / right, 3) if right else None
        ),
    }


def _spread(values: Sequence[float], digits: int) -> dict[str, Json]:
    """Mean, median, the value that nine of ten do not pass, and the largest."""
    if not values:
        return {}
    ordered = sorted(values)
    ninth = ordered[max(0, -(-9 * len(ordered) // 10) - 1)]
    told = {"mean": fmean(ordered), "median": median(ordered), "p90": ninth, "max": ordered[-1]}
    return {name: round(value, digits) for name, value in told.items()}


def _by(
    rows: Sequence[ResultRow], unit: Unit, labels: Callable[[ResultRow], Iterable[str]]
) -> dict[str, Json]:
    """A row counts under each of its labels; labels in their own order, numbers by size."""
    parts: dict[str, list[ResultRow]] = {}
    for row in rows:
        for label in dict.fromkeys(labels(row)):
            parts.setdefault(label, []).append(row)
    return {label: scores(parts[label], unit) for label in sorted(parts, key=_order)}


def _order(label: str) -> tuple[bool, int, str]:
    is_number = label.isascii() and label.isdecimal()
    return (not is_number, int(label) if is_number else 0, label)


def _counted(names: Iterable[str]) -> dict[str, Any]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))

"""Rows of a run → the figures of its report; each is plain JSON, shares are 0…1.

A question that failed, was cut or was declined counts as wrong, as its row says. Knows no page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median
from typing import Any

from photocraft_local.evaluation.bootstrap import interval
from photocraft_local.evaluation.results import ResultRow
from photocraft_local.records import Json

NO_KIND = "(none)"
_LEAST_LIBRARIES = 10
_TEXTS = ("text_exact", "text_normalised", "text_contained")


def figures(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """All of a report but its failures. Intervals are of 95 %; ``clusters_of`` says what is
    drawn."""
    return {
        "all": scores(rows),
        "by_kind": _by(rows, lambda row: [row.kind or NO_KIND]),
        "by_hops": _by(rows, lambda row: [str(row.hops)] if row.hops else []),
        "by_group": _by(rows, lambda row: row.groups),
        "by_gold": _by(rows, lambda row: ["some photos" if row.gold else "no photo"]),
        "status": dict(sorted(Counter(row.status for row in rows).items())),
        "failure_classes": _counted(row.failure_class for row in rows if row.failure_class),
        "text": text_scores(rows),
        "turns": by_turns(rows),
        "tools": tool_calls(rows),
        "cost": cost(rows),
    }


def scores(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """EM and F1 as [mean, low, high]; ``num`` questions."""
    clusters = clusters_of(rows)
    told: dict[str, Json] = {"num": len(rows)}
    for name in ("em", "f1"):
        found = interval([getattr(row, name) for row in rows], clusters=clusters)
        told[name] = [round(value, 4) for value in (found.mean, found.low, found.high)]
    return told


def clusters_of(rows: Sequence[ResultRow]) -> list[str] | None:
    """What is drawn whole: the questions of a library hang together. Of few libraries each is drawn
    alone, or no interval would mean anything."""
    libraries = [row.library for row in rows]
    return libraries if len(set(libraries)) >= _LEAST_LIBRARIES else None


def text_scores(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """Shares of right answers in words, of the questions that have one; empty without any."""
    asked = [row for row in rows if row.gold_text]
    if not asked:
        return {}
    shares = {
        name: round(fmean(float(getattr(row, name) or 0) for row in asked), 4) for name in _TEXTS
    }
    return {"num": len(asked), **shares}


def by_turns(rows: Sequence[ResultRow]) -> list[dict[str, Json]]:
    """For each number of turns, the share of all questions that the model had ended by itself by
    then, the share that was right then, and both over each other."""
    last = max((row.turns for row in rows), default=0)
    points = []
    for turn in range(last + 1):
        ended = [row for row in rows if row.finished_by_itself and row.turns <= turn]
        right = sum(row.em for row in ended)
        points.append(
            {
                "turn": turn,
                "finished": round(len(ended) / len(rows), 4),
                "right": round(right / len(rows), 4),
                "accuracy": round(right / len(ended), 4) if ended else None,
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
            "share": round(number / total, 4),
            "questions": round(users[name] / len(rows), 4),
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
    right = sum(row.em for row in rows)
    work = [row.prompt_tokens - row.cached_tokens + row.generated_tokens for row in rows]
    return {
        "prompt_tokens": prompt,
        "cached_tokens": cached,
        "cached_share": round(cached / prompt, 4) if prompt else None,
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


def _by(rows: Sequence[ResultRow], labels: Callable[[ResultRow], Iterable[str]]) -> dict[str, Json]:
    """A row counts under each of its labels; labels in their own order, numbers by size."""
    parts: dict[str, list[ResultRow]] = {}
    for row in rows:
        for label in dict.fromkeys(labels(row)):
            parts.setdefault(label, []).append(row)
    return {label: scores(parts[label]) for label in sorted(parts, key=_order)}


def _order(label: str) -> tuple[bool, int, str]:
    is_number = label.isascii() and label.isdecimal()
    return (not is_number, int(label) if is_number else 0, label)


def _counted(names: Iterable[str]) -> dict[str, Any]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))

"""The bare answer of a plan, without its sentence: a number, a day, a place, a camera.

From the same sums as the sentence. For scripts and for scoring; empty where the question asks for
photos only, or where nothing is known. Knows no tool calls but their results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from photocraft_local.agent.planner.execute.answering import (
    are_few,
    asked_unit,
    calendar,
    days_of,
    ends,
)
from photocraft_local.agent.planner.execute.wording import kilometres
from photocraft_local.agent.planner.plan import Ask, Plan
from photocraft_local.records import Answer, Step
from photocraft_local.tools.format import counted

_Facts = Mapping[str, Any]


def value_of(plan: Plan, answer: Answer, steps: Sequence[Step]) -> str:
    """``3``, ``yes``, ``2021-06-14``, ``Porto``, ``Canon PowerShot S40``, ``7 days``, ``3.4 km``;
    several are joined by a comma and a blank, the ends of a span by `` to ``."""
    ask = plan.ask
    if not answer.uids:
        return _of_none(ask, answer.text)
    if ask.kind == "exists":
        return "yes"
    if ask.kind == "count" and asked_unit(ask) == "photos":
        return str(len(answer.uids))
    facts: dict[str, Any] = {}
    for step in steps:
        seen = step.observation.data
        if "facts" in seen or "apart" in seen:  # of the whole set, the last one counts
            facts |= seen
    try:
        return _VALUES[ask.kind](ask, facts) if ask.kind in _VALUES else ""
    except KeyError:  # the episode was cut before the sums
        return ""


def _of_none(ask: Ask, text: str) -> str:
    """Only where it is known that there is none, as the sentence says."""
    if ask.kind == "count" and text.startswith("0 "):
        return "0"
    return "no" if ask.kind == "exists" and text.startswith("No:") else ""


def _count(ask: Ask, facts: _Facts) -> str:
    return str(int(facts["facts"][f"num_{asked_unit(ask)}"]))


def _when(ask: Ask, facts: _Facts) -> str:
    sums = facts["facts"]
    if not sums["dated"]:
        return ""
    if ask.unit == "year":
        return ", ".join(calendar("year", facts))
    if ask.unit == "month":
        return ", ".join(dict.fromkeys(label[:7] for label in days_of(facts)))
    first, last = ends(sums)
    if sums["num_days"] > 1:
        return ", ".join(days_of(facts)) if are_few(facts) else f"{first} to {last}"
    if ask.unit != "time":
        return str(first)
    start, end = (sums[name]["time"][11:16] for name in ("first", "last"))
    return start if start == end else f"{start} to {end}"


def _span(ask: Ask, facts: _Facts) -> str:
    sums = facts["facts"]
    if not sums["dated"]:
        return ""
    first, last = ends(sums)
    return counted((last - first).days + 1, "day")


def _where(ask: Ask, facts: _Facts) -> str:
    unit = ask.unit or "city"
    rows = facts["facts"]["places"]
    names = [row[unit] or (row["region"] if unit == "city" else "") or row["country"]
             for row in rows]  # fmt: skip
    return ", ".join(dict.fromkeys(filter(None, names)))


def _camera(ask: Ask, facts: _Facts) -> str:
    return ", ".join(str(row["name"]) for row in facts["facts"]["cameras"])


def _distance(ask: Ask, facts: _Facts) -> str:
    apart = facts["apart"]
    return kilometres(apart["km"]) if "km" in apart else ""


_VALUES: dict[str, Callable[[Ask, _Facts], str]] = {
    "count": _count,
    "when": _when,
    "span": _span,
    "where": _where,
    "camera": _camera,
    "distance": _distance,
}

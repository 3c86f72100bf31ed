"""From a question's structured rule to the exact files that answer it.

A rule is JSON. All its conditions must hold: equal fields (``city``, ``region``, ``country``,
``spot``, ``event``, ``trip``), ``camera`` (part of the name), ``from``/``to`` (half-open local
times), ``days``, ``years``, ``months``, ``weekdays`` (Monday 0), ``hours`` (half-open pair),
``near`` (latitude, longitude, km), labels ``all``/``any``/``none``, and ``anchor``: a rule whose
first or last photo says when. Then ``but_not`` (a rule) is taken out and ``pick`` chooses.
``or`` is a union of rules; ``nothing`` gives in words why no photo can answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from album.life import Moment

Rule = dict[str, Any]
_EQUAL = ("city", "region", "country", "spot", "event", "trip")
_LABELS = {"all", "any", "none"}
_KEYS = {*_EQUAL, *_LABELS, "camera", "from", "to", "days", "years", "months", "weekdays"}
_KEYS |= {"hours", "near", "anchor", "but_not", "pick", "or", "nothing"}


class RuleError(ValueError):
    """A rule that the album cannot decide."""


def gold(rule: Rule, life: Sequence[Moment]) -> list[str]:
    """The files that the rule means, sorted."""
    return sorted(moment.file for moment in select(rule, life))


def select(rule: Rule, life: Sequence[Moment]) -> list[Moment]:
    """The photos that the rule means, in the life's order. Raises RuleError."""
    if unknown := set(rule) - _KEYS:
        raise RuleError(f"unknown keys {sorted(unknown)}")
    if "nothing" in rule:
        return []
    if "or" in rule:
        files = {moment.file for part in rule["or"] for moment in select(part, life)}
        found = [moment for moment in life if moment.file in files]
    else:
        tests = [*_fields(rule), *_times(rule), *_anchor(rule, life)]
        found = [moment for moment in life if all(test(moment) for test in tests)]
        found = _with_labels(rule, found)
    if "but_not" in rule:
        out = {moment.file for moment in select(rule["but_not"], found)}
        found = [moment for moment in found if moment.file not in out]
    return _picked(rule["pick"], found) if "pick" in rule else found


Test = Callable[[Moment], bool]


def _fields(rule: Rule) -> list[Test]:
    tests: list[Test] = [
        lambda m, key=key: getattr(m, key) == rule[key] for key in _EQUAL if key in rule
    ]
    if "camera" in rule:
        tests.append(lambda m: rule["camera"].lower() in m.camera.lower())
    if "near" in rule:
        latitude, longitude, km = rule["near"]
        tests.append(lambda m: bool(m.position) and _km(m.position, (latitude, longitude)) <= km)
    return tests


def _times(rule: Rule) -> list[Test]:
    tests: list[Callable[[datetime], bool]] = []
    if "from" in rule:
        tests.append(lambda t: t >= datetime.fromisoformat(rule["from"]))
    if "to" in rule:
        tests.append(lambda t: t < datetime.fromisoformat(rule["to"]))
    if "days" in rule:
        tests.append(lambda t: t.date().isoformat() in rule["days"])
    if "years" in rule:
        tests.append(lambda t: t.year in rule["years"])
    if "months" in rule:
        tests.append(lambda t: t.month in rule["months"])
    if "weekdays" in rule:
        tests.append(lambda t: t.weekday() in rule["weekdays"])
    if "hours" in rule:
        tests.append(lambda t: rule["hours"][0] <= t.hour + t.minute / 60 < rule["hours"][1])
    return [_on_time(test) for test in tests]


def _on_time(test: Callable[[datetime], bool]) -> Test:
    return lambda moment: moment.time is not None and test(moment.time)


def _anchor(rule: Rule, life: Sequence[Moment]) -> list[Test]:
    if "anchor" not in rule:
        return []
    anchor = dict(rule["anchor"])
    relation, at = anchor.pop("relation"), anchor.pop("at", "first")
    shift, hours = anchor.pop("shift_days", 0), anchor.pop("within_hours", None)
    dated = sorted((m for m in select(anchor, life) if m.time), key=_when)
    if not dated:
        raise RuleError(f"the anchor {anchor} finds nothing")
    fixed = dated[0] if at == "first" else dated[-1]
    moment = _when(fixed)
    day = moment.date() + timedelta(days=shift)
    tests: dict[str, Test] = {
        "day": _on_time(lambda t: t.date() == day),
        "after": _on_time(lambda t: t > moment),
        "before": _on_time(lambda t: t < moment),
        "event": lambda m: m.event == fixed.event,
        "trip": lambda m: m.trip == fixed.trip != "",
    }
    chosen = [tests[relation]]
    if hours is not None:
        chosen.append(_on_time(lambda t: abs(t - moment) <= timedelta(hours=hours)))
    return chosen


def _with_labels(rule: Rule, found: list[Moment]) -> list[Moment]:
    if not _LABELS & set(rule):
        return found
    if unsure := [moment.file for moment in found if not moment.complete]:
        raise RuleError(f"labels are not complete inside the constraints: {unsure}")
    wanted, some = set(rule.get("all", ())), set(rule.get("any", ()))
    unwanted = set(rule.get("none", ()))
    return [
        m
        for m in found
        if wanted <= m.labels and (not some or some & m.labels) and not unwanted & m.labels
    ]


def _picked(pick: Rule, found: list[Moment]) -> list[Moment]:
    by, count = pick["by"], pick.get("n", 1)
    if by in ("first", "last"):
        dated = sorted((m for m in found if m.time), key=_when)
        return dated[:count] if by == "first" else dated[-count:]
    axis, sign = {"north": (0, -1), "south": (0, 1), "east": (1, -1), "west": (1, 1)}[by]
    placed = [m for m in found if m.position]
    return sorted(placed, key=lambda m: sign * m.position[axis] if m.position else 0)[:count]


def _when(moment: Moment) -> datetime:
    if moment.time is None:
        raise RuleError(f"{moment.file} has no time")
    return moment.time


def _km(a: tuple[float, float], b: tuple[float, float]) -> float:
    (lat1, lon1), (lat2, lon2) = (tuple(map(math.radians, point)) for point in (a, b))
    half = (
        math.sin((lat2 - lat1) / 2) ** 2
        + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    )
    return 2 * 6371.0 * math.asin(math.sqrt(half))

"""Conditions as JSON, field by field: for those that their own words do not bring back.

Only the classes of ``conditions.py`` and what they are made of are read. Knows no line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from typing import Any

from photocraft_local.agent.planner import conditions
from photocraft_local.agent.planner.conditions import Condition
from photocraft_local.places import areas, phrase
from photocraft_local.records import Json
from photocraft_local.timelang import when

_KIND = "is"  # the key that names the class
_PLAIN: Mapping[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "frozenset": frozenset,
    "timedelta": lambda seconds: timedelta(seconds=seconds),
}


def exact_text(condition: Condition) -> str:
    return json.dumps(_as_json(condition), ensure_ascii=True, sort_keys=True)


def exact_condition(text: str) -> Condition:
    """Raises ValueError for what is no condition."""
    try:
        found = _from_json(json.loads(text))
        _check(found)
    except (TypeError, KeyError, AttributeError, RecursionError) as exc:
        raise ValueError(str(exc)) from exc
    return found  # type: ignore[no-any-return]


def _check(found: Any) -> None:
    """It works as a condition, as far as that can be seen without a photo."""
    if not all(isinstance(text, str) for text in (found.words, found.where, found.when)):
        raise ValueError("its words are no text")
    found.holds({"time": {"local": "2021-06-14T10:31:00"}, "camera": "x", "flags": []})


@cache
def _classes() -> Mapping[str, type]:
    there = [vars(module).values() for module in (conditions, areas, phrase, when)]
    return {
        one.__name__: one
        for values in there
        for one in values
        if isinstance(one, type) and is_dataclass(one)
    }


def _as_json(value: Any) -> Json:
    if isinstance(value, tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, frozenset):
        return {_KIND: "frozenset", "value": sorted(map(_as_json, value))}
    if isinstance(value, timedelta):
        return {_KIND: "timedelta", "value": value.total_seconds()}
    if isinstance(value, datetime | date | time):
        return {_KIND: type(value).__name__, "value": value.isoformat()}
    if is_dataclass(value):
        form = {item.name: _as_json(getattr(value, item.name)) for item in fields(value)}
        return {_KIND: type(value).__name__, **form}
    return value


def _from_json(value: Json) -> Any:
    if isinstance(value, list):
        return tuple(_from_json(item) for item in value)
    if not isinstance(value, dict):
        return value
    form = dict(value)
    name = form.pop(_KIND)
    if name in _PLAIN:
        return _PLAIN[name](form["value"])
    if name not in _classes():
        raise ValueError(f"{name!r} is no kind of condition")
    return _classes()[name](**{key: _from_json(item) for key, item in form.items()})

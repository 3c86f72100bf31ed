"""The bare answer beside the sentence: of each kind of question, and of none."""

from __future__ import annotations

from typing import Any

import pytest

from photocraft_local.agent.planner.execute.values import value_of
from photocraft_local.agent.planner.plan import Ask, Plan, Wanted
from photocraft_local.records import Answer, Observation, Step, ToolCall

FACTS: dict[str, Any] = {
    "dated": 3,
    "num_days": 2,
    "num_cities": 2,
    "first": {"time": "2021-06-14T10:31:00"},
    "last": {"time": "2021-06-20T12:00:00"},
    "places": [
        {"city": "Porto", "region": "Porto", "country": "Portugal"},
        {"city": "", "region": "Algarve", "country": "Portugal"},
    ],
    "cameras": [{"name": "Canon EOS 6D", "photos": 2}, {"name": "iPhone 4", "photos": 1}],
}
ONE_DAY = {
    **FACTS,
    "num_days": 1,
    "last": {"time": "2021-06-14T10:31:40"},
    "places": FACTS["places"][:1],
    "cameras": FACTS["cameras"][:1],
}
DAYS = {"by_day": {"2021-06-14": 2, "2021-06-20": 1, "no date": 1}}
YEARS = {"by_month": {"2021-06": 2, "2022-01": 1}}
SPREAD = {**FACTS, "num_days": 40, "last": {"time": "2022-01-02T00:00:00"}}


@pytest.mark.parametrize(
    ("kind", "unit", "facts", "bars", "value"),
    [
        ("photos", "", FACTS, DAYS, ""),
        ("count", "", FACTS, DAYS, "3"),
        ("count", "cities", FACTS, DAYS, "2"),
        ("exists", "", FACTS, DAYS, "yes"),
        ("when", "", FACTS, DAYS, "2021-06-14, 2021-06-20"),
        ("when", "", ONE_DAY, DAYS, "2021-06-14"),
        ("when", "time", ONE_DAY, DAYS, "10:31"),
        ("when", "month", SPREAD, YEARS, "2021-06, 2022-01"),
        ("when", "year", SPREAD, YEARS, "2021, 2022"),
        ("when", "", SPREAD, YEARS, "2021-06-14 to 2022-01-02"),
        ("when", "", {**FACTS, "dated": 0}, DAYS, ""),
        ("span", "", FACTS, DAYS, "7 days"),
        ("where", "", FACTS, DAYS, "Porto, Algarve"),
        ("where", "country", FACTS, DAYS, "Portugal"),
        ("where", "", ONE_DAY, DAYS, "Porto"),
        ("camera", "", ONE_DAY, DAYS, "Canon EOS 6D"),
        ("camera", "", FACTS, DAYS, "Canon EOS 6D, iPhone 4"),
    ],
)
def test_values(kind: Any, unit: str, facts: dict[str, Any], bars: Any, value: str) -> None:
    found = Answer(("a", "b", "c"), text="a sentence")
    assert value_of(plan(kind, unit), found, steps(facts=facts, histogram=bars)) == value


def test_how_far_apart() -> None:
    found = Answer(("a", "b"))
    assert value_of(plan("distance"), found, steps(apart={"km": 3.4})) == "3.4 km"
    assert value_of(plan("distance"), found, steps(apart={})) == ""


def test_none_is_told_from_not_known() -> None:
    for kind, text, value in (
        ("count", "0 photos: none is from 1990.", "0"),
        ("count", "The number is not known: there are no vectors.", ""),
        ("exists", "No: none is from 1990.", "no"),
        ("exists", "That is not known: there are no vectors.", ""),
        ("when", "No photo: none is from 1990.", ""),
    ):
        assert value_of(plan(kind), Answer((), text=text), []) == value


def test_an_episode_that_was_cut_has_none() -> None:
    assert value_of(plan("when"), Answer(("a",)), []) == ""


def plan(kind: Any, unit: str = "") -> Plan:
    return Plan(Wanted(), Ask(kind, unit))


def steps(**data: Any) -> list[Step]:
    call = ToolCall("filter_photos", {})
    earlier = {"histogram": {"by_day": {"1990-01-01": 9}}}
    return [
        Step(at, call, Observation("filter_photos", one)) for at, one in enumerate((earlier, data))
    ]

"""A stated plan: revised, marked, bounded; what cannot be leaves it as it was."""

from __future__ import annotations

from typing import Any

import pytest

from photocraft_local.errors import UsageError
from photocraft_local.memory.working import WorkingState
from photocraft_local.records import Intent, Observation, PlanStep, Step, ToolCall
from photocraft_local.tools.planning import LEFT_OUT, MAX_STEPS, Plan, fits

STATED = {
    "context": "the  lake\nin June",
    "steps": [{"goal": "the cake", "expect": "one"}, {"goal": "that day", "expect": "few"}],
    "target": "dogs",
}


def planned(*calls: dict[str, Any]) -> Plan:
    plan = Plan()
    for arguments in calls:
        plan = plan.revised(arguments)
    return plan


def goals(*names: str) -> dict[str, Any]:
    return {"steps": [{"goal": name} for name in names]}


def mark(step: int, status: str, why: str = "") -> dict[str, Any]:
    told = {"step": step, "status": status}
    return {"mark": {**told, "why": why} if why else told}


def test_intent_and_steps_are_kept_on_one_line_each() -> None:
    plan = planned(STATED)
    assert plan.intent == Intent("the lake in June", ("the cake", "that day"), "dogs")
    assert plan.steps == (PlanStep("the cake", expect="one"), PlanStep("that day", expect="few"))
    assert plan.current == 1


def test_a_branch_that_is_ruled_out_keeps_its_number_and_reason() -> None:
    plan = planned(STATED, mark(1, "done"), mark(2, "ruled out", "only cats"))
    assert plan.current == 0
    assert plan.steps[1] == PlanStep("that day", "ruled out", "few", "only cats")
    assert plan.numbered("ruled out") == [2]


def test_a_newer_plan_rules_out_what_it_leaves_out_and_takes_it_back_when_named_again() -> None:
    plan = planned(goals("a", "b", "c"), mark(1, "done", "14"), goals("c", "d"))
    assert [one.status for one in plan.steps] == ["done", "ruled out", "open", "open"]
    assert plan.steps[1].why == LEFT_OUT
    assert plan.intent.breakdown == ("c", "d")
    again = plan.revised(goals("a", "b", "d"))
    assert [one.status for one in again.steps] == ["done", "open", "ruled out", "open"]


def test_what_was_ruled_out_for_a_reason_stays_so_when_it_is_planned_again() -> None:
    plan = planned(goals("a", "b"), mark(1, "ruled out", "no lake"), goals("a", "b"))
    assert plan.steps[0] == PlanStep("a", "ruled out", why="no lake")
    assert plan.current == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "needs one of its arguments"),
        (mark(3, "done"), "no step 3; its steps are 1 to 2"),
        (mark(1, "ruled out"), "without a reason"),
        (goals("x", " \n"), "a goal is empty"),
        (goals(*map(str, range(MAX_STEPS))), f"would have {MAX_STEPS + 2} steps"),
        ({**goals("new"), **mark(9, "done")}, "no step 9; its steps are 1 to 3"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    arguments: dict[str, Any], told: str
) -> None:
    plan = planned(STATED)
    with pytest.raises(UsageError, match=told):
        plan.revised(arguments)
    state = WorkingState(plan=plan)
    accepted = Step(1, ToolCall("plan", arguments), Observation("plan"))
    assert not state.observe(accepted).planned
    assert state.plan == plan
    with pytest.raises(UsageError, match="it has no steps yet"):
        Plan().revised(mark(1, "done"))


@pytest.mark.parametrize(
    "arguments",
    [{"plan": "x"}, {"steps": "x"}, {"mark": {"step": "1"}}, {"mark": 3}, {"target": ["x"]}],
)
def test_another_loops_tool_of_this_name_changes_nothing(arguments: dict[str, Any]) -> None:
    state = WorkingState(plan=planned(STATED))
    state.observe(Step(1, ToolCall("plan", arguments), Observation("plan")))
    assert state.plan == planned(STATED)


def test_a_call_that_failed_changes_nothing() -> None:
    state = WorkingState()
    state.observe(Step(1, ToolCall("plan", STATED), Observation("plan", error="no")))
    assert state == WorkingState()


def test_the_state_with_a_plan_survives_json() -> None:
    state = WorkingState(plan=planned(STATED, mark(1, "done", "one")))
    assert WorkingState.from_json(state.to_json()) == state


def test_expectations_are_held_against_a_count() -> None:
    counts = (0, 1, 5, 10, 11, 500)
    met = {
        word: [n for n in counts if fits(word, n)]
        for word in ("none", "one", "few", "many", "some", "", "odd")
    }
    assert met["none"] == [0]
    assert met["one"] == [1]
    assert met["few"] == [1, 5, 10]
    assert met["many"] == [11, 500]
    assert met["some"] == [1, 5, 10, 11, 500]
    assert met[""] == met["odd"] == list(counts)

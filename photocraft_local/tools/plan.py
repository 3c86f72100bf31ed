"""plan: the model states what the question wants and how it goes about it, and marks its steps.

Finds nothing by itself; memory reads the same arguments and keeps them through compactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from photocraft_local.errors import UsageError
from photocraft_local.records import Json, Observation
from photocraft_local.tools import planning, schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, safe_text
from photocraft_local.tools.ports import Arguments

_STEP = schema.arguments(
    "goal",
    goal=schema.words("What to find.", longest=120),
    expect=schema.choice("How many photos.", tuple(planning.EXPECTED)),
)
_MARK = schema.arguments(
    "step",
    "status",
    step=schema.whole("Number.", 1, planning.MAX_STEPS),
    status=schema.choice("End.", planning.MARKS),
    why=schema.words("Reason.", longest=160),
)


class PlanTool:
    name = "plan"
    description = (
        "State briefly how you read the question, then mark steps as they end. What is ruled out "
        "is not tried again."
    )
    parameters = schema.arguments(
        context=schema.words("Hidden time and place.", longest=200),
        steps=schema.many(_STEP, "In order.", most=8),
        target=schema.words("What to return.", longest=200),
        mark={**_MARK, "description": "How a step ended."},
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        old, new = context.plan, context.plan.revised(arguments)
        context.plan = new
        data: dict[str, Json] = {"next": new.current, "open": new.numbered("open")}
        told = []
        if "steps" in arguments:
            data["numbers"] = [new.number_of(one["goal"]) for one in arguments["steps"]]
            told.append(f"a plan of {counted(len(new.intent.breakdown), 'step')}")
            told += _closed(data["numbers"], old)
        if "mark" in arguments:
            number, mark = arguments["mark"]["step"], new.steps[arguments["mark"]["step"] - 1]
            told.append(f"step {number} {mark.status}" + (f": {mark.why}" if mark.why else ""))
        brief = "; ".join(told) or "the intent is noted"
        return Observation(self.name, data=data, brief=safe_text(brief, 300))

    def put_back(self, arguments: Arguments, seen: Observation, context: ToolContext) -> bool:
        if seen.ok:
            with suppress(UsageError):  # of another version: the plan is as far as it can be read
                context.plan = context.plan.revised(arguments)
        return True


def _closed(numbers: Sequence[int], old: planning.Plan) -> list[str]:
    """Steps that are planned again, but were closed already."""
    told = []
    for number in numbers:
        one: Any = old.step(number)
        if one and one.status != "open" and one.why != planning.LEFT_OUT:
            told.append(f"step {number} stays {one.status}")
    return told

"""A question's plan as a backbone states it: context, steps, target, and what became of each step.

Pure: a plan and the arguments of a call make the next plan, the same in the tool and in memory.
Texts are a model's own: bounded here, escaped by whoever shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from photocraft_local.errors import UsageError
from photocraft_local.records import Intent, Json, PlanStatus, PlanStep

MAX_STEPS = 24  # of a plan with all that it was before
LEFT_OUT = "a newer plan does without it"
MARKS: tuple[PlanStatus, ...] = ("done", "failed", "ruled out")
# How many photos a step should bring: least and most.
EXPECTED: dict[str, tuple[int, float]] = {
    "none": (0, 0),
    "one": (1, 1),
    "few": (1, 10),
    "many": (11, float("inf")),
    "some": (1, float("inf")),
}


def fits(expect: str, count: int) -> bool:
    """Whether so many photos are what was expected; without an expectation any number is."""
    least, most = EXPECTED.get(expect, (0, float("inf")))
    return least <= count <= most


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps are numbered from 1 and keep their numbers; none is ever taken out."""

    intent: Intent = Intent()
    steps: tuple[PlanStep, ...] = ()

    @property
    def current(self) -> int:
        """The number of the step in hand, the first open one; 0 if there is none."""
        return next((at for at, one in enumerate(self.steps, 1) if one.status == "open"), 0)

    def step(self, number: int) -> PlanStep | None:
        return self.steps[number - 1] if 1 <= number <= len(self.steps) else None

    def numbered(self, *statuses: PlanStatus) -> list[int]:
        return [at for at, one in enumerate(self.steps, 1) if one.status in statuses]

    def number_of(self, goal: str) -> int:
        """Of the newest step with this goal; 0 if there is none."""
        found = [at for at, one in enumerate(self.steps, 1) if one.goal == plain(goal)]
        return found[-1] if found else 0

    def revised(self, arguments: Mapping[str, Json]) -> Plan:
        """The plan after a call. Raises UsageError for what cannot be; this one stays as it is.

        Steps that a newer plan does without are ruled out. A step that was closed with a reason
        stays closed though it is planned again: what was ruled out is not tried twice.
        """
        if not arguments:
            raise UsageError(
                "plan needs one of its arguments",
                hint="state context, steps and target at the beginning, then mark steps",
            )
        intent = replace(
            self.intent,
            episode=plain(arguments.get("context", self.intent.episode)),
            target=plain(arguments.get("target", self.intent.target)),
        )
        made = replace(self, intent=intent)
        if "steps" in arguments:
            made = made._planned(arguments["steps"])
        return made._marked(arguments["mark"]) if "mark" in arguments else made

    def _planned(self, stated: Sequence[Mapping[str, Json]]) -> Plan:
        new = {plain(one["goal"]): str(one.get("expect", "")) for one in stated}
        if "" in new:
            raise UsageError("a goal is empty", hint="say in a few words what the step is to find")
        steps = [_kept(one, new) for one in self.steps]
        known = {one.goal for one in steps}
        steps += [PlanStep(goal, expect=told) for goal, told in new.items() if goal not in known]
        if len(steps) > MAX_STEPS:
            raise UsageError(
                f"the plan would have {len(steps)} steps with those that it had before, "
                f"{MAX_STEPS} are allowed",
                hint="carry on with the steps that are there, and mark them",
            )
        return Plan(replace(self.intent, breakdown=tuple(new)), tuple(steps))

    def _marked(self, mark: Mapping[str, Json]) -> Plan:
        number, status, why = int(mark["step"]), mark["status"], plain(mark.get("why", ""))
        old = self.step(number)
        if old is None:
            known = f"its steps are 1 to {len(self.steps)}" if self.steps else "it has no steps yet"
            raise UsageError(
                f"the plan has no step {number}; {known}", hint="state steps first, then mark one"
            )
        if status == "ruled out" and not why:
            raise UsageError(
                f"step {number} is to be ruled out without a reason",
                hint="say in why what was seen",
            )
        new = replace(old, status=status, why=why)
        return replace(self, steps=(*self.steps[: number - 1], new, *self.steps[number:]))


def plain(text: Json) -> str:
    """On one line."""
    return " ".join(str(text).split())


def stated(goals: Iterable[str]) -> tuple[PlanStep, ...]:
    """Open steps."""
    return tuple(map(PlanStep, goals))


def _kept(old: PlanStep, new: Mapping[str, str]) -> PlanStep:
    if old.goal not in new:
        return replace(old, status="ruled out", why=LEFT_OUT) if old.status == "open" else old
    if old.status == "open" or old.why == LEFT_OUT:
        return PlanStep(old.goal, expect=new[old.goal] or old.expect)
    return old

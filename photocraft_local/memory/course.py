"""How an episode goes: each step taken into the working state, judged, and thought about.

Made from steps alone, so that an episode that is resumed, exported or shown as a trace comes to the
same words without a model. Knows no prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from photocraft_local.memory.episode import EpisodeRecord, Reflection, Verdict, verdict
from photocraft_local.memory.reflection import Taken, reflections
from photocraft_local.memory.state_line import state_line
from photocraft_local.memory.working import WorkingState
from photocraft_local.records import Step
from photocraft_local.tools.planning import Plan


@dataclass(slots=True)
class Course:
    """``episodic`` False: no expectations and no reflections."""

    episodic: bool = True
    working: WorkingState = field(default_factory=WorkingState)
    taken: list[Taken] = field(default_factory=list)
    reflections: list[Reflection] = field(default_factory=list)
    line: str = ""  # at the tail of the newest turn

    def into(self, record: EpisodeRecord, step: Step) -> EpisodeRecord:
        """Takes the step, and gives the record with what came of it."""
        judged, new = self.take(step)
        record = record.with_step(step, judged, new)
        plan = self.working.plan
        if plan == Plan():
            return record
        intent = replace(plan.intent, target=plan.intent.target or record.question)
        return replace(record, intent=intent, plan=plan.steps)

    def take(self, step: Step) -> tuple[Verdict, Sequence[Reflection]]:
        plan = self.working.plan
        change = self.working.observe(step)
        branch = plan.current if self.episodic else 0
        judged = verdict(step, plan.step(branch))
        self.taken.append(Taken(step, change, judged, branch))
        new: Sequence[Reflection] = ()
        if self.episodic and not _ends(step):
            new = reflections(self.taken, self.working, self.reflections)
            self.reflections += new
        self.line = state_line(self.working, change, [one.words for one in new])
        return judged, new


def _ends(step: Step) -> bool:
    """An accepted answer: nobody reads what comes behind it."""
    return step.call.name == "submit_answer" and step.observation.ok

"""The record of one finished episode: intent, plan, what was expected and what came.

The shapes are those of the full episodic memory; in this version code fills only what it can
know by itself: digest lines, a verdict a step, how it ended. Intent and plan steps stay empty
unless the backbone states them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Literal

from photocraft_local.memory.digest import digest_line
from photocraft_local.records import Answer, Json, Step

PlanStatus = Literal["open", "done", "failed", "ruled out"]
Outcome = Literal["as expected", "empty", "failed"]


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question wants: the hidden context, the chain of steps to it, what to return."""

    episode: str = ""
    breakdown: tuple[str, ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True)
class PlanStep:
    goal: str
    status: PlanStatus = "open"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One step judged: what it should bring, what it brought."""

    step: int
    expectation: str
    observation: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRecord:
    episode_id: str
    started: str  # ISO 8601, UTC
    question: str
    backbone: str
    intent: Intent = Intent()
    plan: tuple[PlanStep, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    digest: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()  # names in order of use
    uids: tuple[str, ...] = ()  # the answer
    text: str = ""
    reason: str = ""
    accepted: bool = False  # photos were found and every constraint was met on re-check

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> EpisodeRecord:
        """Raises KeyError or TypeError if ``data`` is not such a record."""
        fields: dict[str, Json] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
        }
        intent = data["intent"]
        fields["intent"] = Intent(**{**intent, "breakdown": tuple(intent["breakdown"])})
        fields["plan"] = tuple(PlanStep(**item) for item in data["plan"])
        fields["verdicts"] = tuple(Verdict(**item) for item in data["verdicts"])
        return cls(**fields)

    def with_step(self, step: Step) -> EpisodeRecord:
        return replace(
            self,
            verdicts=(*self.verdicts, verdict(step)),
            digest=(*self.digest, digest_line(step)),
            tools=(*self.tools, step.call.name),
        )

    def with_answer(self, answer: Answer) -> EpisodeRecord:
        checks = [item.met for items in answer.evidence.values() for item in items]
        return replace(
            self,
            uids=answer.uids,
            text=answer.text,
            reason=answer.reason,
            accepted=bool(answer.uids) and bool(checks) and all(checks),
        )


def verdict(step: Step) -> Verdict:
    """By code: an error has failed, a count of zero is empty, the rest is as expected."""
    seen = step.observation
    outcome: Outcome = "as expected"
    if seen.error:
        outcome = "failed"
    elif seen.data.get("count") == 0:
        outcome = "empty"
    return Verdict(step.index, f"a result of {step.call.name}", seen.error or seen.brief, outcome)

"""The record of one finished episode: intent, plan, what was expected and what came, reflections.

Intent and plan are what the backbone stated; digest lines, verdicts, reflections and how it ended
are written by code. Knows nothing of how any of them comes about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from photocraft_local.memory.digest import digest_line
from photocraft_local.memory.text import prompt_json, shortened
from photocraft_local.records import Answer, Intent, Json, PlanStatus, PlanStep, Step
from photocraft_local.tools.planning import EXPECTED, fits

__all__ = ["EpisodeRecord", "Intent", "PlanStep", "Reflection", "Verdict", "verdict"]
Outcome = Literal["as expected", "more than expected", "fewer than expected", "empty", "failed"]
Trigger = Literal[
    "empty result", "repeated call", "no progress", "contradiction", "before the answer"
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One step judged: what it should bring, what it brought."""

    step: int
    expectation: str
    observation: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Reflection:
    """What the model was told after a step, and what set it off."""

    step: int
    trigger: Trigger
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRecord:
    episode_id: str
    started: str  # ISO 8601, UTC
    question: str
    backbone: str
    intent: Intent = Intent()
    plan: tuple[PlanStep, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    reflections: tuple[Reflection, ...] = ()
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
        """Raises KeyError, TypeError or ValueError if ``data`` is not such a record. Older ones
        lack reflections, and of a plan's steps what was expected and why they ended."""
        fields: dict[str, Json] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
        }
        intent = data["intent"]
        fields["intent"] = Intent(**{**intent, "breakdown": tuple(intent["breakdown"])})
        fields["plan"] = tuple(PlanStep(**item) for item in data["plan"])
        fields["verdicts"] = tuple(Verdict(**item) for item in data["verdicts"])
        told = data.get("reflections", ())
        fields["reflections"] = tuple(Reflection(**item) for item in told)
        made = cls(**fields)
        _check(made)
        return made

    def with_step(
        self, step: Step, judged: Verdict | None = None, reflections: Sequence[Reflection] = ()
    ) -> EpisodeRecord:
        return replace(
            self,
            verdicts=(*self.verdicts, judged or verdict(step)),
            reflections=(*self.reflections, *reflections),
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

    def notes(self) -> Iterator[str]:
        """What of it helps later: branches that were ruled out or failed and why, and what found
        nothing."""
        for one in self.plan:
            if one.status in ("ruled out", "failed"):
                because = f": {prompt_json(one.why)}" if one.why else ""
                yield f"{one.status}: {prompt_json(one.goal)}{because}"
        for told in self.reflections:
            if told.trigger == "empty result":
                yield told.words

    def texts(self) -> Iterator[str]:
        """By which it is found again."""
        yield from (self.question, self.intent.episode, self.intent.target)
        for one in self.plan:
            yield from (one.goal, one.why)


def verdict(step: Step, expected: PlanStep | None = None) -> Verdict:
    """By code: an error has failed; a count is held against what the plan's step in hand expects,
    and without an expectation a count of zero is empty; the rest is as expected."""
    seen = step.observation
    count = seen.data.get("count")
    told = f"a result of {step.call.name}"
    outcome: Outcome = "as expected"
    if seen.error:
        outcome = "failed"
    elif isinstance(count, int) and "photos" in seen.data and expected and expected.expect:
        told = f"{expected.expect}: {prompt_json(expected.goal)}"
        if not fits(expected.expect, count):
            below = count < EXPECTED[expected.expect][0]
            outcome = "fewer than expected" if below else "more than expected"
            outcome = outcome if count else "empty"
    elif count == 0:
        outcome = "empty"
    return Verdict(step.index, told, shortened(seen.error or seen.brief, 300), outcome)


def _check(record: EpisodeRecord) -> None:
    told: list[tuple[Any, Any]] = [(one.status, PlanStatus) for one in record.plan]
    told += [(one.outcome, Outcome) for one in record.verdicts]
    told += [(one.trigger, Trigger) for one in record.reflections]
    for word, words in told:
        if word not in get_args(words):
            raise ValueError(f"{word!r} is none of {', '.join(get_args(words))}")
    texts: list[Any] = [*record.texts(), *record.intent.breakdown]
    texts += [one.words for one in record.reflections] + [one.expect for one in record.plan]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("intent, plan or reflections hold what is no text")

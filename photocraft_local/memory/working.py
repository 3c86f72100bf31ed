"""Working state of one episode: constraints, sets, judged photos, the plan, next action.

Written by code from step records alone, so ids, counts and set names are never retold by a
model. Knows nothing of prompts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Literal

from photocraft_local.errors import UsageError
from photocraft_local.memory.text import shortened
from photocraft_local.records import Intent, Json, PlanStep, Step, ToolCall
from photocraft_local.tools.format import safe_text
from photocraft_local.tools.plan import PlanTool
from photocraft_local.tools.planning import Plan
from photocraft_local.tools.validate import normalised, problems

Status = Literal["open", "met", "violated", "given up"]
# The arguments that state a condition of the question, and what kind of condition it is.
_CONDITIONS = {
    "when": "time",
    "where": "filter",
    "text": "look",
    "any_text": "look",
    "not_text": "not-look",
}
_LONGEST = 100  # characters of a reason
_TOLD = 100  # characters by which a refused answer's condition is known again
_STATING_TOOLS = ("filter_photos", "search_photos")


@dataclass(frozen=True, slots=True)
class Change:
    """What one step changed. ``turned`` are photos that were confirmed before and are rejected now;
    ``broken`` are conditions for which an answer was refused, with the number of photos."""

    conditions: tuple[tuple[str, str], ...] = ()  # kind, words
    sets: tuple[str, ...] = ()
    confirmed: int = 0
    rejected: int = 0
    turned: tuple[str, ...] = ()
    broken: tuple[tuple[str, int], ...] = ()
    planned: bool = False

    @property
    def found(self) -> bool:
        """Whether the search went on by it."""
        return bool(self.conditions or self.sets or self.confirmed or self.rejected)


@dataclass(slots=True)
class Constraint:
    """One condition of the question. ``words`` are those that stated it."""

    kind: str
    words: str
    status: Status = "open"


@dataclass(slots=True)
class WorkingState:
    """``sub_goal`` and ``next_action`` are a backbone's to state, at a compaction."""

    constraints: list[Constraint] = field(default_factory=list)
    sub_goal: str = ""
    sets: dict[str, int] = field(default_factory=dict)  # name → number of photos
    confirmed: dict[str, str] = field(default_factory=dict)  # uid → reason
    rejected: dict[str, str] = field(default_factory=dict)
    next_action: str = ""
    plan: Plan = Plan()

    def observe(self, step: Step) -> Change:
        """Takes over what a step has changed, and says what it was. A failed step states nothing,
        but for an answer that was refused: it names the photos that break a condition."""
        stated, sets, plan = len(self.constraints), dict(self.sets), self.plan
        confirmed, rejected = set(self.confirmed), set(self.rejected)
        self._observe(step)
        return Change(
            conditions=tuple((one.kind, one.words) for one in self.constraints[stated:]),
            sets=tuple(name for name, count in self.sets.items() if sets.get(name) != count),
            confirmed=len(self.confirmed.keys() - confirmed),
            rejected=len(self.rejected.keys() - rejected),
            turned=tuple(uid for uid in self.rejected if uid in confirmed),
            broken=_broken(step),
            planned=self.plan != plan,
        )

    def _observe(self, step: Step) -> None:
        call, data = step.call, step.observation.data
        self._judge(call, data)
        if not step.observation.ok:
            return
        if call.name == PlanTool.name:
            self.plan = planned(self.plan, call)
        if call.name in _STATING_TOOLS:
            self._add_constraints(call)
        name, count = call.arguments.get("save_as"), data.get("count")
        if isinstance(name, str) and name and isinstance(count, int):
            self.sets[name] = count
        if call.name == "submit_answer":
            self._settle(data)

    def _add_constraints(self, call: ToolCall) -> None:
        known = {(item.kind, item.words) for item in self.constraints}
        for argument, kind in _CONDITIONS.items():
            for words in _texts(call.arguments.get(argument)):
                if (kind, words) not in known:
                    self.constraints.append(Constraint(kind, words))

    def _judge(self, call: ToolCall, data: dict[str, Json]) -> None:
        """What was found of single photos: by a refused answer, or by compare_photos."""
        if call.name == "submit_answer":
            for row in data.get("unmet", ()):
                self._reject(row["uid"], f"breaks: {row['constraint']}")
            for row in data.get("doubtful", ()):
                self._reject(row["uid"], f"in doubt: {row['conditions']}")
            for uid in _texts(data.get("unmet_photos")) + _texts(data.get("doubtful_photos")):
                self._reject(uid, "breaks a condition or is in doubt")
            self._violate(call, {row["constraint"][:_TOLD] for row in data.get("unmet", ())})
        if call.name != "compare_photos":
            return
        asked = shortened(call.arguments["question"], _LONGEST)
        for row in data.get("photos", ()):
            if not row["passes"]:
                self._reject(row["uid"], f"no to: {asked}")
            elif row["uid"] not in self.rejected:
                self.confirmed.setdefault(row["uid"], f"yes to: {asked}")

    def _reject(self, uid: str, why: str) -> None:
        self.confirmed.pop(uid, None)
        self.rejected.setdefault(uid, why)

    def _violate(self, call: ToolCall, broken: set[str]) -> None:
        """Conditions that an answer broke, as the calls stated them."""
        for claim in call.arguments.get("evidence", ()):
            if safe_text(claim["constraint"])[:_TOLD] not in broken:
                continue
            said = {
                (kind, words)
                for key, kind in _CONDITIONS.items()
                for words in _texts(claim.get(key))
            }
            for item in self.constraints:
                if (item.kind, item.words) in said:
                    item.status = "violated"

    def _settle(self, data: dict[str, Json]) -> None:
        for uid in _texts(data.get("photos")):
            self.confirmed[uid] = "in the answer"
            self.rejected.pop(uid, None)
        for item in self.constraints:
            item.status = "met" if self.confirmed else "given up"

    def plan_told(self, longest: int) -> dict[str, Json]:
        """The plan as S holds it, with all its steps; a text takes up to ``longest`` characters."""
        intent, rows = self.plan.intent, []
        for number, one in enumerate(self.plan.steps, start=1):
            texts = {key: getattr(one, key) for key in ("goal", "expect", "why")}
            row = {key: shortened(text, longest) for key, text in texts.items() if text}
            rows.append({"step": number, "status": one.status, **row})
        told = {"context": intent.episode, "target": intent.target}
        kept: dict[str, Json] = {key: shortened(v, longest) for key, v in told.items() if v}
        return {**kept, "steps": rows} if rows else kept

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> WorkingState:
        constraints = [Constraint(**item) for item in data["constraints"]]
        return cls(**{**data, "constraints": constraints, "plan": _plan(data["plan"])})


def planned(plan: Plan, call: ToolCall) -> Plan:
    """The plan after a call of the tool. One that another loop's tool of this name accepted, and
    that cannot be read, changes nothing."""
    if any(problems(call.arguments, PlanTool.parameters)):
        return plan
    try:
        return plan.revised(normalised(call.arguments, PlanTool.parameters))
    except UsageError:
        return plan


def _texts(value: Json) -> list[str]:
    items = value if isinstance(value, list | tuple) else [value]
    return [item for item in items if isinstance(item, str) and item]


def _broken(step: Step) -> tuple[tuple[str, int], ...]:
    if step.call.name != "submit_answer":
        return ()
    counts = Counter(str(row["constraint"]) for row in step.observation.data.get("unmet", ()))
    return tuple(counts.items())


def _plan(data: dict[str, Json]) -> Plan:
    intent = data["intent"]
    made = Intent(**{**intent, "breakdown": tuple(intent["breakdown"])})
    return Plan(made, tuple(PlanStep(**item) for item in data["steps"]))

"""Working state of one episode: constraints, sets, confirmed and rejected photos, next action.

Written by code from step records alone, so ids, counts and set names are never retold by a
model. Knows nothing of prompts.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Literal

from photocraft_local.memory.text import shortened
from photocraft_local.records import Json, Step, ToolCall

Status = Literal["open", "met", "violated", "given up"]
# The arguments that state a condition of the question, and what kind of condition it is.
_CONDITIONS = {
    "when": "time",
    "where": "filter",
    "text": "look",
    "any_text": "look",
    "not_text": "not-look",
}
_MOST, _LONGEST = 12, 100  # of a state line: entries of each kind, characters of a condition
_STATING_TOOLS = ("filter_photos", "search_photos")


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

    def observe(self, step: Step) -> None:
        """Takes over what a step has changed. A failed step states nothing, but for an answer
        that was refused: it names the photos that break a condition."""
        call, data = step.call, step.observation.data
        self._judge(call, data)
        if not step.observation.ok:
            return
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

    def _settle(self, data: dict[str, Json]) -> None:
        for uid in _texts(data.get("photos")):
            self.confirmed[uid] = "in the answer"
            self.rejected.pop(uid, None)
        for item in self.constraints:
            item.status = "met" if self.confirmed else "given up"

    def line(self) -> str:
        """The short state line at the end of a turn: open conditions, sub-goal, sets; the newest
        where there are many."""
        stated = [c for c in self.constraints if c.status == "open"]
        words = [f"{c.kind} {_quoted(shortened(c.words, _LONGEST))}" for c in stated]
        sets = [f"{_quoted(name)}={count}" for name, count in self.sets.items()]
        parts = [f"conditions so far: {'; '.join(_newest(words)) or 'none stated'}"]
        parts += [f"sub-goal: {_quoted(self.sub_goal)}"] if self.sub_goal else []
        parts += [f"sets: {', '.join(_newest(sets))}"] if sets else []
        return " | ".join(parts)

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> WorkingState:
        constraints = [Constraint(**item) for item in data["constraints"]]
        return cls(**{**data, "constraints": constraints})


def _texts(value: Json) -> list[str]:
    items = value if isinstance(value, list | tuple) else [value]
    return [item for item in items if isinstance(item, str) and item]


def _newest(told: list[str]) -> list[str]:
    older = len(told) - _MOST
    return [f"{older} earlier", *told[older:]] if older > 0 else told


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

"""The papers' plain f_mem, for comparison: the model itself writes all of S.

Its reply is held by a schema of bounded lists. What it lost or made up is found by fidelity.py;
when S is made is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from photocraft_local.memory.fidelity import joined
from photocraft_local.memory.text import shortened
from photocraft_local.memory.working import Status
from photocraft_local.records import Json
from photocraft_local.serving.chat_model import Reply, ToolSchema
from photocraft_local.tools import schema
from photocraft_local.tools.validate import normalised, problems

STATUSES: tuple[Status, ...] = get_args(Status)
PLAIN_REPLY = 1536  # tokens that the reply may take
_LINE, _SESSION, _WORDS, _GOAL = 120, 400, 120, 150  # characters
_LINES, _CONDITIONS, _UIDS, _SETS = 24, 16, 60, 16  # entries
_CONDITION = schema.arguments(
    "words",
    "status",
    words=schema.words("The condition, in the words that stated it.", longest=_WORDS),
    status=schema.choice("Where it stands.", STATUSES),
)
_SET = schema.arguments(
    "name",
    "count",
    name=schema.set_name("The set."),
    count=schema.whole("How many photos it has.", 0, 10_000_000),
)
_PARTS = {
    "digest": schema.many(
        schema.words("One step.", longest=_LINE),
        "A line for each step: what was done, what came of it, which ids and sets.",
        least=0,
        most=_LINES,
    ),
    "session": schema.words(
        "What was decided, what was ruled out and why, which way of searching works here.",
        longest=_SESSION,
    ),
    "constraints": schema.many(
        _CONDITION, "Every condition of the question.", least=0, most=_CONDITIONS
    ),
    "confirmed": schema.uids("Photos that satisfy the question.", least=0, most=_UIDS),
    "rejected": schema.uids("Photos that do not.", least=0, most=_UIDS),
    "sets": schema.many(_SET, "Every saved set.", least=0, most=_SETS),
    "sub_goal": schema.words("What is being looked for right now.", longest=_GOAL),
    "next_action": schema.words("The next step.", longest=_GOAL),
}
# Not a tool that runs: its schema holds the reply to the request for a summary.
WRITE_MEMORY: ToolSchema = {
    "name": "write_memory",
    "description": "Write down all that must not be forgotten.",
    "parameters": schema.arguments(*_PARTS, **_PARTS),
}


@dataclass(frozen=True, slots=True)
class Plain:
    """S in the model's own words; untrusted text throughout."""

    digest: tuple[str, ...] = ()
    session: str = ""
    constraints: tuple[tuple[str, str], ...] = ()  # words, status
    confirmed: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    sets: tuple[tuple[str, int], ...] = ()  # name, count
    sub_goal: str = ""
    next_action: str = ""

    @classmethod
    def of(cls, reply: Reply) -> Plain | None:
        """None for a reply that is cut, no summary, or not held by the schema."""
        call, parameters = reply.call, WRITE_MEMORY["parameters"]
        if call is None or call.name != WRITE_MEMORY["name"]:
            return None
        if any(problems(call.arguments, parameters)):
            return None
        said = normalised(call.arguments, parameters)
        rows = {
            "constraints": [[_line(one["words"]), one["status"]] for one in said["constraints"]],
            "sets": [[one["name"], one["count"]] for one in said["sets"]],
        }
        return cls.from_json({**said, **rows})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plain:
        """Raises KeyError, TypeError or ValueError for anything that no reply gave."""
        made = cls(
            digest=tuple(map(_line, data["digest"])),
            session=_line(data["session"]),
            constraints=tuple((str(words), str(status)) for words, status in data["constraints"]),
            confirmed=tuple(map(str, data["confirmed"])),
            rejected=tuple(map(str, data["rejected"])),
            sets=tuple((str(name), int(count)) for name, count in data["sets"]),
            sub_goal=_line(data["sub_goal"]),
            next_action=_line(data["next_action"]),
        )
        if len(data) != len(_PARTS) or not {status for _, status in made.constraints} <= {
            *STATUSES
        }:
            raise ValueError("no summary of a model")
        return made

    def arguments(self) -> dict[str, Json]:
        """The reply again, as the schema has it."""
        return {
            **{name: getattr(self, name) for name in ("session", "sub_goal", "next_action")},
            **{name: list(getattr(self, name)) for name in ("digest", "confirmed", "rejected")},
            "constraints": [
                {"words": words, "status": status} for words, status in self.constraints
            ],
            "sets": [{"name": name, "count": count} for name, count in self.sets],
        }

    def parts(self, lines: int, words: int) -> dict[str, Json]:
        """S, with the newest ``lines`` of the digest and texts of ``words`` characters at most."""
        stated: dict[str, list[str]] = {}
        for text, status in self.constraints:
            stated.setdefault(status, []).append(shortened(text, words))
        return {
            "digest": list(self.digest[-lines:]),
            "session": {"decisions": shortened(self.session, words)},
            "working": {
                "constraints": {status: {"": texts} for status, texts in stated.items()},
                "confirmed": {"": joined(self.confirmed)} if self.confirmed else {},
                "rejected": {"": joined(self.rejected)} if self.rejected else {},
                "sets": dict(self.sets),
                "sub_goal": self.sub_goal,
                "next_action": self.next_action,
            },
        }


def _line(text: str) -> str:
    return " ".join(text.split())

"""What passes between a plan that is carried out and the tools: moves out, results in.

Knows neither plans nor tools.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field

from photocraft_local.records import Json, ToolCall

Moves = Generator["Move", "Result", None]
Finding = Generator["Move", "Result", "Found"]


@dataclass(frozen=True, slots=True)
class Move:
    """One turn of the planner: what it does and why, in words for the trace."""

    thought: str
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool message said."""

    data: Mapping[str, Json]
    error: str = ""

    @property
    def count(self) -> int:
        return int(self.data.get("count", 0))

    @property
    def uids(self) -> list[str]:
        """Those that were listed; a long result is cut."""
        return [row["uid"] for row in self.data.get("photos", ())]


@dataclass(frozen=True, slots=True)
class Found:
    """A set that a tool keeps: its name, its size, and its ids as far as they were listed.
    Without a name it is the whole library."""

    name: str = ""
    count: int = 0
    uids: list[str] = field(default_factory=list)

    @property
    def is_listed(self) -> bool:
        return len(self.uids) == self.count

    @property
    def within(self) -> dict[str, Json]:
        """The argument that looks inside it."""
        return {"within": self.name} if self.name else {}


class GiveUp(Exception):
    """The answer is no photo; the message tells the person why."""


class NothingFound(GiveUp):
    """A set is empty, though all that describes it could be used."""


class UnknownAnchor(GiveUp):
    """Nothing is known of the photos that a set leans on, so what the set holds is not known."""


def taken(result: Result, name: str) -> Found:
    """The set that a call has saved. Raises GiveUp if it failed."""
    if result.error:
        raise GiveUp(result.error)
    return Found(name, result.count, result.uids)

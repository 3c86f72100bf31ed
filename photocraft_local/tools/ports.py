"""The seams of the tools: what a tool is, what it may ask of memory, and of a model that sees.

Both are built elsewhere; app.py passes in objects that have these methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from photocraft_local.records import Json, Observation
from photocraft_local.serving.judging import ANY, Left

if TYPE_CHECKING:
    from photocraft_local.serving.judging import Condition, Subject, Verdicts
    from photocraft_local.tools.context import ToolContext

Arguments = Mapping[str, Json]  # validated against the tool's schema


@runtime_checkable
class MemoryPort(Protocol):
    """What tools need of memory."""

    def recall(self, text: str) -> list[str]:
        """Notes, past episodes and skills that bear on ``text``, best first; may be empty."""
        ...

    def request_compaction(self, reason: str) -> None:
        """Ask for the context to be compacted before the next turn."""
        ...


class Judging(Protocol):
    """A model that looks at photos one by one, and then at the set."""

    @property
    def most_anchors(self) -> int:
        """Reference pictures that it takes beside a photo."""
        ...

    def judge(
        self,
        question: str,
        conditions: Sequence[Condition],
        anchors: Sequence[Subject],
        photos: Sequence[Subject],
        *,
        threshold: float = 0.5,
        left: Left = ANY,
    ) -> Verdicts:
        """As far as what is ``left`` of the question's budget pays for; the others have failed.
        Raises ServerLost, and ModelError where nothing can be judged."""
        ...


@runtime_checkable
class Tool(Protocol):
    """One thing a model can ask for. Name, description and schema are public API."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON schema of the arguments, in the subset of ``tools/validate.py``."""
        ...

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        """Do it. A PhotocraftError becomes the observation's error; others are bugs."""
        ...


@runtime_checkable
class PutsBack(Protocol):
    """A tool that knows a shorter way to what a call left behind than to make it again."""

    def put_back(self, arguments: Arguments, seen: Observation, context: ToolContext) -> bool:
        """``seen`` is the call's result as a trace keeps it. False: the call must be made again."""
        ...


class NoMemory:
    """Memory switched off: nothing is remembered, and requests for compaction are counted."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def recall(self, text: str) -> list[str]:
        return []

    def request_compaction(self, reason: str) -> None:
        self.requests.append(reason)

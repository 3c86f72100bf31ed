"""The seams of the tools: what a tool is, and the two things it may ask of memory.

Memory is a layer above; app.py passes in an object that has these methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from photocraft_local.records import Json, Observation

if TYPE_CHECKING:
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


class NoMemory:
    """Memory switched off: nothing is remembered, and requests for compaction are counted."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def recall(self, text: str) -> list[str]:
        return []

    def request_compaction(self, reason: str) -> None:
        self.requests.append(reason)

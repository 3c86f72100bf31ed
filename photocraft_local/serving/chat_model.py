"""The seam for backbones: messages in OpenAI style go in, one reply comes out.

A message is a plain dict: ``{"role": "system"|"user"|"assistant"|"tool", "content": …}``;
an assistant message may carry ``tool_calls``, a tool message a ``tool_call_id``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from photocraft_local.records import Intent, ToolCall, Usage

Message = dict[str, Any]
ToolSchema = dict[str, Any]  # {"name", "description", "parameters": JSON schema}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the backbone said: a thought, and at most one tool call."""

    text: str = ""
    call: ToolCall | None = None
    usage: Usage = Usage()


@runtime_checkable
class ChatModel(Protocol):
    """A backbone. ``name`` is stored in every trajectory."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        """The next turn. Raises ModelError if the backbone fails."""
        ...


@dataclass(frozen=True, slots=True)
class Load:
    """What a prompt would hold, before it is sent, in tokens of the backbone.

    ``prompt`` is the prompt with its pictures, ``window`` takes prompt and reply, ``reply`` is
    what a reply may need. ``most_pictures`` 0: no limit of its own. Not ``exact``: estimated,
    rather too high than too low.
    """

    prompt: int
    window: int
    reply: int
    pictures: int = 0
    most_pictures: int = 0
    exact: bool = True


@runtime_checkable
class Measuring(Protocol):
    """A backbone that can say how full its window would be."""

    def load(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Load | None:
        """Sends nothing. None where no window is known."""
        ...


@runtime_checkable
class Stating(Protocol):
    """A backbone of rules, which knows what it wants without a turn."""

    def intent(self, messages: Sequence[Message]) -> Intent | None:
        """Of the question in the first messages. None where it cannot be understood; that is said
        in the first turn."""
        ...


@runtime_checkable
class Limited(Protocol):
    """A backbone that can be told what its replies may take."""

    def limit(self, *, tokens: int, seconds: float) -> None:
        """Of each reply from now on; 0 is no limit. A reply that has written so many tokens is
        cut; one that takes longer is given up with ReplyLate."""
        ...

"""The prompt, laid out by how often a block changes, so that a prefix cache keeps it.

    [system] [library card] [question] [hints] | [S, after a compaction] | [turns, append-only]

Messages are plain OpenAI-style dicts. A message that was sent once is never changed, but by a
compaction, which replaces all turns by S at once.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from urllib.parse import quote_from_bytes

from photocraft_local.memory.text import prompt_json
from photocraft_local.records import Json, Step, ToolCall
from photocraft_local.serving.chat_model import Message

Content = str | Sequence[dict[str, Json]]  # a text, or parts as ``picture_parts`` makes them
_PICTURE_TYPES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}


class Context:
    """Stable blocks first, then S, then turns. Knows messages only, not what they mean."""

    def __init__(self, system: str, blocks: Sequence[Content]) -> None:
        """``blocks`` in the order of change: library card, question, hints; empty ones go."""
        self._stable: list[Message] = [{"role": "system", "content": system}]
        self._stable += [{"role": "user", "content": _content(one)} for one in blocks if one]
        self._summary: list[Message] = []
        self._turns: list[Message] = []

    def add_turn(self, step: Step, state_line: str) -> None:
        """Appends a step: the model's call, what came back, the state line, its pictures."""
        call_id = step.call.call_id or f"call_{step.index}"
        self._turns.append(call_message(step.call, step.thought, call_id))
        seen = step.observation
        result: dict[str, Json] = {"result": seen.data}
        if seen.error:
            result["error"] = seen.error
        content = prompt_json({**result, "state": state_line})
        self._turns.append({"role": "tool", "tool_call_id": call_id, "content": content})
        if seen.images:
            parts = [part for uid, source in seen.images for part in picture_parts(uid, source)]
            self._turns.append({"role": "user", "content": parts})

    def compact(self, summary: str) -> None:
        """Replaces every turn, pictures too, by ``summary``."""
        self._summary = [{"role": "user", "content": summary}]
        self._turns = []

    def messages(self) -> list[Message]:
        return [*self._stable, *self._summary, *self._turns]


def _content(block: Content) -> Json:
    return block if isinstance(block, str) else list(block)


def call_message(call: ToolCall, thought: str, call_id: str) -> Message:
    """An assistant message with one tool call."""
    function = {"name": call.name, "arguments": prompt_json(call.arguments)}
    return {
        "role": "assistant",
        "content": thought,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def picture_parts(uid: str, source: bytes) -> list[dict[str, Json]]:
    """A label and the picture: ``source`` is encoded picture bytes, or an absolute path."""
    kind = next((kind for mark, kind in _PICTURE_TYPES.items() if source.startswith(mark)), "")
    if kind:
        url = f"data:{kind};base64,{base64.b64encode(source).decode('ascii')}"
    else:
        url = f"file://{quote_from_bytes(source)}"
    picture: dict[str, Json] = {"type": "image_url", "image_url": {"url": url}, "uuid": uid}
    return [{"type": "text", "text": f"{uid}:"}, picture]

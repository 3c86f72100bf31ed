"""The prompt, laid out by how often a block changes, so that a prefix cache keeps it.

    [system] [library card] [question] [hints] | [S, after a compaction] | [turns, append-only]

Messages are plain OpenAI-style dicts. A message that was sent once is never changed; a compaction
replaces turns by S, the first ones at once.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from urllib.parse import quote_from_bytes

from photocraft_local.memory.shortening import Cut, shown_data, shown_pictures
from photocraft_local.memory.text import prompt_json
from photocraft_local.records import Json, Step, ToolCall
from photocraft_local.serving.chat_model import Message

Content = str | Sequence[dict[str, Json]]  # a text, or parts as ``picture_parts`` makes them
_PICTURE_TYPES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}


class Context:
    """Stable blocks first, then S, then turns. Knows messages only, not what they mean."""

    def __init__(self, system: str, blocks: Sequence[Content], *, bare: bool = False) -> None:
        """``blocks`` in the order of change: library card, question, hints; empty ones go.
        ``bare``: without working memory: no S and no state lines, what is compacted is gone."""
        self._stable: list[Message] = [{"role": "system", "content": system}]
        self._stable += [{"role": "user", "content": _content(one)} for one in blocks if one]
        self._is_bare = bare
        self._summary: list[Message] = []
        self._turns: list[list[Message]] = []

    @classmethod
    def of(cls, opening: Sequence[Message]) -> Context:
        """One whose stable blocks are messages already."""
        made = cls("", ())
        made._stable = list(opening)
        return made

    @property
    def is_bare(self) -> bool:
        return self._is_bare

    @property
    def num_turns(self) -> int:
        """Those since the last compaction."""
        return len(self._turns)

    def add_turn(self, step: Step, state_line: str, cut: Cut | None = None) -> None:
        """Appends a step: the model's call, what came back, the state line, its pictures.

        ``cut`` leaves out what the prompt has no room for.
        """
        call_id = step.call.call_id or f"call_{step.index}"
        seen = step.observation
        result: dict[str, Json] = {"result": shown_data(seen, cut)}
        if seen.error:
            result["error"] = seen.error
        if not self._is_bare:
            result["state"] = state_line
        content = prompt_json(result)
        turn = [call_message(step.call, step.thought, call_id)]
        turn.append({"role": "tool", "tool_call_id": call_id, "content": content})
        most, lines = shown_pictures(seen, cut)
        parts = _pictures(seen.images[:most])
        parts += [{"type": "text", "text": line} for line in lines]
        if parts:
            turn.append({"role": "user", "content": parts})
        self._turns.append(turn)

    def append(self, message: Message) -> None:
        """What else was said, as a part of the newest turn; before the first, it stays."""
        (self._turns[-1] if self._turns else self._stable).append(message)

    def drop_last_turn(self) -> None:
        """Takes back a turn that was not sent yet, so that it can be added shortened."""
        self._turns.pop()

    def compact(self, summary: str, *, keep: int = 0) -> None:
        """Replaces every turn but the last ``keep``, pictures too, by ``summary``."""
        self._summary = [] if self._is_bare else [{"role": "user", "content": summary}]
        self._turns = self._turns[len(self._turns) - keep :]

    def stable(self) -> list[Message]:
        """What no compaction changes."""
        return list(self._stable)

    def messages(self, *, without: int = 0) -> list[Message]:
        """All of them, or what stood before the last ``without`` turns."""
        turns = self._turns[: len(self._turns) - without]
        return [*self._stable, *self._summary, *(one for turn in turns for one in turn)]


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


def _pictures(images: Sequence[tuple[str, bytes]]) -> list[dict[str, Json]]:
    """Several are numbered, so that one of them can be spoken of."""
    if len(images) < 2:
        return [part for uid, source in images for part in picture_parts(uid, source)]
    numbered = [(f"{number}. {uid}", source) for number, (uid, source) in enumerate(images, 1)]
    return [part for label, source in numbered for part in picture_parts(label, source)]


def picture_parts(uid: str, source: bytes) -> list[dict[str, Json]]:
    """A label and the picture: ``source`` is encoded picture bytes, or an absolute path."""
    kind = next((kind for mark, kind in _PICTURE_TYPES.items() if source.startswith(mark)), "")
    if kind:
        url = f"data:{kind};base64,{base64.b64encode(source).decode('ascii')}"
    else:
        url = f"file://{quote_from_bytes(source)}"
    picture: dict[str, Json] = {"type": "image_url", "image_url": {"url": url}, "uuid": uid}
    return [{"type": "text", "text": f"{uid}:"}, picture]

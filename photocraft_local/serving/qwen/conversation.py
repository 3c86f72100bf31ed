"""The agent's messages in the form that the Qwen-VL chat templates render alike.

Tools go into the system text, calls and results into plain contents, since the published template
of Qwen2.5-VL has no place for them beside pictures. The same messages give the same bytes, and
more messages only add to them: a prefix cache holds what was sent before. Knows no photo.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from photocraft_local.errors import PhotoError
from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import Message, ToolSchema
from photocraft_local.serving.pictures import PictureStore, Prepared
from photocraft_local.serving.tool_calls import Form, harmless, tools_text, write_call

CLOSED_THINKING = "<think>\n\n</think>\n\n"  # our beginning of a thinking model's reply
_UNREADABLE = "[this picture cannot be read]"
_GONE = "[this picture was shown earlier; view it again if it is needed]"


@dataclass(slots=True)
class Conversation:
    """``messages`` with every picture's bytes inside; ``pictures`` by their media uuid."""

    messages: list[Message] = field(default_factory=list)
    pictures: dict[str, Prepared] = field(default_factory=dict)

    def naming(self, known: set[str]) -> list[Message]:
        """The messages with those pictures by their name only."""
        return [_named(message, known) for message in self.messages]


def conversation(
    messages: Sequence[Message],
    tools: Sequence[ToolSchema],
    form: Form,
    store: PictureStore,
    *,
    most: int = 0,
) -> Conversation:
    """``messages`` as memory/context.py lays them out, ready for the server.

    ``most`` pictures may stand in them (0: any number); see ``num_gone``. Those of the question,
    before the first turn, stay as long as there is room for one more.
    """
    made = Conversation()
    first = next((at for at, one in enumerate(messages) if one["role"] == "assistant"), None)
    own = sum(map(num_pictures, messages[:first]))
    turns = sum(map(num_pictures, messages)) - own
    kept = min(own, most - bool(turns)) if most else own
    gone = own - kept + num_gone(turns, most - kept if most else 0)
    sources = _Sources(store, kept, gone)
    told = tools_text(tools, form) if tools else ""
    for message in messages:
        role, content = message["role"], message.get("content") or ""
        if role == "system" and told:
            content, told = f"{content}\n\n{told}" if content else told, ""
        elif role == "assistant":
            content = _said(message, form)
        elif role == "tool":
            role, content = "user", f"<tool_response>\n{harmless(content)}\n</tool_response>"
        elif isinstance(content, str) and role != "system":
            content = harmless(content)
        if not isinstance(content, str):
            content = list(_parts(content, sources, made.pictures))
        made.messages.append({"role": role, "content": content})
    if told:
        made.messages.insert(0, {"role": "system", "content": told})
    return made


def num_gone(num_pictures: int, most: int) -> int:
    """How many of the oldest pictures are left out. Half of ``most`` at a time: each removal
    makes all that follows it new to a prefix cache."""
    if not most or num_pictures <= most:
        return 0
    step = max(1, most // 2)
    return -(-(num_pictures - most) // step) * step


@dataclass(slots=True)
class _Sources:
    """The store, how many of the next pictures stay, and how many after them are left out."""

    store: PictureStore
    num_own: int
    num_gone: int


def num_pictures(message: Message) -> int:
    """Those that stand in one message."""
    content = message.get("content")
    if not isinstance(content, list):
        return 0
    return sum(part["type"] == "image_url" for part in content)


def _said(message: Message, form: Form) -> str:
    """The assistant's turn as it was written; with a call, in the form of a call."""
    thought = message.get("content") or ""
    calls = message.get("tool_calls")
    if not calls:
        return CLOSED_THINKING if thought == CLOSED_THINKING else harmless(str(thought))
    function = calls[0]["function"]
    call = ToolCall(function["name"], json.loads(function["arguments"]))
    return write_call(thought, call, form)


def _parts(
    parts: Sequence[dict[str, Any]], sources: _Sources, pictures: dict[str, Prepared]
) -> Iterator[dict[str, Any]]:
    for part in parts:
        if part["type"] != "image_url":
            yield {"type": "text", "text": harmless(part["text"])}
            continue
        if sources.num_own:
            sources.num_own -= 1
        elif sources.num_gone:
            sources.num_gone -= 1
            yield {"type": "text", "text": _GONE}
            continue
        try:
            picture = sources.store.prepared(part["image_url"]["url"])
        except PhotoError:  # its file went away since the tool showed it; the turn stays
            yield {"type": "text", "text": _UNREADABLE}
            continue
        pictures[picture.uuid] = picture
        yield {"type": "image_url", "image_url": {"url": picture.url}, "uuid": picture.uuid}


def _named(message: Message, known: set[str]) -> Message:
    content = message["content"]
    if isinstance(content, str):
        return message
    parts = [{**part, "image_url": None} if part.get("uuid") in known else part for part in content]
    return {**message, "content": parts}

"""Segments as rows for fine-tuning: ChatML messages, ShareGPT conversations, bare traces.

Messages are rendered as the served model reads them. What a model did not write is marked, so
that it can be masked: tool responses above all. Knows no file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, cast, get_args
from urllib.parse import unquote_to_bytes

from photocraft_local.agent.export.prompts import Segment, segments
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.records import Json
from photocraft_local.serving.chat_model import Message, ToolSchema
from photocraft_local.serving.pictures import PictureStore, Prepared
from photocraft_local.serving.qwen.conversation import conversation
from photocraft_local.serving.tool_calls import Form
from photocraft_local.tools.standard import standard_tools

SCHEMA = "photocraft-export"
VERSION = 1
Format = Literal["chatml", "sharegpt", "jsonl"]
FORMATS: tuple[str, ...] = get_args(Format)
Picture = Callable[[str], str]  # the id of a picture → how an export names it
_FROM = {"system": "system", "prompt": "human", "tool_response": "observation", "reply": "gpt"}


def rows(record: Trajectory, form: Format, picture: Picture) -> Iterator[dict[str, Json]]:
    """One row a segment; of ``jsonl`` the trace itself."""
    if form == "jsonl":
        yield record.to_json()
        return
    make = _chatml if form == "chatml" else _sharegpt
    tools = tool_schemas(episodic=bool(record.config.get("episodic", False)))
    for number, segment in enumerate(segments(record), start=1):
        head = {"schema": SCHEMA, "version": VERSION, "format": form}
        yield {**head, "id": f"{record.episode_id}#{number}", **make(segment, tools, picture)}


def tool_schemas(*, episodic: bool = True) -> list[ToolSchema]:
    """As the registry gives them to a model."""
    told = [
        {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
        for tool in sorted(standard_tools(episodic=episodic), key=lambda tool: tool.name)
    ]
    return cast("list[ToolSchema]", json.loads(json.dumps(told, sort_keys=True)))


class _Names:
    """Stands where a model's server would prepare a picture: keeps its id."""

    def prepared(self, url: str) -> Prepared:
        name = unquote_to_bytes(url.removeprefix("file://")).decode("utf-8")
        return Prepared(name, b"", "image/png", width=0, height=0, tokens=0)


def _messages(segment: Segment, tools: Sequence[ToolSchema]) -> list[tuple[int, str, Message]]:
    """Place, kind and message: ``system``, ``prompt``, ``reply``, ``tool_response``."""
    store = cast("PictureStore", _Names())
    told = conversation(segment.messages, tools, Form.JSON, store).messages
    kinds: list[str] = []
    for message in segment.messages:
        role = message["role"]
        # Below a result stand its pictures; a text there is a word to the model.
        shows = role == "user" and not isinstance(message["content"], str)
        after = role == "tool" or (shows and kinds[-1:] == ["tool_response"])
        kinds.append({"system": "system", "assistant": "reply"}.get(role, "prompt"))
        if after:
            kinds[-1] = "tool_response"
    return list(zip(range(len(told)), kinds, told, strict=True))


def _chatml(segment: Segment, tools: Sequence[ToolSchema], picture: Picture) -> dict[str, Json]:
    return {
        "messages": [
            {
                "role": message["role"],
                "content": _named(message["content"], picture),
                "kind": kind,
                "train": at in segment.new,
            }
            for at, kind, message in _messages(segment, tools)
        ]
    }


def _sharegpt(segment: Segment, tools: Sequence[ToolSchema], picture: Picture) -> dict[str, Json]:
    """Sides in turn, as its readers want them; ``<image>`` stands for the next of ``images``."""
    system, images = "", list[str]()
    sides: list[dict[str, Json]] = []
    for at, kind, message in _messages(segment, tools):
        text = _flat(message["content"], picture, images)
        if kind == "system":
            system = text
        elif sides and kind != "reply" and sides[-1]["from"] != "gpt":
            sides[-1]["value"] += f"\n\n{text}"
        else:
            sides.append({"from": _FROM[kind], "value": text, "train": at in segment.new})
    return {"system": system, "conversations": sides, "images": images}


def _named(content: Json, picture: Picture) -> Json:
    if isinstance(content, str):
        return content
    return [
        part if part["type"] == "text" else {"type": "image", "image": picture(part["uuid"])}
        for part in content
    ]


def _flat(content: Json, picture: Picture, images: list[str]) -> str:
    parts: Sequence[Json] = [content] if isinstance(content, str) else _named(content, picture)
    lines = []
    for part in parts:
        if isinstance(part, dict) and part["type"] == "image":
            images.append(part["image"])
            lines.append("<image>")
        else:
            # A text that says so must not pass for a picture.
            text = part if isinstance(part, str) else part["text"]
            lines.append(text.replace("<image>", "< image>"))
    return "\n".join(lines)

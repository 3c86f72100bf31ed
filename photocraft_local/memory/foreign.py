"""Messages and tools of somebody else's loop, read as steps of this package.

A foreign tool is said to be like one of ours; its arguments and results are then read by our names.
Nothing that such a tool returns can raise here: what does not fit is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from photocraft_local.errors import UsageError
from photocraft_local.memory.text import shortened
from photocraft_local.records import Json, Observation, Step, ToolCall
from photocraft_local.serving.chat_model import Message

_BYTES = 3  # of a token, at the least, in text and JSON
_MESSAGE, _PICTURE = 8, 1500  # tokens
_HINT = "give messages as the OpenAI chat API has them"


@dataclass(frozen=True, slots=True)
class Like:
    """A foreign tool does what ``tool`` of this package does. ``names``: its own words for
    arguments and for keys of its results, anywhere in them → ours.

    Read are, of ``search_photos`` and ``filter_photos``, the conditions (``text``, ``any_text``,
    ``not_text``, ``when``, ``where``), ``save_as`` and the result's ``count``; of
    ``compare_photos`` the ``question`` and rows of ``photos`` with ``uid`` and ``passes``; of
    ``submit_answer`` its ``photos``, and rows of ``unmet`` with ``uid`` and ``constraint``. Of
    each, ``photos`` as ids.
    """

    tool: str
    names: Mapping[str, str] = field(default_factory=dict)


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Rather too high than too low, for whom has no tokenizer at hand."""
    return sum(map(_estimated, messages))


def _estimated(message: Message) -> int:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    texts = [part for part in parts if part.get("type") == "text"]
    told = {**message, "content": texts} if parts else message
    size = len(json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return size // _BYTES + _MESSAGE + (len(parts) - len(texts)) * _PICTURE


def text_of(message: Message) -> str:
    """The words of a message, without its pictures."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    parts = [part.get("text", "") for part in content if isinstance(part, dict)]
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def calls_of(message: Message) -> list[ToolCall]:
    """The tool calls of an assistant's message. Raises UsageError for what is none."""
    try:
        return [_call(call) for call in message.get("tool_calls") or ()]
    except (KeyError, TypeError, AttributeError) as exc:
        raise UsageError(f"a tool call without its parts: {exc!r}", hint=_HINT) from exc


def _call(call: Mapping[str, Any]) -> ToolCall:
    said = call["function"]["arguments"]
    return ToolCall(str(call["function"]["name"]), _object(said, "said"), str(call["id"]))


def observation_of(call: ToolCall, message: Message) -> Observation:
    """What a tool's message says; a key ``error`` in it says that the tool failed."""
    data = _object(text_of(message), "text")
    error = data.get("error")
    told = shortened(error, 500) if isinstance(error, str) else ""
    return Observation(call.name, data, error=told, brief=_brief(data))


def _object(said: Json, name: str) -> dict[str, Json]:
    """The JSON object in a text, or the text under ``name``."""
    try:
        value = json.loads(said) if isinstance(said, str) else said
    except (ValueError, RecursionError):
        value = said
    if isinstance(value, dict):
        return value
    return {} if value in (None, "") else {name: value}


def _brief(data: Mapping[str, Json]) -> str:
    for key in ("brief", "summary", "text", "message"):
        if _is_text(data.get(key)):
            return shortened(" ".join(data[key].split()))
    counts = [f"{key} {value}" for key, value in data.items() if _is_number(value)]
    lists = [f"{len(value)} {key}" for key, value in data.items() if isinstance(value, list)]
    return shortened(", ".join([*lists, *counts]))


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def meant(step: Step, likes: Mapping[str, Like]) -> Step:
    """The step in the terms of this package, as far as its tool is like one of ours."""
    like = likes.get(step.call.name)
    if like is None:  # a name of ours would promise a result of ours
        return replace(step, call=replace(step.call, name=f"foreign {step.call.name}"))
    arguments, data = _renamed(step.call.arguments, like), _renamed(step.observation.data, like)
    arguments, data = _FITTED.get(like.tool, _as_it_is)(arguments, data)
    call = replace(step.call, name=like.tool, arguments=arguments)
    return replace(
        step, call=call, observation=replace(step.observation, tool=like.tool, data=data)
    )


def _renamed(value: Json, like: Like) -> Any:
    if isinstance(value, dict):
        return {like.names.get(key, key): _renamed(item, like) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, like) for item in value]
    return value


_Parts = tuple[dict[str, Json], dict[str, Json]]


def _as_it_is(arguments: dict[str, Json], data: dict[str, Json]) -> _Parts:
    return arguments, data


def _compared(arguments: dict[str, Json], data: dict[str, Json]) -> _Parts:
    asked = arguments.get("question")
    rows = _rows(data, "photos", uid=str, passes=bool)
    return {"question": asked if _is_text(asked) else "it was judged"}, {"photos": rows}


def _submitted(arguments: dict[str, Json], data: dict[str, Json]) -> _Parts:
    given = data.get("photos", arguments.get("photos"))
    uids = [uid for uid in given if isinstance(uid, str)] if isinstance(given, list) else []
    return {}, {"photos": uids, "unmet": _rows(data, "unmet", uid=str, constraint=str)}


def _rows(data: Mapping[str, Json], key: str, **kinds: type) -> list[Json]:
    """Those of the rows that have what is read of them."""
    rows = data.get(key)
    return [
        row
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and all(isinstance(row.get(k), kind) for k, kind in kinds.items())
    ]


_FITTED = {"compare_photos": _compared, "submit_answer": _submitted}

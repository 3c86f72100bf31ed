"""Reads the tool call out of what an unconstrained model wrote: Hermes and Qwen forms.

Tolerant of form, never of content: fences, tags that were not closed, Python's literals and
``parameters`` for ``arguments`` are read; a call whose arguments were cut off is none. What the
arguments may be is the registry's business.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import ToolSchema
from photocraft_local.serving.tool_calls import is_deep

MAX_THOUGHT = 2000  # characters of a thought that stays in the prompt

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_FENCE = re.compile(r"```[a-zA-Z_]*\n?(.*?)```", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_EXTRA_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(\s*[}\]])')  # strings stay as they are
_LONGEST = 200_000  # characters; more is no call


def split_thinking(content: str, reasoning: str = "") -> tuple[str, str]:
    """(reasoning, the rest). Templates of thinking variants open ``<think>`` themselves, so the
    text may hold only its end; one that is never closed is all reasoning."""
    head, mark, tail = content.partition("</think>")
    if mark:
        inside = head.replace("<think>", "", 1).strip()
        return "\n".join(filter(None, (reasoning.strip(), inside))), tail.strip()
    before, mark, inside = content.partition("<think>")
    if mark:
        return "\n".join(filter(None, (reasoning.strip(), inside.strip()))), before.strip()
    return reasoning.strip(), content.strip()


def parse_native(
    content: str,
    tools: Sequence[ToolSchema],
    *,
    reasoning: str = "",
    calls: Sequence[Mapping[str, Any]] = (),
) -> tuple[str, ToolCall | None]:
    """The thought and the first call, or None where there is none that can be read.

    ``calls``: the ``tool_calls`` of an OpenAI-style message, where the server found them itself.
    """
    reasoning, rest = split_thinking(content, reasoning)
    thought = rest
    call = next((made for made in map(_served_call, calls) if made), None)
    if call is None and len(rest) <= _LONGEST:
        thought, call = _written_call(rest, {tool["name"]: tool for tool in tools})
    return (thought or reasoning)[-MAX_THOUGHT:].strip(), call


def _served_call(entry: Mapping[str, Any]) -> ToolCall | None:
    made = _call_of(entry.get("function"), None)
    return ToolCall(made.name, made.arguments, str(entry.get("id") or "")) if made else None


def _written_call(text: str, tools: Mapping[str, ToolSchema]) -> tuple[str, ToolCall | None]:
    """What stands before the call, and the call."""
    if _OPEN in text:
        start = text.index(_OPEN)
        for body in text[start + len(_OPEN) :].split(_OPEN):
            call = _in_tags(body.split(_CLOSE)[0], tools)
            if call:
                return text[:start].strip(), call
        return text[:start].strip(), None
    if function := _FUNCTION.search(text):
        return text[: function.start()].strip(), _in_tags(function[0], tools)
    for fence in _FENCE.finditer(text):
        for value in _objects(fence[1]):
            if call := _known_call(value, tools):
                return text[: fence.start()].strip() or _own_thought(value), call
    start = text.find("{")
    for value in _objects(text):
        if call := _known_call(value, tools):
            return text[:start].strip() or _own_thought(value), call
    return text, None


def _in_tags(body: str, tools: Mapping[str, ToolSchema]) -> ToolCall | None:
    if function := _FUNCTION.search(body):
        return _in_xml(function[1], function[2], tools)
    return next((call for value in _objects(body) if (call := _call_of(value, tools))), None)


def _in_xml(name: str, body: str, tools: Mapping[str, ToolSchema]) -> ToolCall | None:
    """Qwen3-Coder's form, whose values are bare text: the tool's schema says which are strings."""
    parts = tools[name]["parameters"]["properties"] if name in tools else {}
    arguments: dict[str, Any] = {}
    for found in _PARAMETER.finditer(body):
        key, text = found[1], found[2]
        is_text = parts.get(key, {}).get("type") == "string"
        value = None if is_text else _value(text)
        arguments[key] = text if value is None else value
    return _call(name, arguments)


def _known_call(value: Any, tools: Mapping[str, ToolSchema]) -> ToolCall | None:
    """A call without tags around it: only of a tool that is there, else it may be any JSON."""
    call = _call_of(value, tools)
    return call if call and call.name in tools else None


def _call_of(value: Any, tools: Mapping[str, ToolSchema] | None) -> ToolCall | None:
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("call"), dict):
        value = value["call"]
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name_key = next((key for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if name_key is None:
        return _keyed_by_name(value, tools or {})
    rest = {key: item for key, item in value.items() if key not in (name_key, "id", "type")}
    key = next((key for key in _ARGUMENT_KEYS if key in rest), None)
    arguments = rest if key is None else rest[key]
    if isinstance(arguments, str):
        arguments = _value(arguments) if arguments.strip() else {}
    if arguments is None and key is not None and value[key] is None:
        arguments = {}
    return _call(value[name_key], arguments)


def _keyed_by_name(value: Mapping[str, Any], tools: Mapping[str, ToolSchema]) -> ToolCall | None:
    """``{"search_photos": {…}}``."""
    if len(value) == 1:
        ((name, arguments),) = value.items()
        if name in tools:
            return _call(name, arguments)
    return None


def _call(name: str, arguments: Any) -> ToolCall | None:
    is_usable = isinstance(arguments, dict) and not is_deep(arguments)
    return ToolCall(name, arguments) if is_usable else None


def _own_thought(value: Any) -> str:
    thought = value.get("thought") if isinstance(value, dict) else ""
    return thought if isinstance(thought, str) else ""


_DECODER = json.JSONDecoder(strict=False)  # raw line breaks inside strings are common


def _objects(text: str) -> Iterator[Any]:
    """The JSON objects of a text, outermost first, in order."""
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = _mended(text[at:].strip().strip("`").strip()), len(text)
        if value is not None:
            yield value
        at = text.find("{", end)


def _mended(text: str) -> Any | None:
    """An object in Python's spelling, with a comma too many or its last braces missing."""
    fixed = _EXTRA_COMMA.sub(lambda found: found[1] or found[2], text)
    for candidate in (fixed, fixed + "}", fixed + "}}"):
        value = _value(candidate)
        if isinstance(value, dict):
            return value
    return None


def _value(text: str) -> Any | None:
    """A JSON value, or a Python literal; None for neither."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        pass
    try:
        value = ast.literal_eval(text.strip())
        json.dumps(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value

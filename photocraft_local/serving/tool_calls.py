"""One tool call a turn, as text that a grammar can hold a model to.

Owns the JSON schema of "a thought and one call of one of these tools", the tools' place in the
system text, and the two written forms of a call: ours (JSON, constrained) and the native one of
the Qwen models. native_calls.py reads what an unconstrained model wrote. Runs no tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from photocraft_local.errors import MalformedCall
from photocraft_local.records import Json, ToolCall
from photocraft_local.serving.chat_model import ToolSchema

Schema = dict[str, Any]

_ANY_CHARACTER = r"[^\x00-\x1f\x7f]"  # raw control characters are no JSON
_PLAIN_CHARACTER = r'[^"\\\x00-\x1f\x7f]'  # the same before and after JSON's escaping
# Without a step a grammar lets digits run on without end; no tool asks for finer numbers.
_STEP = 0.001
# What opens one of the tokens that the families add: <|im_start|>, </tool_response>, <think> …
_MARK = re.compile(r"<(?=\||/?(?:tool_call|tool_response|think)>)")
_LONE = re.compile("[\ud800-\udfff]")  # half a character, which no tokenizer takes
_RISKY = re.compile("[<>\ud800-\udfff]")
_DEEPEST = 16  # levels of a call's arguments


class Form(StrEnum):
    """How a call is written in the prompt and in the reply."""

    JSON = "json"  # {"thought": …, "call": {"name": …, "arguments": …}}
    NATIVE = "native"  # the thought, then <tool_call>…</tool_call>


@dataclass(frozen=True, slots=True)
class Limits:
    """What a constrained reply may hold at most; a tool's own limits hold as well.

    ``plain``: no quotes and backslashes inside strings. Only for a server whose grammar engine
    takes a pattern for the escaped text (xgrammar does), since it also rules out words in quotes.
    """

    thought: int = 600  # characters
    text: int = 400  # characters of one string
    items: int = 100  # of one list
    plain: bool = False


def call_schema(tools: Sequence[ToolSchema], limits: Limits | None = None) -> Schema:
    """The JSON schema of a reply that calls one of ``tools``.

    Lengths are patterns and numbers have a step: llguidance 1.7 keeps both and integer bounds,
    so that every text the grammar lets through is strict JSON and ends. ValueError without tools
    or for a keyword that would be dropped in silence.
    """
    if not tools:
        raise ValueError("a call needs at least one tool")
    limits = limits or Limits()
    calls = [
        _closed(
            {"name": {"const": tool["name"]}, "arguments": _bounded(tool["parameters"], limits)},
            ["name", "arguments"],
        )
        for tool in tools
    ]
    thought = _text(1, limits.thought, limits)
    # The thought stands first and once, so that the alternatives part only at the tool's name.
    return _closed({"thought": thought, "call": {"anyOf": calls}}, ["thought", "call"])


def parse_constrained(text: str) -> tuple[str, ToolCall]:
    """Thought and call of a reply that the schema held. Raises MalformedCall for any other."""
    try:
        reply = json.loads(text)
        call = reply["call"]
        name, arguments, thought = call["name"], call["arguments"], reply["thought"]
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        raise MalformedCall(
            f"the reply is not the asked-for JSON: {exc!r}"[:300],
            hint='write {"thought": …, "call": {"name": …, "arguments": {…}}}',
        ) from exc
    if is_deep(arguments):
        raise MalformedCall("the call's arguments are nested too deep")
    if not (isinstance(name, str) and isinstance(arguments, dict) and isinstance(thought, str)):
        raise MalformedCall(
            "thought and name of the call must be strings and its arguments an object",
            hint='write {"thought": …, "call": {"name": …, "arguments": {…}}}',
        )
    return thought, ToolCall(name, arguments)


def is_deep(value: Json) -> bool:
    """Whether lists and objects are nested deeper than any tool asks for: what Python reads it
    could not always write again."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [part for one in level if isinstance(one, list | dict) for part in _inside(one)]
    return bool(level)


def _inside(value: list[Json] | dict[str, Json]) -> Iterable[Json]:
    return value.values() if isinstance(value, dict) else value


def write_call(thought: str, call: ToolCall, form: Form) -> str:
    """The call as the model itself would have written it; the same call, the same bytes."""
    body: dict[str, Json] = {"name": call.name, "arguments": call.arguments}
    if form is Form.JSON:
        return canonical({"thought": thought, "call": body})
    said = f"{harmless(thought)}\n" if thought else ""
    return f"{said}<tool_call>\n{canonical(body)}\n</tool_call>"


def tools_text(tools: Sequence[ToolSchema], form: Form) -> str:
    """What the system message says about the tools; the published templates of Qwen2.5-VL
    have no place for them beside pictures."""
    lines = "\n".join(canonical({"type": "function", "function": tool}) for tool in tools)
    return f"# Tools\n\nThese are your tools:\n<tools>\n{lines}\n</tools>\n\n{_HOW[form]}"


_HOW = {
    Form.JSON: (
        "Each reply is one JSON object and nothing else: a short thought, then one call of one "
        'tool:\n{"thought":"...","call":{"name":"<name of the tool>","arguments":{...}}}'
    ),
    Form.NATIVE: (
        "Each reply is a short thought and one call of one tool, as JSON inside <tool_call> "
        'tags:\n<tool_call>\n{"name":"<name of the tool>","arguments":{...}}\n</tool_call>'
    ),
}


def canonical(value: Json) -> str:
    """JSON in the order given, without blanks; no character in it opens a control mark, and a
    tokenizer takes them all."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return _RISKY.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def harmless(text: str) -> str:
    """Text in which no tokenizer of the families finds a control mark; whoever wrote it should
    have seen to it, but one that slips through would speak for the system or for a tool."""
    return _LONE.sub("\ufffd", _MARK.sub("< ", text))


def _bounded(schema: Mapping[str, Any], limits: Limits) -> Schema:
    """A tool's schema in the words that a grammar engine keeps to."""
    kind = schema["type"]
    if kind == "object":
        if schema.get("additionalProperties") is not False:
            raise ValueError("a grammar needs additionalProperties: false")
        parts = {name: _bounded(part, limits) for name, part in schema["properties"].items()}
        return _closed(parts, list(schema.get("required", ())))
    if kind == "array":
        least = schema.get("minItems", 0)
        most = max(least, min(limits.items, schema.get("maxItems", limits.items)))
        items = _bounded(schema["items"], limits)
        return {"type": "array", "items": items, "minItems": least, "maxItems": most}
    if kind == "string":
        return _string(schema, limits)
    if kind in ("integer", "number"):
        bounds = {name: schema[name] for name in ("minimum", "maximum") if name in schema}
        return {"type": kind, **bounds} | ({"multipleOf": _STEP} if kind == "number" else {})
    if kind == "boolean":
        return {"type": "boolean"}
    raise ValueError(f"no grammar for values of type {kind!r}")


def _string(schema: Mapping[str, Any], limits: Limits) -> Schema:
    if "enum" in schema:
        return {"enum": list(schema["enum"])}
    if "pattern" in schema:
        return {"type": "string", "pattern": schema["pattern"]}
    most = min(limits.text, schema.get("maxLength", limits.text))
    return _text(schema.get("minLength", 0), most, limits)


def _text(least: int, most: int, limits: Limits) -> Schema:
    character = _PLAIN_CHARACTER if limits.plain else _ANY_CHARACTER
    return {"type": "string", "pattern": f"^{character}{{{least},{max(least, most)}}}$"}


def _closed(properties: Schema, required: list[str]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }

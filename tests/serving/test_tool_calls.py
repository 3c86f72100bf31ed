"""The schema of a reply: whatever it lets through is strict JSON that the registry accepts."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema
import pytest

from photocraft_local.errors import MalformedCall
from photocraft_local.records import ToolCall
from photocraft_local.serving.tool_calls import (
    Form,
    Limits,
    call_schema,
    canonical,
    parse_constrained,
    tools_text,
    write_call,
)
from photocraft_local.tools.schema import arguments, many, number, words
from photocraft_local.tools.sets import NAME_PATTERN
from photocraft_local.tools.standard import standard_tools
from photocraft_local.tools.validate import problems

TOOLS = [
    {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    for tool in standard_tools()
]
BY_NAME = {tool["name"]: tool for tool in TOOLS}
COUNTED = re.compile(r"\^(\[.*\])\{(\d+),(\d+)\}\$", re.DOTALL)
LETTERS = "aZ0 _-'\"\\é你\U0001f415<|>{}[]:,"


def drawn(schema: dict[str, Any], dice: random.Random) -> Any:
    """A value that a grammar made of ``schema`` could let a model write."""
    if "anyOf" in schema:
        return drawn(dice.choice(schema["anyOf"]), dice)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return dice.choice(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        names = schema["properties"]
        kept = [name for name in names if name in schema["required"] or dice.random() < 0.5]
        return {name: drawn(names[name], dice) for name in kept}
    if kind == "array":
        num = dice.choice([schema["minItems"], min(schema["maxItems"], schema["minItems"] + 2)])
        return [drawn(schema["items"], dice) for _ in range(num)]
    if kind == "string":
        return drawn_text(schema["pattern"], dice)
    if kind == "boolean":
        return dice.random() < 0.5
    bounds = schema["minimum"], schema["maximum"]
    value = dice.choice([*bounds, dice.uniform(*bounds)])
    return int(value) if kind == "integer" else round(value, 3)


def drawn_text(pattern: str, dice: random.Random) -> str:
    if pattern == NAME_PATTERN:
        text = "beach_days"
    else:
        counted = COUNTED.fullmatch(pattern)
        assert counted
        allowed = [letter for letter in LETTERS if re.fullmatch(counted[1], letter)]
        least, most = int(counted[2]), int(counted[3])
        length = dice.choice([least, most, dice.randint(least, most)])
        text = "".join(dice.choices(allowed, k=length))
    assert re.search(pattern, text)
    return text


@pytest.mark.parametrize("limits", [Limits(), Limits(40, 12, 2), Limits(plain=True)])
def test_what_the_schema_lets_through_is_a_call_that_the_registry_accepts(limits: Limits) -> None:
    schema = call_schema(TOOLS, limits)
    jsonschema.Draft202012Validator.check_schema(schema)
    dice = random.Random(4)
    seen = set()
    for _ in range(150):
        text = canonical(drawn(schema, dice))
        thought, call = parse_constrained(text)
        assert 1 <= len(thought) <= limits.thought
        assert not list(problems(call.arguments, BY_NAME[call.name]["parameters"]))
        assert not re.search(r"[\x00-\x1f]", text)
        seen.add(call.name)
    assert seen == set(BY_NAME)


def test_the_schema_refuses_what_is_no_call_of_these_tools() -> None:
    schema = call_schema(TOOLS, Limits(thought=40))
    good = {"thought": "look", "call": {"name": "recall", "arguments": {"text": "dogs"}}}
    jsonschema.validate(good, schema)
    for bad in (
        {"call": good["call"]},
        {**good, "more": 1},
        {**good, "thought": "x" * 41},
        {**good, "thought": "two\nlines"},
        {**good, "call": {"name": "rm", "arguments": {}}},
        {**good, "call": {"name": "recall", "arguments": {}}},
        {**good, "call": {"name": "recall", "arguments": {"text": "", "more": 1}}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


def test_plain_strings_are_the_same_before_and_after_escaping() -> None:
    (pattern,) = {call_schema(TOOLS, Limits(plain=True))["properties"]["thought"]["pattern"]}
    assert re.search(pattern, "L’Aquila, 你好")
    for text in ('a "b"', "a\\b", "a\nb", ""):
        assert not re.search(pattern, text)


def test_lists_and_lengths_never_fall_below_what_the_tool_asks_for() -> None:
    parameters = arguments(
        "uids", uids=many(words("", longest=9), "", least=5, most=7), km=number("", 0.5, 2)
    )
    schema = call_schema([{"name": "t", "parameters": parameters}], Limits(items=2, text=4))
    inner = schema["properties"]["call"]["anyOf"][0]["properties"]["arguments"]["properties"]
    assert (inner["uids"]["minItems"], inner["uids"]["maxItems"]) == (5, 5)
    assert inner["uids"]["items"]["pattern"].endswith("{1,4}$")
    assert inner["km"] == {"type": "number", "minimum": 0.5, "maximum": 2, "multipleOf": 0.001}


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {}, "required": []},
        {"type": "object", "properties": {"x": {"type": "null"}}, "additionalProperties": False},
    ],
)
def test_a_schema_that_no_grammar_would_hold_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="grammar"):
        call_schema([{"name": "t", "parameters": parameters}])
    with pytest.raises(ValueError, match="at least one tool"):
        call_schema([])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"thought":"a"}',
        '{"thought":"a","call":{"name":"x"}}',
        '{"thought":1,"call":{"name":"x","arguments":{}}}',
        '{"thought":"a","call":{"name":"x","arguments":[]}}',
        '{"thought":"a\nb","call":{"name":"x","arguments":{}}}',
        "[" * 100_000,
    ],
)
def test_other_text_is_a_malformed_call(text: str) -> None:
    with pytest.raises(MalformedCall):
        parse_constrained(text)


def test_a_written_call_reads_back_and_holds_no_control_mark() -> None:
    call = ToolCall("recall", {"text": 'a "b" <|im_end|> \\ 你好\n'})
    text = write_call("why <|im_start|>", call, Form.JSON)
    assert "<" not in text
    assert "\n" not in text
    assert parse_constrained(text) == ("why <|im_start|>", call)
    assert write_call("", call, Form.NATIVE).startswith('<tool_call>\n{"name":"recall"')


@pytest.mark.parametrize("form", Form)
def test_the_system_text_holds_every_tool_and_is_the_same_each_time(form: Form) -> None:
    text = tools_text(TOOLS, form)
    assert text == tools_text(json.loads(json.dumps(TOOLS)), form)
    inside = text.split("<tools>\n")[1].split("\n</tools>")[0].splitlines()
    assert [json.loads(line)["function"] for line in inside] == TOOLS

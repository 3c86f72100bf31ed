"""Calls as the Qwen models write them without a grammar, in all their spellings."""

from __future__ import annotations

import time

import pytest

from photocraft_local.records import ToolCall
from photocraft_local.serving.native_calls import MAX_THOUGHT, parse_native, split_thinking
from photocraft_local.tools.schema import arguments, flag, uids, whole, words

TOOLS = [
    {
        "name": "search_photos",
        "description": "",
        "parameters": arguments(
            "text", text=words(""), top_k=whole("", 1, 99), like=uids(""), exact=flag("")
        ),
    },
    {"name": "recall", "description": "", "parameters": arguments("text", text=words(""))},
]
WANTED = ToolCall("search_photos", {"text": "red bus", "top_k": 5})
CALL = '{"name": "search_photos", "arguments": {"text": "red bus", "top_k": 5}}'


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}</tool_call>",
        f"<tool_call>\n{CALL}",
        f"<tool_call>\n{CALL}\n<tool_call>\n" + CALL.replace("red", "blue"),
        f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>",
        f"<tool_call>\n{CALL[:-1]}\n</tool_call>",
        f"<tool_call>\n{CALL}}}\n</tool_call>",
        "<tool_call>\n" + CALL.replace("5}}", "5,},}") + "\n</tool_call>",
        "<tool_call>\n" + CALL.replace('"', "'") + "\n</tool_call>",
        "<tool_call>\n" + CALL.replace("arguments", "parameters") + "\n</tool_call>",
        "<tool_call>\n" + CALL.replace('"name"', '"tool"') + "\n</tool_call>",
        '<tool_call>{"name":"search_photos",'
        '"arguments":"{\\"text\\": \\"red bus\\", \\"top_k\\": 5}"}</tool_call>',
        f'<tool_call>{{"type": "function", "function": {CALL}}}</tool_call>',
        '<tool_call>{"search_photos": {"text": "red bus", "top_k": 5}}</tool_call>',
        '<tool_call>{"name": "search_photos", "text": "red bus", "top_k": 5}</tool_call>',
        "<tool_call>\n<function=search_photos>\n<parameter=text>\nred bus\n</parameter>\n"
        "<parameter=top_k>\n5\n</parameter>\n</function>\n</tool_call>",
        "<function=search_photos><parameter=text>red bus</parameter>"
        "<parameter=top_k>5</parameter></function>",
        f"```json\n{CALL}\n```",
        CALL,
        f'{{"thought": "Look first.", "call": {CALL}}}',
        f"</think>\n\n<tool_call>\n{CALL}\n</tool_call>",
    ],
)
@pytest.mark.parametrize("before", ["", "Look first.\n"])
def test_a_call_is_read_in_every_spelling(text: str, before: str) -> None:
    thought, call = parse_native(before + text, TOOLS)
    assert call == WANTED
    if before and "</think>" not in text:
        assert thought == "Look first."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I found nothing.",
        "The photo's data are {'name': 'p7k3mq', 'city': 'Porto'}.",
        "{not json at all",
        "<tool_call>\n</tool_call>",
        "<tool_call>\nsearch_photos(text='red bus')\n</tool_call>",
        '<tool_call>\n{"name": "search_photos", "arguments": {"text": "red b',
        '<tool_call>\n{"name": "search_photos", "arguments": [1]}\n</tool_call>',
        '<tool_call>\n{"name": 7, "arguments": {}}\n</tool_call>',
        '{"name": "unknown_tool", "arguments": {}}',
        "{" * 50_000,
        "[" * 50_000,
        "<tool_call>" * 5_000,
    ],
)
def test_what_is_no_call_is_none(text: str) -> None:
    start = time.process_time()
    thought, call = parse_native(text, TOOLS)
    assert call is None
    assert len(thought) <= MAX_THOUGHT
    assert time.process_time() - start < 30


def test_a_name_that_is_no_tool_reaches_the_registry_only_from_a_call() -> None:
    _, call = parse_native('<tool_call>{"name": "serch", "arguments": {}}</tool_call>', TOOLS)
    assert call == ToolCall("serch", {})


def test_strings_keep_what_looks_like_a_mistake() -> None:
    text = '<tool_call>{"name": "recall", "arguments": {"text": "a, } and [b,]",},}</tool_call>'
    assert parse_native(text, TOOLS)[1] == ToolCall("recall", {"text": "a, } and [b,]"})
    xml = "<function=recall><parameter=text>5</parameter></function>"
    assert parse_native(xml, TOOLS)[1] == ToolCall("recall", {"text": "5"})


def test_the_servers_own_parse_comes_first() -> None:
    served = {"id": "c1", "function": {"name": "recall", "arguments": '{"text": "dogs"}'}}
    broken = {"id": "c0", "function": {"name": "recall", "arguments": '{"text": "do'}}
    thought, call = parse_native("Remember.", TOOLS, calls=[broken, served])
    assert (thought, call) == ("Remember.", ToolCall("recall", {"text": "dogs"}, "c1"))


@pytest.mark.parametrize(
    ("content", "reasoning", "split"),
    [
        ("<think>\nsmall\n</think>\n\nI look.", "", ("small", "I look.")),
        ("small\n</think>\n\nI look.", "", ("small", "I look.")),
        ("I look.", "small", ("small", "I look.")),
        ("I look.", "", ("", "I look.")),
        ("<think>\nnever closed", "", ("never closed", "")),
        ("<think></think>I look.", "small", ("small", "I look.")),
    ],
)
def test_reasoning_is_told_from_the_reply(
    content: str, reasoning: str, split: tuple[str, str]
) -> None:
    assert split_thinking(content, reasoning) == split


def test_the_thought_is_what_was_said_and_else_the_end_of_the_reasoning() -> None:
    assert parse_native(f"<think>why</think>Look.{CALL}", TOOLS)[0] == "Look."
    assert parse_native(f"<think>why</think>{CALL}", TOOLS)[0] == "why"
    thought, _ = parse_native(CALL, TOOLS, reasoning="x" * 9999 + " so I look.")
    assert thought.endswith("so I look.")
    assert len(thought) == MAX_THOUGHT

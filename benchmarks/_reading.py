"""What stands in the messages of a prompt, and nothing else: question, hints, calls, results, S.

Each call of a controller begins here anew. What was dropped from the prompt is not known any more;
what a summary tells of a call is known as far as it is told. Knows nothing of ways to search.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from photocraft_local.serving.chat_model import Message

_QUESTION = re.compile(r"^The question, as JSON text: (\".*\")$", re.MULTILINE)
_HINTS = "Hints from earlier questions"
_SUMMARY = "Summary of the turns so far"
_LINE = re.compile(r"^\d+ (\w+) (?=\{)")
_SHORT_LINE = re.compile(r"^\d+ (\w+) -> (?:(\w+): )?")
_FOLDED = re.compile(r"\b([a-z_]+) \d+")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"")
_SETS = re.compile(r"(?:^| \| )sets: (.*?)(?: \| |$)")
_SET = re.compile(r"(\w+)=(\d+)")


@dataclass(frozen=True)
class Made:
    """A call that was made: its result where the prompt still has it, else only what is told."""

    tool: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None = None
    error: str = ""

    @property
    def name(self) -> str:
        """What tells it from other calls: the set that it made, else its words."""
        return name_of(self.tool, self.arguments)


@dataclass
class Prompt:
    question: str = ""
    hints: list[str] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)  # in their order, those of a summary first
    counts: dict[str, int] = field(default_factory=dict)  # of sets, as results or a summary say

    def call(self, name: str) -> Made | None:
        """The newest of that name."""
        return next((one for one in reversed(self.made) if one.name == name), None)

    @property
    def names(self) -> set[str]:
        return {one.name for one in self.made} | set(self.counts)

    def notes(self) -> list[str]:
        """What ``recall`` brought, where it can still be read."""
        told = [one.result for one in self.made if one.tool == "recall" and one.result]
        return [note for result in told for note in result.get("notes", ())]


def name_of(tool: str, arguments: Mapping[str, Any]) -> str:
    if saved := arguments.get("save_as"):
        return str(saved)
    if tool == "submit_answer":
        return f"answer {arguments.get('set', '')}"
    return tool


def read(messages: Sequence[Message]) -> Prompt:
    prompt = Prompt()
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    for message in messages:
        text = _text(message.get("content"))
        if message["role"] == "user":
            _block(prompt, text)
        for call in message.get("tool_calls", ()):
            function = call["function"]
            calls[call["id"]] = (function["name"], json.loads(function["arguments"]))
        if message["role"] == "tool" and message["tool_call_id"] in calls:
            _turn(prompt, *calls[message["tool_call_id"]], json.loads(text))
    return prompt


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


def _block(prompt: Prompt, text: str) -> None:
    if found := _QUESTION.search(text):
        prompt.question = prompt.question or json.loads(found[1])
    elif text.startswith(_HINTS):
        prompt.hints += [line[2:] for line in text.splitlines() if line.startswith("- ")]
    elif text.startswith(_SUMMARY) and "\n" in text:
        told = json.loads(text.partition("\n")[2])
        prompt.made += _told(told.get("digest", ()))
        prompt.counts |= told.get("working", {}).get("sets", {})


def _turn(prompt: Prompt, tool: str, arguments: dict[str, Any], told: Mapping[str, Any]) -> None:
    result, error = told.get("result", {}), told.get("error", "")
    made = Made(tool, arguments, result, error)
    prompt.made.append(made)
    prompt.counts |= dict(_sets(str(told.get("state", ""))))
    if "save_as" in arguments and not error:
        prompt.counts[arguments["save_as"]] = result.get("count", 0)


def _sets(line: str) -> Iterator[tuple[str, int]]:
    """The sets of a state line. No name of a controller's needs quotes, and what stands in some is
    text of others."""
    bare = _QUOTED.sub('""', line).partition(" | note: ")[0]
    for found in _SETS.finditer(bare):
        yield from ((name, int(count)) for name, count in _SET.findall(found[1]))


def _told(lines: Sequence[str]) -> Iterator[Made]:
    """The calls of a digest; older lines name only the set, the oldest not even that."""
    for line in lines:
        if found := _LINE.match(line):
            arguments, end = json.JSONDecoder().raw_decode(line[found.end() :])
            failed = line[found.end() + end :].startswith(' -> "error')
            yield Made(found[1], arguments, error="failed" if failed else "")
        elif found := _SHORT_LINE.match(line):
            yield Made(found[1], {"save_as": found[2]} if found[2] else {})
        else:
            yield from (Made(tool, {}) for tool in _FOLDED.findall(line))

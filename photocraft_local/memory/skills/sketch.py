"""Calls without what is the person's own: tools, names of arguments, choices, sets as A, B, C.

Of a filter expression only the names of fields and functions are left. Knows the tools' schemas
as far as their names and choices are concerned, and no photo.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from photocraft_local.records import Json, Step, ToolCall
from photocraft_local.search.expression.fields import FIELDS
from photocraft_local.search.expression.functions import FUNCTIONS
from photocraft_local.tools.compress_context import CompressContext
from photocraft_local.tools.plan import PlanTool
from photocraft_local.tools.recall import Recall
from photocraft_local.tools.standard import standard_tools

MAX_CALLS = 8
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SETS = ("within", "set", "compare", "sets")
_NAME = re.compile(r"(?<![\"'\w])[a-z_]+(?=\s*(?:\(|==|!=|[<>]|in\b|not\b|and\b|or\b|\)|$))")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_LINE = re.compile(r"(\w+)(?:\(([^()]*)\))?(?: as ([A-Z]))?")
_UNTOLD = ("save_as", "evidence", "not_used")  # part of every way, or of none
_MORE = "and more of the same"
_NO_WAY = PlanTool.name  # finds nothing, and holds a model's own words
_ASIDE = (_NO_WAY, Recall.name, CompressContext.name)  # done on any way


@lru_cache(maxsize=1)
def _tools() -> dict[str, dict[str, tuple[str, ...]]]:
    """Tool → argument → its choices; none for an argument that takes the person's own words."""
    return {
        tool.name: {
            name: tuple(one for one in form.get("enum", ()) if isinstance(one, str))
            for name, form in tool.parameters["properties"].items()
        }
        for tool in standard_tools()
        if tool.name != _NO_WAY
    }


def sketch_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """A line for each call that led to the answer, e.g. ``filter_photos(when, where=place) as A``.

    Failed calls and those whose sets nothing used are left out, like calls in a row that were of
    the same form.
    """
    letters: dict[str, str] = {}
    lines: list[str] = []
    for step in leading(steps):
        line = _line(step.call, letters)
        if line and line not in lines[-1:]:
            lines.append(line)
    if len(lines) > MAX_CALLS:
        lines = [*lines[: MAX_CALLS - 2], _MORE, lines[-1]]
    return tuple(lines)


def leading(steps: Sequence[Step]) -> list[Step]:
    """The calls that the answer rests on, in their order: by the sets that each one read, or
    all that went well where the answer named photos. Thinking and remembering lead nowhere."""
    good = [step for step in steps if step.observation.ok and step.call.name not in _ASIDE]
    if not good:
        return []
    needed = set(_read(good[-1].call))
    if not needed:
        return good
    kept = [good[-1]]
    for step in reversed(good[:-1]):
        name = step.call.arguments.get("save_as")
        if not isinstance(name, str) or name in needed:
            kept.append(step)
            needed |= set(_read(step.call))
    return kept[::-1]


def fields_of(expression: str) -> list[str]:
    """Fields and functions that a filter expression names, in their order, each once."""
    bare = _QUOTED.sub("''", expression)
    return list(dict.fromkeys(n for n in _NAME.findall(bare) if n in FIELDS or n in FUNCTIONS))


def is_sketch_line(line: str) -> bool:
    """Whether it is one that ``sketch_of`` writes: no word in it is anyone's own."""
    if line == _MORE:
        return True
    made = _LINE.fullmatch(line)
    if made is None or made[1] not in _tools():
        return False
    return all(_is_argument(made[1], text) for text in (made[2] or "").split(", ") if text)


def _is_argument(tool: str, text: str) -> bool:
    name, _, value = text.partition("=")
    choices = _tools()[tool].get(name)
    if choices is None:
        return False
    words = value.split()
    named = all(word in FIELDS or word in FUNCTIONS for word in words)
    letters = all(word in _LETTERS for word in words)
    return not words or value in (*choices, "+", "-", "yes") or letters or named


def _line(call: ToolCall, letters: dict[str, str]) -> str:
    known = _tools().get(call.name)
    if known is None:
        return ""
    told = [
        _argument(name, call.arguments[name], known[name], letters)
        for name in known
        if name in call.arguments and name not in _UNTOLD
    ]
    saved = call.arguments.get("save_as")
    behind = ""
    if isinstance(saved, str) and (letter := _letter(saved, letters)):
        behind = f" as {letter}"
    return f"{call.name}({', '.join(told)}){behind}" if told else f"{call.name}{behind}"


def _argument(name: str, value: Json, choices: tuple[str, ...], letters: dict[str, str]) -> str:
    said = ""
    if name in _SETS:
        names = value if isinstance(value, list) else [value]
        said = " ".join(_letter(one, letters) for one in names if isinstance(one, str))
    elif name == "where" and isinstance(value, str):
        said = " ".join(fields_of(value))
    elif isinstance(value, str) and value in choices:
        said = value
    elif name == "shift" and isinstance(value, int):
        said = "+" if value > 0 else "-"
    elif value is True:
        said = "yes"
    return f"{name}={said}" if said.strip() else name


def _letter(name: str, letters: dict[str, str]) -> str:
    """The set's letter; the 27th has none, which says as much."""
    if name not in letters and len(letters) < len(_LETTERS):
        letters[name] = _LETTERS[len(letters)]
    return letters.get(name, "")


def _read(call: ToolCall) -> list[str]:
    values = [call.arguments.get(key) for key in _SETS]
    names = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [name for name in names if isinstance(name, str)]

"""The form of a plan's text: ``key: value`` lines, blocks by indentation, ``#`` for comments.

A value that would be misread stands as a JSON string. Knows no key and no plan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from photocraft_local.errors import UsageError

LONGEST = 50_000  # characters of a whole plan
DEEPEST = 12  # blocks within blocks
INDENT = "    "
_COLON = re.compile("[:：]")  # Chinese keyboards write the wide one
_STRING = r'"(?:[^"\\]|\\.)*"'
_ITEM = re.compile(rf"\s*(?P<item>{_STRING}|[^|\"][^|]*|)\s*(?P<end>\||$)")
_AS = re.compile(rf"^(?P<value>.*?)(?:^|\s)as (?P<words>{_STRING})$")


@dataclass(slots=True)
class Line:
    """One line with the block below it. ``number`` counts from 1; the top has 0."""

    number: int
    key: str
    value: str
    children: list[Line] = field(default_factory=list)
    indent: int = 0  # blanks before it

    @property
    def place(self) -> str:
        """How errors name it."""
        shown = f"{self.key}: {self.value}".rstrip() if self.key else ""
        shown = shown if len(shown) <= 80 else f"{shown[:79]}…"
        said = f", {shown!r}" if shown else ""
        return f"line {self.number} of the plan{said}" if self.number else "the plan"

    def error(self, problem: str, hint: str) -> UsageError:
        return UsageError(f"{self.place}: {problem}", hint=hint)


def tree_of(text: str) -> Line:
    """The lines of ``text`` below one line without a key. Raises UsageError."""
    top = Line(0, "", "", indent=-1)
    if len(text) > LONGEST:
        raise top.error(f"it has {len(text):,} characters", f"at most {LONGEST:,} are read")
    open_blocks = [top]
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        stripped = raw.strip()
        if not stripped or stripped.startswith("#"):
            continue
        line = _line(number, stripped)
        line.indent = _indent(raw)
        while line.indent <= open_blocks[-1].indent:
            open_blocks.pop()
        _check_place(line, open_blocks)
        open_blocks[-1].children.append(line)
        open_blocks.append(line)
    return top


def _line(number: int, text: str) -> Line:
    key, *rest = _COLON.split(text, maxsplit=1)
    line = Line(number, " ".join(key.casefold().split()), "".join(rest).strip())
    if not rest:
        line.key = ""
        raise line.error(
            f"there is no ':' in {text[:60]!r}", "write a key, a colon and a value: look: dog"
        )
    return line


def _indent(raw: str) -> int:
    spread = raw.expandtabs(4)
    return len(spread) - len(spread.lstrip())


def _check_place(line: Line, open_blocks: Sequence[Line]) -> None:
    above = open_blocks[-1]
    if above.value:
        raise line.error(
            f"it is indented below line {above.number}, which has a value and takes no block",
            "start it where the lines above start",
        )
    if above.children and line.indent != above.children[0].indent:
        raise line.error("it starts between two blocks", "indent it like the lines beside it")
    if len(open_blocks) > DEEPEST:
        raise line.error(f"more than {DEEPEST} blocks lie in each other", "make the plan simpler")


def quoted(text: str) -> str:
    """``text`` as a value: as it is, or as a JSON string where it would be misread."""
    plain = text and text == text.strip() and text.isprintable() and not text.startswith('"')
    if plain and "|" not in text and not _AS.match(text):
        return text
    return json.dumps(text, ensure_ascii=True)


def listed(texts: Sequence[str]) -> str:
    return " | ".join(map(quoted, texts))


def items(line: Line) -> tuple[str, ...]:
    """The values that ``|`` sets apart. Raises UsageError for none, or an empty one."""
    found: list[str] = []
    at = 0
    while True:
        match = _ITEM.match(line.value, at)
        if match is None:
            raise line.error(
                "a quotation mark is not closed, or text follows it",
                'write "…" around the whole value, or no quotation mark in front',
            )
        found.append(_unquoted(match["item"].strip(), line))
        at = match.end()
        if not match["end"]:
            return tuple(found)


def one(line: Line) -> str:
    """The single value."""
    found = items(line)
    if len(found) > 1:
        raise line.error("it takes one value", "write one line for each")
    return found[0]


def with_words(line: Line) -> tuple[Line, str | None]:
    """The line without a closing ``as "words"``, and the words."""
    match = _AS.match(line.value)
    if match is None:
        return line, None
    bare = Line(line.number, line.key, match["value"].strip(), line.children)
    return bare, _string(match["words"], line)


def as_words(words: str, otherwise: str = "") -> str:
    """What ``with_words`` reads; nothing if ``words`` are what holds without it."""
    if words == otherwise:
        return ""
    return f" as {json.dumps(words, ensure_ascii=not words.isprintable())}"


def _unquoted(item: str, line: Line) -> str:
    if not item:
        raise line.error("a value is missing", "write something behind the colon and each '|'")
    return _string(item, line) if item.startswith('"') else item


def _string(item: str, line: Line) -> str:
    try:
        return str(json.loads(item))
    except ValueError as exc:
        raise line.error(f"{item} is no JSON string", "write it without quotation marks") from exc

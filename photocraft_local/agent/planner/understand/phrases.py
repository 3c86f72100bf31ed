"""The tables of words, as compiled patterns.

A row of ``data/NAME.tsv`` ends with a pattern; ``<photo>`` in it is the pattern of that name in
``data/macros.tsv``. Lines that begin with ``#`` are comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_MACRO = re.compile(r"(?<!\?P)<(\w+)>")
_PACKAGE = "photocraft_local.agent.planner.understand"


@dataclass(frozen=True, slots=True)
class Phrase:
    """One row: its cells before the pattern, and the pattern."""

    cells: tuple[str, ...]
    pattern: re.Pattern[str]


@lru_cache(maxsize=32)
def phrases(name: str) -> tuple[Phrase, ...]:
    """The rows of a table, in its order. The pattern ignores case."""
    return tuple(
        Phrase(tuple(cells), re.compile(_expanded(pattern), re.IGNORECASE))
        for *cells, pattern in table(name)
    )


@lru_cache(maxsize=64)
def phrase_of(name: str, key: str) -> re.Pattern[str]:
    """The rows of a table whose first cell is ``key``, as one pattern."""
    found = [_expanded(pattern) for first, *_, pattern in table(name) if first == key]
    return re.compile("|".join(f"(?:{pattern})" for pattern in found), re.IGNORECASE)


def _expanded(pattern: str) -> str:
    for _ in range(3):  # macros may use macros
        pattern = _MACRO.sub(lambda found: f"(?:{_macros()[found[1]]})", pattern)
    return pattern


@lru_cache(maxsize=1)
def _macros() -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for name, pattern in table("macros"):
        found.setdefault(name, []).append(pattern)
    return {name: "|".join(patterns) for name, patterns in found.items()}


def table(name: str) -> list[list[str]]:
    """The cells of each row."""
    text = files(_PACKAGE).joinpath(f"data/{name}.tsv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return [line.split("\t") for line in lines]

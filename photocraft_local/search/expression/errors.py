"""How a mistake inside an expression travels to the parser, which knows where it stands."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Mistake(Exception):
    """A value or name that cannot be meant. The parser turns it into FilterSyntaxError."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """A hint that names the nearest known words, or ``otherwise``."""
    names = sorted(known)
    near = difflib.get_close_matches(word.casefold()[:60], names, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return otherwise or f"known: {', '.join(names)}"

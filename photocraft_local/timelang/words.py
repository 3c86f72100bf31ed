"""A cut text with look-ups in the lexicon, and the day that counts as today.

What the grammar's rules share; owns no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property
from typing import Literal

from photocraft_local.timelang.lexicon import table
from photocraft_local.timelang.tokens import Token, cut
from photocraft_local.timelang.when import When

Hemisphere = Literal["north", "south"]
AtomKind = Literal["period", "month", "days", "season", "weekday", "hours"]


@dataclass(frozen=True, slots=True)
class Atom:
    """One time at tokens ``[i, end)``. ``sure`` is false for an ordinary word that needs a cue.

    A "period" has one interval; the others recur.
    """

    end: int
    when: When
    kind: AtomKind
    sure: bool = True


class Words:
    """Tokens of one text; positions are token numbers."""

    def __init__(self, text: str, today: date, hemisphere: Hemisphere = "north") -> None:
        self.text = text
        self.today = datetime.combine(today, time.min)
        self.hemisphere = hemisphere
        self.tokens = cut(text)

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def keys(self) -> list[str]:
        return [token.key for token in self.tokens]

    def token(self, at: int) -> Token | None:
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def shape(self, at: int) -> str:
        token = self.token(at)
        return token.shape if token else ""

    def match(self, kind: str, at: int) -> tuple[int, str] | None:
        """The longest form of this kind at ``at``: (token behind it, value)."""
        forms = table().get(kind, {})
        for size in range(min(6, len(self.tokens) - at), 0, -1):
            value = forms.get(tuple(self.keys[at : at + size]))
            if value is not None:
                return at + size, value
        return None

    def skip(self, kind: str, at: int) -> int:
        """``at``, or the token behind a form of this kind."""
        found = self.match(kind, at)
        return found[0] if found else at

    def key(self, at: int) -> str:
        token = self.token(at)
        return token.key if token else ""

    def count(self, at: int) -> tuple[int, int] | None:
        """A small number in digits or words: (token behind it, number)."""
        if self.shape(at) == "number" and len(self.tokens[at].text) <= 3:
            return at + 1, int(self.tokens[at].text)
        found = self.match("count", at)
        return (found[0], int(found[1])) if found else None

    def has_context(self, kind: str) -> bool:
        """Whether any single word of this kind stands in the text."""
        forms = table().get(kind, {})
        return any((key,) in forms for key in self.keys)

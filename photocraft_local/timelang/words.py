"""A cut text with look-ups in the lexicon, and the day that counts as today.

What the grammar's rules share; owns no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property
from typing import Literal

from photocraft_local.timelang.habits import USUAL, Habits
from photocraft_local.timelang.lexicon import Forms, by_first_word, table
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.tokens import Token, cut
from photocraft_local.timelang.when import When

AtomKind = Literal["period", "month", "days", "season", "weekday", "hours", "holiday", "either"]


@dataclass(frozen=True, slots=True)
class Atom:
    """One time at tokens ``[i, end)``. ``sure`` is false for an ordinary word that needs a cue.

    A "period" has one interval; the others recur. "either" is a date that can be read in two
    ways. ``minutes``: the minutes of the day that a clock time may be. ``core``: the day of a
    holiday with a year that "the day after" counts from. ``name`` is a holiday's.
    """

    end: int
    when: When
    kind: AtomKind
    sure: bool = True
    minutes: tuple[int, ...] = ()
    core: Interval | None = None
    name: str = ""


def period(end: int, interval: Interval, *notes: str) -> Atom:
    return Atom(end, When(intervals=(interval,), notes=notes), "period")


class Words:
    """Tokens of one text; positions are token numbers."""

    def __init__(
        self,
        text: str,
        today: date,
        habits: Habits = USUAL,
    ) -> None:
        self.text = text
        self.today = datetime.combine(today, time.min)
        self.hemisphere = habits.hemisphere
        self.first_weekday = habits.first_weekday
        self.names_a_year: bool | None = None  # not looked up yet
        self.atoms: dict[int, Atom | None] = {}  # what the rules found, by position
        self.tokens = cut(text)

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def keys(self) -> list[str]:
        return [token.key for token in self.tokens]

    @cached_property
    def forms(self) -> list[dict[str, Forms]]:
        """For each token the forms that begin with it, by kind."""
        index = by_first_word()
        return [index.get(key, _NO_FORMS) for key in self.keys]

    def token(self, at: int) -> Token | None:
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def shape(self, at: int) -> str:
        token = self.token(at)
        return token.shape if token else ""

    def match(self, kind: str, at: int) -> tuple[int, str] | None:
        """The longest form of this kind at ``at``: (token behind it, value)."""
        if not 0 <= at < len(self.tokens):
            return None
        forms = self.forms[at].get(kind)
        if forms is None:
            return None
        for form, value in forms:
            size = len(form)
            if size == 1 or tuple(self.keys[at : at + size]) == form:
                return at + size, value
        return None

    def ends(self, kind: str, at: int) -> list[int]:
        """The tokens behind each form of this kind at ``at``, the longest first."""
        if not 0 <= at < len(self.tokens):
            return []
        forms = self.forms[at].get(kind, ())
        sizes = (len(form) for form, _ in forms if tuple(self.keys[at : at + len(form)]) == form)
        return [at + size for size in sizes]

    def fits(self, kind: str, start: int, end: int) -> bool:
        """Whether tokens ``start`` to ``end`` are just one form of this kind."""
        return tuple(self.keys[start:end]) in table().get(kind, {})

    def may_begin(self, at: int) -> bool:
        """Whether any rule can fit at ``at``: an unknown word begins no time."""
        token = self.token(at)
        return token is not None and (token.shape != "word" or bool(self.forms[at]))

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

    @cached_property
    def clause_ends(self) -> list[int]:
        """For each token the next one, itself perhaps, that ends a clause: a comma or full stop."""
        ends = [len(self.tokens)]
        for at in range(len(self.tokens) - 1, -1, -1):
            token = self.tokens[at]
            stops = token.shape == "comma" or token.key in _STOPS
            ends.append(at if stops else ends[-1])
        return ends[:0:-1]

    @cached_property
    def is_french(self) -> bool:
        """Whether a small French word stands in the text, so that "hier" is yesterday."""
        forms = table()["french"]
        return any((key,) in forms for key in self.keys)


_NO_FORMS: dict[str, Forms] = {}
_STOPS = frozenset(".?!;:。？！；")

"""A question while it is read: which of its characters are already accounted for.

Every recogniser claims the words that it has understood; what nobody claims is the look. So no
word is used twice and none is lost in silence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_SAME = str.maketrans("’‘‛ʼ“”„«»\u00a0\t\n\r", '\'\'\'\'"""""    ')


def plain(question: str) -> str:
    """One form of quotes and blanks; characters that nobody sees are gone."""
    text = unicodedata.normalize("NFC", question).translate(_SAME)
    shown = (char for char in text if unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co"})
    return " ".join("".join(shown).split())


@dataclass(frozen=True, slots=True)
class Unused:
    """Words that could not be used, and why."""

    words: str
    reason: str

    def __str__(self) -> str:
        return f"{self.words} ({self.reason})"


class Draft:
    """``blocked`` words matter for the set, so it cannot be given; ``unused`` ones do not."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocked: list[Unused] = []
        self.unused: list[Unused] = []
        self._taken = bytearray(len(text))

    def claim(self, start: int, end: int) -> str:
        """Takes ``text[start:end]`` out of what is still to be read; returns it."""
        self._taken[start:end] = b"\1" * (end - start)
        return self.text[start:end]

    def is_free(self, start: int, end: int) -> bool:
        return not any(self._taken[start:end])

    def first_free(self, start: int, end: int) -> int:
        """Where the first unclaimed word of ``text[start:end]`` begins; ``end`` if none does."""
        free = (at for at in range(start, end) if not self._taken[at])
        return next((at for at in free if not self.text[at].isspace()), end)

    def last_free(self, start: int, end: int) -> int:
        """Where the last unclaimed word of ``text[start:end]`` ends; ``start`` if none does."""
        free = (at for at in range(end - 1, start - 1, -1) if not self._taken[at])
        return next((at + 1 for at in free if not self.text[at].isspace()), start)

    def matches(
        self, pattern: re.Pattern[str], start: int = 0, end: int | None = None
    ) -> Iterator[re.Match[str]]:
        """Matches in ``text[start:end]`` that touch no claimed character."""
        at, stop = start, len(self.text) if end is None else end
        while match := pattern.search(self.text, at, stop):
            first, last = match.span()
            if first == last:
                at = last + 1
            elif self.is_free(first, last):
                yield match
                at = last
            else:  # behind the claimed words another match may begin
                taken = self._taken.find(1, first, last)
                free = self._taken.find(0, taken, last)
                at = free if free > first else last

    def claim_all(
        self, pattern: re.Pattern[str], start: int = 0, end: int | None = None
    ) -> list[str]:
        """Claims every free match; returns their texts."""
        found = self.matches(pattern, start, end)
        return [self.claim(match.start(), match.end()) for match in found]

    def block(
        self, pattern: re.Pattern[str], reason: str, start: int = 0, end: int | None = None
    ) -> None:
        """Claims every free match as words that matter and cannot be followed."""
        found = self.claim_all(pattern, start, end)
        self.blocked += [Unused(text.strip(), reason) for text in found]

    def before(self, start: int, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """A free match of ``pattern`` that ends at ``start``."""
        match = pattern.search(self.text[:start])
        return match if match and self.is_free(match.start(), start) else None

    def claim_before(self, start: int, pattern: re.Pattern[str]) -> int:
        """Claims what ``pattern`` finds to the left; returns where the claim begins."""
        match = self.before(start, pattern)
        if match is None:
            return start
        self.claim(match.start(), start)
        return match.start()

    def segments(self, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """Runs of unclaimed characters."""
        runs, at = [], start
        stop = len(self.text) if end is None else end
        while at < stop:
            upto = at
            while upto < stop and self._taken[upto] == self._taken[at]:
                upto += 1
            if not self._taken[at]:
                runs.append((at, upto))
            at = upto
        return runs

"""The state of one question while it is understood: its draft, and what was found where.

Recognisers add pieces; ``clauses`` takes them out of a stretch of the text, so that each piece
ends in exactly one set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from photocraft_local.agent.planner.draft import Draft, Unused
from photocraft_local.agent.planner.mentions import Piece
from photocraft_local.agent.planner.plan import Pick
from photocraft_local.timelang import USUAL, Habits


@dataclass
class Sheet:
    """``pictures`` are ids of pictures that came with the question."""

    draft: Draft
    today: date
    pictures: tuple[str, ...] = ()
    habits: Habits = USUAL
    cameras: tuple[str, ...] = ()  # of the library
    pieces: list[Piece] = field(default_factory=list)
    picks: list[tuple[int, int, Pick]] = field(default_factory=list)  # where their words stand
    units: list[re.Match[str]] = field(default_factory=list)  # "on the first day", of the rest
    excepts: list[tuple[int, int]] = field(default_factory=list)  # stretches that are left out
    likes: list[int] = field(default_factory=list)  # where the text speaks of the pictures
    unlikes: list[int] = field(default_factory=list)  # the same, of what is left out
    places_again: list[tuple[int, str]] = field(default_factory=list)  # "here before": where, words
    breaks: list[int] = field(default_factory=list)  # where other words for what is seen begin
    notes: list[str] = field(default_factory=list)

    def within(self, start: int, end: int) -> Iterator[Piece]:
        """Pieces of ``text[start:end]``, in the text's order."""
        found = (piece for piece in self.pieces if start <= piece.start and piece.end <= end)
        yield from sorted(found, key=lambda piece: piece.start)

    def take(self, start: int, end: int) -> list[Piece]:
        """The same, and they are gone from the sheet."""
        taken = list(self.within(start, end))
        self.pieces = [piece for piece in self.pieces if piece not in taken]
        return taken

    def block(self, start: int, end: int, reason: str) -> None:
        """Words that matter and cannot be followed."""
        said = self.draft.claim(start, end).strip()
        self.draft.blocked.append(Unused(said, reason))

    def set_aside(self, start: int, end: int, reason: str) -> None:
        """Words without effect on the set."""
        said = self.draft.claim(start, end).strip()
        self.draft.unused.append(Unused(said, reason))

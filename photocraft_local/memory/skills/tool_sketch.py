"""Hints for a new question from episodes that went well. Directions only, never an answer.

``ToolSketchHints`` is the simple version: the order of tools of the most alike accepted
episode. It quotes no word, id or count of that episode.
"""

from __future__ import annotations

from typing import Protocol

from photocraft_local.memory.recall import likeness
from photocraft_local.memory.store import MemoryStore

_FLOOR = 0.5  # share of words in common; below it a hint misleads more than it helps


class SkillHints(Protocol):
    def for_question(self, question: str) -> tuple[str, ...]:
        """At most three short hints, best first; none is a good answer too."""
        ...


class NoHints:
    """Memory is off."""

    def for_question(self, question: str) -> tuple[str, ...]:
        return ()


class ToolSketchHints:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def for_question(self, question: str) -> tuple[str, ...]:
        good = [record for record in self._store.list() if record.accepted]
        best = max(good, key=lambda record: likeness(question, record.question), default=None)
        if best is None or likeness(question, best.question) < _FLOOR:
            return ()
        return (f"A question worded alike was answered by: {', then '.join(best.tools)}.",)

"""What is seen, from the words that nobody claimed."""

from __future__ import annotations

from photocraft_local.agent.planner.looks import phrase
from photocraft_local.agent.planner.plan import Look
from photocraft_local.agent.planner.understand.sheet import Sheet


def looks_in(sheet: Sheet, start: int, end: int) -> tuple[Look, ...]:
    """The unclaimed words of ``text[start:end]``."""
    segments = sheet.draft.segments(start, end)
    parts = [phrase(sheet.draft.text[left:right]) for left, right in segments]
    text = " ".join(part for part in parts if part)
    return (Look((text,)),) if text else ()

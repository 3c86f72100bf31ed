"""Questions told like a memory: "Find the moments when I was …", "I was … It was a Monday."

Claims the words that only frame such a story, and blocks what it tells of an order of deeds that
photos do not show. Comes before the heads, which would read "when" and "after work" as relations.
"""

from __future__ import annotations

from photocraft_local.agent.planner.understand.phrases import phrases
from photocraft_local.agent.planner.understand.sheet import Sheet


def claim_story(sheet: Sheet) -> None:
    """Claims and blocks by ``data/topics.tsv``."""
    for phrase in phrases("topics"):
        effect, reason = phrase.cells
        for match in list(sheet.draft.matches(phrase.pattern)):
            if effect == "frame":
                sheet.draft.claim(match.start(), match.end())
            else:
                sheet.block(match.start(), match.end(), reason)

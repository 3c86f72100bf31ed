"""Questions that are refused before they are read: empty, too long, of a form or in a language
that is not answered. Each with what would be."""

from __future__ import annotations

from photocraft_local.agent.planner.understand.phrases import phrases
from photocraft_local.errors import QuestionNotUnderstood

LONGEST = 1000  # characters; also the longest text that a tool takes
EXAMPLES = (
    "ask for photos by what they show, when, where or with which camera, e.g. 'dog on a beach in "
    "Lisbon in June 2021', 'photos without people from last summer', 'how many photos of cats'"
)


def check_form(text: str) -> None:
    """Raises QuestionNotUnderstood."""
    if not text:
        raise QuestionNotUnderstood("the question is empty", hint=EXAMPLES)
    if len(text) > LONGEST:
        raise QuestionNotUnderstood(
            f"the question has {len(text)} characters; at most {LONGEST} are read",
            hint="say it in one or two sentences",
        )
    for phrase in phrases("refused"):
        if match := phrase.pattern.search(text):
            raise QuestionNotUnderstood(
                f"this form of question is not answered: {phrase.cells[0]} "
                f"({match.group().strip()!r})",
                hint=EXAMPLES,
            )

"""Hints that are not the ones that a question should get: of other shapes, or turned wrong.

What they do to a controller that follows hints shows that it is the hints that work. Given to
questions that the memory never saw, with nothing learned on the way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from _made_questions import Question

from photocraft_local.memory.skills.hints import Hint, NoHints, SkillHints

# What a call says → another thing that it could say.
_TURNED = {
    "shift=+": "shift=-",
    "shift=-": "shift=+",
    "unit=trip": "unit=month",
    "apart=year": "apart=day",
    "after)": "before)",
    "before)": "after)",
    "order=first": "order=last",
    "op=or": "op=and",
    "op=minus": "op=and",
    "not_text": "any_text",
    "any_text": "text, not_text",
    "where=city": "where=camera",
}
_ANY = re.compile("|".join(re.escape(words) for words in _TURNED))


@dataclass(frozen=True)
class Shuffled:
    """Each question gets the hints of a question of another shape."""

    hints: SkillHints
    other: dict[str, str]

    @classmethod
    def of(cls, hints: SkillHints, questions: Sequence[Question]) -> Shuffled:
        """The nearest question behind it that has another shape, once around."""
        around = [*questions, *questions]
        other = {
            one.text: next(two.text for two in around[at + 1 :] if two.shape != one.shape)
            for at, one in enumerate(questions)
        }
        return cls(hints, other)

    def for_question(self, question: str) -> tuple[Hint, ...]:
        return self.hints.for_question(self.other[question])


@dataclass(frozen=True)
class Turned:
    """The right hints, but that each way says the contrary or another thing."""

    hints: SkillHints

    def for_question(self, question: str) -> tuple[Hint, ...]:
        return tuple(
            replace(hint, text=_ANY.sub(lambda found: _TURNED[found[0]], hint.text))
            for hint in self.hints.for_question(question)
        )


def controls(hints: SkillHints, questions: Sequence[Question]) -> dict[str, SkillHints]:
    return {
        "no hints": NoHints(),
        "learned hints": hints,
        "shuffled hints": Shuffled.of(hints, questions),
        "wrong hints": Turned(hints),
    }

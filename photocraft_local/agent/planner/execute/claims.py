"""What an answer has to prove: the conditions that submit_answer checks for each photo.

Knows plans and the form of a claim, not how a set was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from photocraft_local.agent.planner.conditions import Condition
from photocraft_local.agent.planner.plan import Look
from photocraft_local.records import Json

WHOLE_LIBRARY: dict[str, Json] = {"constraint": "a photo of the library", "where": "width > 0"}
MOST = 64  # claims that one answer may have
_LONGEST = 480  # characters of a constraint in words


def claim(words: str, **checks: Any) -> dict[str, Json]:
    shown = words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
    return {"constraint": shown, **checks}


def of_condition(condition: Condition) -> dict[str, Json]:
    if condition.when:
        return claim(condition.words, when=condition.when)
    return claim(condition.words, where=condition.where)


def looks_for(look: Look) -> dict[str, Json]:
    """The arguments that search for it: one text, or any one of several."""
    if len(look.texts) == 1:
        return {"text": look.texts[0]}
    return {"any_text": list(look.texts)}


def of_look(look: Look) -> dict[str, Json]:
    return claim(f"looks like {look}", **looks_for(look))


def of_not_look(text: str) -> dict[str, Json]:
    return claim(f"does not look like '{text}'", not_text=[text])


@dataclass
class Report:
    """What is gathered while a set is found: claims in the plan's order, remarks for the answer,
    unwanted looks that no photo has."""

    claims: list[dict[str, Json]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    none_left_out: list[str] = field(default_factory=list)

    def narrowed(self, name: str) -> Report:
        """The same about those photos only that are in the set ``name``."""
        claims = [one if "about" in one else {**one, "about": name} for one in self.claims]
        return replace(self, claims=claims)

    def add(self, other: Report) -> None:
        self.claims += other.claims
        self.notes += other.notes
        self.none_left_out += other.none_left_out

    def said(self) -> Sequence[str]:
        """The remarks, each once."""
        notes = list(dict.fromkeys(self.notes))
        if self.none_left_out:
            looks = " or ".join(f"'{look}'" for look in self.none_left_out)
            notes.append(f"none looks enough like {looks} to be left out")
        return notes

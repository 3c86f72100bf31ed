"""What a new question is given of earlier ones: a few hints, and where each came from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from photocraft_local.records import Json


@dataclass(frozen=True, slots=True)
class Hint:
    """One line for the prompt. ``skill_id`` and ``episodes`` are for the person, who sees them in
    the trace; the prompt has the text only."""

    text: str
    skill_id: str
    origin: str  # "learned", "written" or "seed"
    score: float  # likeness of the question's shape, 0…1
    episodes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Hint:
        """Raises KeyError or TypeError for anything that ``to_json`` never wrote."""
        return cls(**{**data, "episodes": tuple(data["episodes"])})


class SkillHints(Protocol):
    def for_question(self, question: str) -> tuple[Hint, ...]:
        """At most three short hints, best first; none is a good answer too."""
        ...


class NoHints:
    """Memory is off."""

    def for_question(self, question: str) -> tuple[Hint, ...]:
        return ()

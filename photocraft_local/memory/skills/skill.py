"""A skill: for what shape of question, which way of searching worked, and what to beware of.

A learned one holds words of closed lists only (``is_closed``), never those of a question. One
that a person wrote holds what the person wrote. Knows no database.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import asdict, dataclass
from typing import Any, Literal

from photocraft_local.memory.skills.masking import is_masked
from photocraft_local.memory.skills.sketch import is_sketch_line
from photocraft_local.memory.skills.tokens import estimated_tokens
from photocraft_local.memory.skills.wording import KINDS, PITFALLS
from photocraft_local.memory.text import prompt_json, shortened
from photocraft_local.records import Json

Origin = Literal["learned", "written", "seed"]
MAX_TOKENS = 150  # of a hint
_MAX_TEXT = 400  # characters of one line
MAX_LINES = 12
_ID = re.compile(r"(?:s|seed)-[a-z0-9][a-z0-9-]{0,38}")
# An id of a photo, a crop or a page's picture: with a figure, or without a vowel, so that words
# like "prefer" stay.
_UID = re.compile(r"\b[pk](?=\w*\d|[^\W\daeiouy]{5})[0-9a-z]{5,}(?:\.c\d+)?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """``when``: the shape of the questions (``masking.masked``). ``kinds``: of conditions that
    they have. ``sketch``: calls in their order. ``episodes``: where it was learned."""

    skill_id: str
    when: str
    kinds: tuple[str, ...] = ()
    sketch: tuple[str, ...] = ()
    pitfalls: tuple[str, ...] = ()
    advice: str = ""  # a person's or the package's, never learned
    origin: Origin = "learned"
    episodes: tuple[str, ...] = ()
    wins: int = 0
    losses: int = 0
    created: str = ""  # ISO 8601, UTC
    last_used: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError for what no skill can be; texts of a person come with this, too."""
        if not _ID.fullmatch(self.skill_id):
            raise ValueError(f"{self.skill_id!r} is no id of a skill")
        if self.origin not in ("learned", "written", "seed"):
            raise ValueError(f"no origin {self.origin!r}")
        if not (self.when.strip() and (self.sketch or self.advice)):
            raise ValueError("a skill needs the shape of its questions, and a way or an advice")
        texts = (self.when, self.advice, *self.kinds, *self.sketch, *self.pitfalls)
        if any(len(text) > _MAX_TEXT for text in texts):
            raise ValueError(f"a line has more than {_MAX_TEXT} characters")
        if max(len(self.kinds), len(self.sketch), len(self.pitfalls)) > MAX_LINES:
            raise ValueError(f"more than {MAX_LINES} lines of one sort")
        if min(self.wins, self.losses) < 0:
            raise ValueError("a count below zero")

    @property
    def retired(self) -> bool:
        """It loses: of four uses or more, clearly most brought no accepted answer."""
        uses = self.wins + self.losses
        return uses >= 4 and (self.wins + 1) / (uses + 2) < 0.4

    def hint(self) -> str:
        """One line for a prompt, of at most MAX_TOKENS; what does not fit is left out, the way
        last of all. Names no photo: the answer of an earlier question is none of another one."""
        parts = [f"For questions like {self.when!r}:"]
        if self.advice:
            parts.append(self.advice)
        if self.sketch:
            parts.append("Way: " + "; ".join(self.sketch) + ".")
        parts += [f"Beware: {text}." for text in self.pitfalls]
        parts = [_UID.sub("(a photo)", part) for part in parts]
        parts = [prompt_json(part)[1:-1] for part in parts]  # a person's text closes no message
        while len(parts) > 2 and estimated_tokens(" ".join(parts)) > MAX_TOKENS:
            parts.pop()
        text = " ".join(" ".join(parts).split())
        while estimated_tokens(text) > MAX_TOKENS:
            text = shortened(text, len(text) * 9 // 10)
        return text

    def to_json(self) -> dict[str, Json]:
        return {**asdict(self), "retired": self.retired}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Skill:
        """Raises KeyError, TypeError or ValueError for anything that is no skill."""
        given = {key: value for key, value in data.items() if key != "retired"}
        for key in ("kinds", "sketch", "pitfalls", "episodes"):
            lines = given.get(key, ())
            if isinstance(lines, str) or not all(isinstance(line, str) for line in lines):
                raise ValueError(f"{key} are no texts")
            given[key] = tuple(lines)
        for key in ("skill_id", "when", "advice", "origin", "created", "last_used"):
            if not isinstance(given.get(key, ""), str):
                raise ValueError(f"{key} is no text")
        for key in ("wins", "losses"):
            if type(given.get(key, 0)) is not int:
                raise ValueError(f"{key} is no number")
        return cls(**given)


def new_skill_id() -> str:
    return f"s-{secrets.token_hex(4)}"


def is_closed(skill: Skill) -> bool:
    """Whether nothing but words of the closed lists stands in it; ids of episodes aside, which
    no hint holds."""
    return (
        not skill.advice
        and is_masked(skill.when)
        and set(skill.kinds) <= set(KINDS)
        and all(map(is_sketch_line, skill.sketch))
        and set(skill.pitfalls) <= set(PITFALLS.values())
    )

"""What goes into a check of photos by a model's own eyes, and what comes out of it.

Plain data, the same whatever judges. Knows no photo and no model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from photocraft_local.imaging.pictures import Pixels
from photocraft_local.records import Usage


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be seen, in words; or, ``negated``, what must not."""

    text: str
    negated: bool = False

    def words(self) -> str:
        return f"not to be seen: {self.text}" if self.negated else self.text


@dataclass(frozen=True, slots=True)
class Left:
    """What a check may take: ``tokens`` that no cache holds, None for any number, and what
    ``seconds`` gives at a time."""

    tokens: int | None = None
    seconds: Callable[[], float] = lambda: math.inf

    def less(self, spent: Usage) -> Left:
        """After a check that took so much."""
        if self.tokens is None:
            return self
        return replace(self, tokens=max(0, self.tokens - spent.fresh))


ANY = Left()


@dataclass(frozen=True, slots=True)
class Subject:
    """A picture to be looked at; ``load`` gives its upright pixels or raises PhotoError."""

    uid: str
    load: Callable[[], Pixels]


@dataclass(frozen=True, slots=True)
class SetCheck:
    """The set as a whole: which UIDs were said not to belong, and why in the model's words.

    ``error`` says why there was no check, "" if there was one; it took ``parts`` prompts.
    """

    strays: tuple[str, ...] = ()
    why: str = ""
    parts: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """UID → calibrated probability of yes, three decimals, in the order asked.

    ``failed``: UID → why a photo has none. ``bias`` is what calibration took off the log-odds.
    """

    probabilities: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    bias: float = 0.0
    whole: SetCheck = SetCheck()
    usage: Usage = Usage()

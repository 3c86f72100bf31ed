"""How a person counts seasons and weeks, as far as words for time depend on it.

Knows nothing of the words themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from photocraft_local.settings import HEMISPHERES, WEEKDAYS

Hemisphere = Literal["north", "south"]


@dataclass(frozen=True, slots=True)
class Habits:
    """Seasons follow ``hemisphere``; weeks begin on ``first_weekday`` (Monday 0 … Sunday 6)."""

    hemisphere: Hemisphere = "north"
    first_weekday: int = 0

    @classmethod
    def named(cls, hemisphere: str, weekday: str) -> Habits:
        """From the words of the settings, e.g. "south" and "sunday". Raises ValueError for a
        word that is neither."""
        if hemisphere not in HEMISPHERES:
            raise ValueError(f"no hemisphere: {hemisphere!r}")
        return cls("south" if hemisphere == "south" else "north", WEEKDAYS.index(weekday))

    @property
    def weekday(self) -> str:
        """The weekday's name, e.g. "monday"."""
        return WEEKDAYS[self.first_weekday]


USUAL = Habits()

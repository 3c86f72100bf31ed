"""A time beside an event that the text names, as data: where the words stand, what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from photocraft_local.timelang.when import When

Unit = Literal["minute", "hour", "day", "weekend", "week", "month", "year", "moment"]
Side = Literal["at", "before", "after", "around", "since", "until"]
Which = Literal["", "first", "last"]

SIZES = {
    "minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1),
    "weekend": timedelta(days=2), "week": timedelta(days=7), "month": timedelta(days=30),
    "year": timedelta(days=365), "decade": timedelta(days=3650), "century": timedelta(days=36500),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnchoredTime:
    """A time beside an event. ``text[start:end]`` are the head words ("the day after").

    The event's words are ``text[anchor_start:anchor_end]``; that end is where the clause ends, so
    later conditions of a question may lie inside. They come before the head in Chinese. Behind
    ``anchor_end`` up to ``stop`` stand words of the head again ("als wir in Siena *ankamen*").

    The time is the event's ``unit`` moved by ``shift`` (``side`` "at"), or lies on ``side`` of the
    event, at most ``within`` away if that is set. ``which``: the event's first or last such unit
    ("our last day in …", "the day we left …"). ``hours``: a part of that day, which for a night
    begins on that day, or a weekday ("the Monday after …", at most a week away). ``sure`` is
    false where the words behind may as well be a thing ("before the house").
    """

    start: int
    end: int
    anchor_start: int
    anchor_end: int
    stop: int
    text: str
    unit: Unit
    side: Side
    shift: int = 0
    within: timedelta | None = None
    which: Which = ""
    hours: When | None = None
    sure: bool = True

    @property
    def meaning(self) -> str:
        """In words, to be followed by the event: "the day after"."""
        part = f"{self.hours.meaning} of " if self.hours else ""
        which = f"the {self.which} " if self.which else "the "
        if self.hours and self.hours.weekdays:
            return f"the {self.hours.meaning} {self.side}"
        if self.within is not None:
            said = f"{part}at most {_amount(self.within)} {_BOUNDED[self.side]} {self.which}"
            return said.rstrip()
        if self.unit == "moment":
            return f"{_BOUNDED[self.side]} {self.which and which}".strip()
        if not self.shift:
            return f"{part}{which}{self.unit} of"
        way, count = ("after" if self.shift > 0 else "before"), abs(self.shift)
        if self.which:
            return f"{part}{count} {self.unit}{'s' * (count > 1)} {way} {which}{self.unit} of"
        return f"{part}{f'the {self.unit}' if count == 1 else f'{count} {self.unit}s'} {way}"


_BOUNDED = {
    "at": "during", "before": "before", "after": "after", "around": "around",
    "since": "from the beginning of", "until": "until the end of",
}  # fmt: skip


def _amount(span: timedelta) -> str:
    for name in ("day", "hour", "minute"):
        count, rest = divmod(span, SIZES[name])
        if count and not rest:
            return f"{count} {name}{'s' * (count > 1)}"
    return str(span)

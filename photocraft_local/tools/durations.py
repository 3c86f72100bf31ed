"""Words for a stretch of time before or after a photo: "90 minutes", "2d", "same day".

Wall-clock arithmetic on naive local times; knows nothing of photos.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from photocraft_local.errors import TimeWordsError

Side = Literal["before", "after"]

_UNITS = {
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days"), timedelta(days=1)),
    **dict.fromkeys(("w", "week", "weeks"), timedelta(weeks=1)),
}
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)")
_LONGEST = timedelta(days=36_525)
_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)
FORMS = "'30m', '1h', '1h 30m', '2d', '1w', 'same day', 'next day' or 'previous day'"


@dataclass(frozen=True, slots=True)
class Window:
    """Half-open in effect: ``start <= time < end``."""

    start: datetime
    end: datetime


def window(words: str, anchor: datetime, side: Side) -> Window:
    """The stretch that ``words`` mean on one side of ``anchor``, to the second, ends included.

    "same day", "next day" and "previous day" are whole calendar days. TimeWordsError for
    other words, and for "next day" asked for before (or "previous day" after) the anchor.
    """
    shift = _calendar_shift(words, side)
    if shift is not None:
        midnight = _moved(datetime(anchor.year, anchor.month, anchor.day), shift)
        return Window(midnight, _moved(midnight, _DAY))
    length = duration(words)
    instant = anchor.replace(microsecond=0)
    if side == "before":
        return Window(_moved(instant, -length), _moved(instant, _SECOND))
    return Window(instant, _moved(instant, length + _SECOND))


def duration(words: str) -> timedelta:
    """ "1h 30m" → 90 minutes. TimeWordsError lists the forms that are understood."""
    text = words.strip().lower()
    length, end = timedelta(), 0
    while match := _PART.match(text, end):
        unit = _UNITS.get(match[2])
        if unit is None or float(match[1]) > 1_000_000:
            raise _not_understood(words)
        length += float(match[1]) * unit
        end = match.end()
    if end == 0 or text[end:].strip() or not timedelta() < length <= _LONGEST:
        raise _not_understood(words)
    return length


def _moved(moment: datetime, by: timedelta) -> datetime:
    """``moment + by``, held inside the calendar."""
    try:
        return moment + by
    except OverflowError:
        return datetime.min if by < timedelta() else datetime.max


def _calendar_shift(words: str, side: Side) -> timedelta | None:
    text = " ".join(words.lower().replace("_", " ").replace("-", " ").split())
    if text == "same day":
        return timedelta()
    shifts = {"next day": _DAY, "previous day": -_DAY}
    if text not in shifts:
        return None
    if (text == "next day") != (side == "after"):
        other = "after" if side == "before" else "before"
        raise TimeWordsError(
            f"{text!r} cannot lie {side} a photo", hint=f"give it as the argument {other!r}"
        )
    return shifts[text]


def _not_understood(words: str) -> TimeWordsError:
    return TimeWordsError(f"{words!r} is no length of time", hint=f"give {FORMS}")

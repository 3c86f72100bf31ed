"""Words for a stretch of time before or after a photo: "90 minutes", "2d", "same day".

Wall-clock arithmetic on naive local times; knows nothing of photos.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import TimeWordsError

Side = Literal["before", "after"]

_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), timedelta(seconds=1)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days"), timedelta(days=1)),
    **dict.fromkeys(("w", "week", "weeks"), timedelta(weeks=1)),
}
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)")
_LONGEST = timedelta(days=36_525)
_DAY_SECONDS = 86_400
_ENDLESS = 2**40  # seconds: longer than any calendar
FORMS = "'30m', '1h', '1h 30m', '2d', '1w', 'same day', 'next day', 'previous day' or 'any time'"


@dataclass(frozen=True, slots=True)
class Window:
    """``low <= time - origin < high`` in seconds, where the origin is the given instant or, for
    whole days, its midnight."""

    low: int
    high: int
    whole_days: bool = False

    def origin(self, seconds: NDArray[np.int64]) -> NDArray[np.int64]:
        return seconds // _DAY_SECONDS * _DAY_SECONDS if self.whole_days else seconds


def in_time(words: str, side: Side, *, own: bool) -> Window:
    """The stretch that ``words`` mean on one side of an instant, its far end included; the
    instant itself only if ``own``.

    "same day", "next day" and "previous day" are whole calendar days, "any time" has no end.
    TimeWordsError for other words, and for "next day" asked for before (or "previous day"
    after) the instant.
    """
    days = _calendar_shift(words, side)
    if days is not None:
        return Window(days * _DAY_SECONDS, (days + 1) * _DAY_SECONDS, whole_days=True)
    if " ".join(words.lower().split()) in ("any time", "anytime"):
        length = _ENDLESS
    else:
        length = int(duration(words).total_seconds())
    if side == "before":
        return Window(-length, 1 if own else 0)
    return Window(0 if own else 1, length + 1)


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


def _calendar_shift(words: str, side: Side) -> int | None:
    """Days from the instant's own, if the words name a whole day."""
    text = " ".join(words.lower().replace("_", " ").replace("-", " ").split())
    if text == "same day":
        return 0
    shifts = {"next day": 1, "previous day": -1}
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

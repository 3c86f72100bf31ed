"""Text → date and time as cameras, editors and file names write them.

Owns the accepted spellings and the dates that mean "the clock was never set". Knows nothing of
fields, their order or files.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

_STAMP: Final = re.compile(
    r"(\d{4})[:\-/. ] ?(\d{1,2})[:\-/. ] ?(\d{1,2})"  # some cameras pad with blanks
    r"(?:[T:, ]+(\d{1,2})[:.] ?(\d{1,2})(?:[:.] ?(\d{1,2})(?:[.,](\d+))?)?"
    r"\s*([AP]M)?\s*(Z|UTC|GMT|[+\-−]\s?\d{1,2}:?(?:\d{2})?)?)?",
    re.IGNORECASE,
)
_OFFSET: Final = re.compile(r"([+\-−])\s?(\d{1,2}):?(\d{2})?")
_FIRST_PHOTO_YEAR: Final = 1826
_LAST_YEAR: Final = 9000  # leaves room for any sum with an offset
_NEVER_SET: Final = frozenset([datetime(1970, 1, 1), datetime(1904, 1, 1)])
# Clocks that start anew after the battery was out; people also write round years for scans, so
# these count when nothing better is there.
_FACTORY: Final = frozenset([datetime(1980, 1, 1), datetime(2000, 1, 1), datetime(2002, 12, 8, 12)])

_NAME_STAMP: Final = re.compile(
    rb"(?<!\d)((?:19|20)\d\d)([-_.: ]?)(0[1-9]|1[0-2])\2([0-3]\d)"
    rb"(?:(?:(?:[-_T., ]|\s*(?:at|um|\xc3\xa0|a las)\s*){1,3}|(?<=\d{8})(?=\d{6}(?:\d{3})?(?!\d)))"
    rb"([0-2]\d|\d(?=[.:]))([-_.:h ]?)([0-5]\d)(?:\6([0-5]\d)(\d{3})?)?"
    rb"(?:(?:\s|\xe2\x80\xaf|\xc2\xa0)*([AaPp])\.?[Mm])?)?(?!\d)"
)


class Moment(NamedTuple):
    """A wall clock and its UTC offset in minutes where the text states one."""

    local: datetime
    offset_minutes: int | None = None
    day_only: bool = False
    factory: bool = False  # what a clock that was never set would write


def parse_stamp(stamp: str, *, fraction: str = "", offset: str = "") -> Moment | None:
    """A date-time such as ``2025:01:14 18:31:30+0000`` or ``2015-06-29T18:19:12+01:00``.

    ``fraction`` (SubSecTime) and ``offset`` (OffsetTime) are the fields beside it; what stands
    in the text itself wins. None for blanks, zeros and dates that do not exist.
    """
    moment = _common(stamp) or _loose(stamp)
    if moment is None or moment.day_only or not (fraction or offset):
        return moment
    local = moment.local
    if fraction.isdecimal() and not local.microsecond:
        local = local.replace(microsecond=int(f"{fraction:0<6.6}"))
    if moment.offset_minutes is not None:
        return moment._replace(local=local)
    return _zoned(moment._replace(local=local), parse_offset(offset))


def parse_day(stamp: str) -> datetime | None:
    """Midnight of a day such as ``2018:07:25`` (GPSDateStamp); None if there is no such day."""
    moment = _common(stamp + " 00:00:00") or _loose(stamp)
    return moment and moment.local.replace(hour=0, minute=0, second=0, microsecond=0)


def parse_offset(words: str) -> int | None:
    """``+02:00``, ``-0430``, ``Z`` → minutes; None for blanks and impossible values."""
    words = words.strip().upper()
    if words in ("Z", "UTC", "GMT"):
        return 0
    match = _OFFSET.fullmatch(words)
    if not match:
        return None
    minutes = int(match[2]) * 60 + int(match[3] or 0)
    if minutes > 14 * 60 or int(match[3] or 0) > 59:
        return None
    return -minutes if match[1] in ("-", "−") else minutes


def parse_name(name: bytes, *, latest: Callable[[], datetime]) -> Moment | None:
    """The time in a file's name: ``IMG_20210614_103100``, ``2021-06-14 10.31.00``,
    ``IMG-20210614-WA0001`` (day only). Years before 1990 and times after ``latest()`` are
    numbers that only look like dates."""
    for match in _NAME_STAMP.finditer(name):
        year, _, month, day, hour, _, minute, second, millis, half = match.groups()
        clock = (int(hour), int(minute), int(second or 0)) if hour else None
        if clock and half:
            clock = (clock[0] % 12 + (12 if half in b"Pp" else 0), *clock[1:])
        moment = _moment(int(year), int(month), int(day), *(clock or ()))
        if moment and moment.local.year >= 1990 and moment.local <= latest():
            extra = timedelta(milliseconds=int(millis or 0))
            return Moment(moment.local + extra, day_only=clock is None, factory=moment.factory)
    return None


def _common(stamp: str) -> Moment | None:
    """``2021:06:14 10:31:00``, which nearly all cameras write, without a regular expression."""
    if len(stamp) != 19 or stamp[4] != ":" or stamp[7] != ":" or stamp[16] != ":":
        return None
    try:
        return _sound(datetime.fromisoformat(stamp.replace(":", "-", 2)))
    except ValueError:
        return None


def _loose(stamp: str) -> Moment | None:
    match = _STAMP.match(stamp.strip())
    if not match:
        return None
    year, month, day, hour, minute, second, fraction, half, offset = match.groups()
    if hour is None:
        moment = _moment(int(year), int(month), int(day))
        return moment and Moment(moment.local, day_only=True, factory=moment.factory)
    hours = int(hour)
    if half and 1 <= hours <= 12:
        hours = hours % 12 + (12 if half in "Pp" or half.upper() == "PM" else 0)
    moment = _moment(int(year), int(month), int(day), hours, int(minute), int(second or 0))
    if moment is None:
        return None
    local = moment.local.replace(microsecond=int(f"{fraction or '0':0<6.6}"))
    return _zoned(moment._replace(local=local), parse_offset(offset) if offset else None)


def _moment(
    year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0
) -> Moment | None:
    try:
        return _sound(datetime(year, month, day, hour, minute, 59 if second == 60 else second))
    except ValueError:
        return None


def _zoned(moment: Moment, offset: int | None) -> Moment | None:
    """The moment with its offset, unless it is a clock's zero told in another zone."""
    if offset and moment.local - timedelta(minutes=offset) in _NEVER_SET:
        return None
    return moment._replace(offset_minutes=offset)


def _sound(local: datetime) -> Moment | None:
    """The moment, unless no photo can be from then."""
    if not _FIRST_PHOTO_YEAR <= local.year <= _LAST_YEAR or local in _NEVER_SET:
        return None
    return Moment(local, None, False, local in _FACTORY)

"""Date literals of the filter language: text → half-open interval of wall-clock seconds.

"2021" is a year, "2021-06" a month, "2021-06-14" a day, "2021-06-14T10:31" a minute and
"2021-06-14T10:31:05" a second. Seconds count from 1970-01-01T00:00 on the wall clock where the
photo was taken; there are no zones here.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

from photocraft_local.search.expression.context import Context
from photocraft_local.search.expression.errors import Mistake

DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_LITERAL = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?)"
    r"(?:[T ](?P<hour>\d\d?)(?::(?P<minute>\d\d)(?::(?P<second>\d\d))?)?)?)?)?",
    re.ASCII,
)
_ZONE = re.compile(r"(?:Z|[+-]\d\d:?(?:\d\d)?)$")
_HINT = 'write "2021", "2021-06", "2021-06-14" or "2021-06-14T10:31"'


def day_start(year: int, month: int, day: int) -> int:
    """Seconds at which a date begins; the year may run past 1 … 9999 by any amount."""
    if not 1 <= year <= 9999:
        return (-1 if year < 1 else 1) * 10**15
    return (date(year, month, day).toordinal() - _EPOCH) * DAY


def year_interval(year: int) -> tuple[int, int]:
    return day_start(year, 1, 1), day_start(year + 1, 1, 1)


def literal_interval(text: str, context: Context, days_only: bool) -> tuple[int, int]:
    """The seconds that a date literal spans. Raises Mistake."""
    # A whole day is by far the most common literal; the general way takes 2 µs more.
    if len(text) == 10 and text[4] == "-" == text[7]:
        try:
            start = (date.fromisoformat(text).toordinal() - _EPOCH) * DAY
        except ValueError:
            pass
        else:
            return start, start + DAY
    if len(text) == 16 and text[13] == ":" and text[10] == "T" and not days_only:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            minute = moment.hour * 3600 + moment.minute * 60
            start = (moment.toordinal() - _EPOCH) * DAY + minute
            return start, start + 60
    return _general(text, context.today, days_only)


def _general(text: str, today: date, days_only: bool) -> tuple[int, int]:
    word = text.strip().casefold()
    offset = {"yesterday": -1, "today": 0, "tomorrow": 1}.get(word)
    if offset is not None:
        start = ((today + timedelta(days=offset)).toordinal() - _EPOCH) * DAY
        return start, start + DAY
    match = _LITERAL.fullmatch(text.strip())
    if match is None:
        raise _not_a_date(text)
    parts = [None if part is None else int(part) for part in match.groups()]
    year, month, day, hour, minute, second = parts
    if year is None or year < 1:
        raise Mistake(f"{text!r} is not a date: there is no year 0", _HINT)
    if month is None:
        return year_interval(year)
    if not 1 <= month <= 12:
        raise Mistake(f"{text!r} is not a date: months go from 01 to 12", _HINT)
    days = monthrange(year, month)[1]
    start = day_start(year, month, 1)
    if day is None:
        return start, start + days * DAY
    if not 1 <= day <= days:
        name = date(year, month, 1).strftime("%B %Y")
        raise Mistake(f"{text!r} is not a date: {name} has {days} days", _HINT)
    start += (day - 1) * DAY
    if hour is None:
        return start, start + DAY
    if days_only:
        raise Mistake(f"a date has no time of day: {text!r}", "compare the field time instead")
    if hour > 23 or (minute or 0) > 59 or (second or 0) > 59:
        raise Mistake(f"{text!r} is not a time of day", "times go from 00:00:00 to 23:59:59")
    start += hour * 3600 + (minute or 0) * 60 + (second or 0)
    return start, start + (3600 if minute is None else 60 if second is None else 1)


_CLOCK = re.compile(r"(?P<hour>\d\d?)(?::(?P<minute>\d\d))?", re.ASCII)


def clock_interval(text: str) -> tuple[int, int]:
    """The minutes of the day that "18:30" or "18" spans; "24:00" is the end of the day."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        raise Mistake(f"{text!r} is not a time of day", 'write "18:30" or "18"')
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if minute > 59 or hour * 60 + minute > 24 * 60:
        raise Mistake(f"{text!r} is not a time of day", "times go from 00:00 to 24:00")
    start = hour * 60 + minute
    return start, start + (1 if match["minute"] else 60)


def clock_text(minute: int) -> str:
    """The literal of a minute of the day."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _not_a_date(text: str) -> Mistake:
    if len(text) > 10 and _ZONE.search(text[10:]):
        return Mistake(
            f"{text!r} has a time zone",
            "times are the wall clock where the photo was taken; leave the zone out",
        )
    return Mistake(f"{text!r} is not a date or time", _HINT)


def seconds_text(seconds: int) -> str:
    """The shortest literal that begins at that second."""
    days, rest = divmod(seconds, DAY)
    day = date.fromordinal(days + _EPOCH).isoformat()
    if not rest:
        return day
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}"
    return f"{day}T{clock}" + (f":{rest % 60:02d}" if rest % 60 else "")

"""Dates in digits: ISO dates and date-times, "1.6.2021", "6/14/2021", "06/2021", "20210601".

A rule as in ``dates``. What can be read in two orders is refused, never guessed.
"""

from __future__ import annotations

import re
from datetime import timedelta

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import calendar
from photocraft_local.timelang.calendar import FIRST_YEAR, LAST_YEAR
from photocraft_local.timelang.dates import century, period
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.words import Atom, Words


def numeric(words: Words, at: int) -> Atom | None:
    """ "2021-06-01T10:30", "2021-06", "2021/6/1", "1.6.2021", "6/2021", "20210601"."""
    token = words.token(at)
    if token is None or token.shape not in ("iso", "ymd", "dmy", "my", "compact"):
        return None
    numbers = [int(part) for part in re.findall(r"\d+", token.text)]
    if token.shape == "compact":
        digits = token.text
        numbers = [int(digits[:4]), int(digits[4:6]), int(digits[6:])]
        if not (1 <= numbers[1] <= 12 and 1 <= numbers[2] <= 31):
            return None  # some other number of eight digits
    if token.shape == "my":
        if words.match("notyearafter", at + 1):
            return None  # "1/2000 s"
        numbers.reverse()
    if token.shape == "dmy":
        if not _like_a_date(token.text, numbers) or words.match("notyearbefore", at - 1):
            return None
        numbers = _day_first(token.text, numbers)
    if not FIRST_YEAR <= numbers[0] <= LAST_YEAR:
        return None
    if token.shape == "iso" and len(numbers) == 2 and numbers[1] > 12:
        return _short_range(at, numbers)
    return period(at + 1, _interval(numbers, token.text))


def _short_range(at: int, numbers: list[int]) -> Atom:
    """ "2019-21" as years; "2019-13" is a slip."""
    last = numbers[0] - numbers[0] % 100 + numbers[1]
    if not numbers[0] < last <= numbers[0] + 30:
        calendar.check_day(numbers[1], 1)
    return period(at + 1, (calendar.year(numbers[0])[0], calendar.year(last)[1]))


def _like_a_date(text: str, numbers: list[int]) -> bool:
    """Not a version or a score: "2.0.21", "3-5-10". "13/13/2021" is a date, if one that does
    not exist."""
    if FIRST_YEAR <= numbers[2] <= LAST_YEAR and min(numbers[:2]) > 12:
        raise TimeWordsError(
            f"there is no date {text!r}: no month {min(numbers[:2])}", hint="write 2021-06-14"
        )
    if len(text.rpartition(text[-3])[2]) == 2 and "-" in text:
        return False
    return 1 <= numbers[0] <= 31 and 1 <= numbers[1] <= 31 and min(numbers[:2]) <= 12


def _day_first(text: str, numbers: list[int]) -> list[int]:
    first, second, year = numbers
    if year < 100:
        year = century(year)
    day_first = "." in text or first > 12 or first == second
    month_first = second > 12 and not day_first
    if not day_first and not month_first:
        options = f"{year}-{second:02d}-{first:02d} or {year}-{first:02d}-{second:02d}"
        raise TimeWordsError(
            f"{text!r} can be a day and a month in either order", hint=f"write {options}"
        )
    return [year, second, first] if day_first else [year, first, second]


def _interval(numbers: list[int], text: str) -> Interval:
    if len(numbers) == 2:
        return calendar.month(numbers[0], numbers[1])
    start, end = calendar.day(*numbers[:3])
    if len(numbers) == 3:
        return start, end
    hour, minute, second = [*numbers[3:], 0][:3]
    if hour > 23 or minute > 59 or second > 59:
        raise TimeWordsError(
            f"there is no time of day {text[11:]!r}", hint="hours go from 00:00 to 23:59"
        )
    moment = start + timedelta(hours=hour, minutes=minute, seconds=second)
    return moment, moment + timedelta(seconds=1 if len(numbers) > 5 else 60)

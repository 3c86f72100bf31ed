"""Dates in digits: ISO dates and date-times, "1.6.2021", "6/14/2021", "06/2021", "20210601".

A rule as in ``dates``. What can be read in two orders means both days, and is noted.
"""

from __future__ import annotations

import re
from datetime import timedelta

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import calendar
from photocraft_local.timelang.calendar import FIRST_YEAR, LAST_YEAR
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.when import When
from photocraft_local.timelang.wording import day_in_words
from photocraft_local.timelang.words import Atom, Words, period
from photocraft_local.timelang.years import century


def numeric(words: Words, at: int) -> Atom | None:
    """ "2021-06-01T10:30", "2021-06", "2021/6/1", "1.6.2021", "6/2021", "20210601"."""
    token = words.token(at)
    if token is None or token.shape not in ("iso", "ymd", "dmy", "dmyspaced", "my", "compact"):
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
    if token.shape in ("dmy", "dmyspaced"):
        if not _like_a_date(token.text, numbers) or words.match("notyearbefore", at - 1):
            return None
        if both := _either_order(at, token.text, numbers):
            return both
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
    if FIRST_YEAR <= numbers[2] <= LAST_YEAR and max(numbers[:2]) > 31 and "-" not in text:
        raise TimeWordsError(
            f"there is no date {text!r}: no day {max(numbers[:2])}", hint="write 2021-06-14"
        )
    if FIRST_YEAR <= numbers[2] <= LAST_YEAR and min(numbers[:2]) < 1 and "-" not in text:
        raise TimeWordsError(f"there is no date {text!r}", hint="write 2021-06-14")
    if len(text.rpartition(text[-3])[2]) == 2 and "-" in text:
        return False
    return 1 <= numbers[0] <= 31 and 1 <= numbers[1] <= 31 and min(numbers[:2]) <= 12


def _either_order(at: int, text: str, numbers: list[int]) -> Atom | None:
    """ "3/4/2021": both days, and a note that says so."""
    first, second, year = numbers
    if "." in text or first > 12 or second > 12 or first == second:
        return None
    year = century(year) if year < 100 else year
    days = (calendar.day(year, second, first), calendar.day(year, first, second))
    note = (
        f"{text} can be read in either order, {day_in_words(days[0][0])} or "
        f"{day_in_words(days[1][0])}; both are taken"
    )
    return Atom(at + 1, When(intervals=tuple(sorted(days)), notes=(note,)), "either")


def _day_first(text: str, numbers: list[int]) -> list[int]:
    first, second, year = numbers
    if year < 100:
        year = century(year)
    day_first = "." in text or second <= 12
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

"""Dates that name themselves: "3 May 2021", "May", "May 2021".

Each rule takes the words and a position and gives an ``Atom`` or None; an impossible date raises
TimeWordsError.
"""

from __future__ import annotations

import re
from datetime import datetime

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import calendar
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.when import When
from photocraft_local.timelang.wording import WEEKDAYS, day_in_words
from photocraft_local.timelang.words import Atom, Words, period
from photocraft_local.timelang.years import year_behind, year_number


def month_number(words: Words, at: int) -> tuple[int, int, bool] | None:
    """(token behind it, month, whether the word by itself is sure)."""
    for kind in ("month", "month?"):
        if found := words.match(kind, at):
            return found[0], int(found[1]), kind == "month"
    token = words.token(at)
    if token is not None and token.shape == "zhmonth":
        return at + 1, int(token.text.rstrip("份月 ")), True
    return None


def _short_month(words: Words, at: int) -> tuple[int, int] | None:
    """A month, abbreviations too: only where a number stands beside it."""
    if found := month_number(words, at):
        return found[0], found[1]
    if short := words.match("short", at):
        dot = words.key(short[0]) == "."
        return short[0] + dot, int(short[1])
    return None


def day_number(words: Words, at: int) -> tuple[int, int] | None:
    """(token behind it, day of month) of "3", "3rd", "3.", "1er", "3日", "first"."""
    if found := words.match("dayword", at):
        return found[0], int(found[1])
    token = words.token(at)
    if token is None or token.shape not in ("number", "ordinal", "zhday"):
        return None
    digits = re.findall(r"\d+", token.text)
    if not digits:
        return at + 1, _chinese_number(token.text[:-1].strip())
    if len(digits[0]) > 2:
        return None
    dot = token.shape == "number" and words.key(at + 1) == "." and words.token(at + 2) is not None
    return at + 1 + dot, int(digits[0])


def _chinese_number(text: str) -> int:
    """ "三" … "三十一"."""
    tens, ten, ones = text.rpartition("十")
    digits = str.maketrans("一二三四五六七八九", "123456789")
    number = int((ones or "0").translate(digits))
    return number + (int((tens or "一").translate(digits)) * 10 if ten else 0)


def month(words: Words, at: int) -> Atom | None:
    """ "May" of any year, "May 2021", "May of 2021", "2021 May", "2021年5月"."""
    if leading := year_number(words, at):
        found = month_number(words, leading[0])
        if found is None or words.shape(at) == "short":
            return None
        return period(found[0], calendar.month(leading[1], found[1]))
    short = _short_month(words, at)
    if short is None:
        return None
    end, number = short
    if with_year := year_behind(words, end):
        return period(with_year[0], calendar.month(with_year[1], number))
    named = month_number(words, at)
    if named is None:
        return None
    calendar.check_day(number, 1)
    return Atom(named[0], When(months=(number,)), "month", named[2])


def day(words: Words, at: int) -> Atom | None:
    """ "3 May 2021", "May 3rd, 2021", "3 May" of any year, "3-5 May 2021", "May 3-5"."""
    named = words.match("weekday", at) or words.match("shortday", at)
    start = words.skip("weekdaybehind", named[0]) if named else at
    for rule in (_day_month, _month_day, _year_month_day, _figures):
        if atom := rule(words, start):
            return _checked(words, atom, named) if named else atom
    return None


def _checked(words: Words, found: Atom, named: tuple[int, str]) -> Atom:
    """The day of a date with a weekday: "Sunday, 14 June 2020" must be one."""
    if found.kind != "period":
        return Atom(found.end, found.when & When(weekdays=(int(named[1]),)), "either")
    start, end = found.when.intervals[0]
    if end - start == calendar.DAY and start.weekday() != int(named[1]):
        raise TimeWordsError(
            f"{day_in_words(start)} was a {WEEKDAYS[start.weekday()]},"
            f" not a {WEEKDAYS[int(named[1])]}",
            hint="leave the day of the week out",
        )
    return found


def _day_month(words: Words, at: int) -> Atom | None:
    first = day_number(words, at)
    if first is None:
        return None
    last = _range_end(words, first[0])
    after = last[0] if last else first[0]
    joined = words.skip("join", after) if words.key(after) in _OF else after
    found = _short_month(words, joined) or _short_month(words, after)
    if found is None:
        return None
    return _of_year(words, found[0], found[1], first[1], last[1] if last else first[1])


_OF = {"of", ",", "de", "del", "d", "du", "des", "的"}  # "an iPhone 8 in December" is no 8th


def _figures(words: Words, at: int) -> Atom | None:
    """ "am 3.5.": only behind a German word that a date follows."""
    token = words.token(at)
    if token is None or token.shape != "daymonth" or not words.match("germandate", at - 1):
        return None
    day, month = (int(part) for part in re.findall(r"\d+", token.text))
    return _of_year(words, at + 1, month, day, day)


def _month_day(words: Words, at: int) -> Atom | None:
    found = _short_month(words, at)
    if found is None:
        return None
    start = words.skip("join", found[0]) if words.key(found[0]) in ("the", "el") else found[0]
    first = day_number(words, start)
    if first is None:
        return None
    last = _range_end(words, first[0])
    end = last[0] if last else first[0]
    return _of_year(words, end, found[1], first[1], last[1] if last else first[1])


def _year_month_day(words: Words, at: int) -> Atom | None:
    """ "2021年5月3日", "2021 May 3"."""
    leading = year_number(words, at)
    found = month_number(words, leading[0]) if leading else None
    number = day_number(words, found[0]) if found else None
    if not leading or not found or not number:
        return None
    last = _range_end(words, number[0]) or number
    start, end = (calendar.day(leading[1], found[1], day) for day in (number[1], last[1]))
    return period(last[0], ordered(start[0], end[1]))


def _range_end(words: Words, at: int) -> tuple[int, int] | None:
    """The second day of "3-5", "3 to 5", "3 and 5" (the days between are meant)."""
    if words.shape(at) == "dash":
        return day_number(words, at + 1)
    if joined := words.match("to", at):
        return day_number(words, joined[0])
    return None


def _of_year(words: Words, end: int, month: int, first: int, last: int) -> Atom | None:
    if with_year := year_behind(words, end):
        year = with_year[1]
        start, stop = calendar.day(year, month, first)[0], calendar.day(year, month, last)[1]
        return period(with_year[0], ordered(start, stop))
    calendar.check_day(month, first)
    calendar.check_day(month, last)
    return Atom(end, When(year_days=(((month, first), (month, last)),)), "days")


def ordered(start: datetime, end: datetime) -> Interval:
    if start >= end:
        raise TimeWordsError(
            f"the time from {start:%Y-%m-%d} to {end:%Y-%m-%d} ends before it begins",
            hint="name the earlier date first",
        )
    return start, end

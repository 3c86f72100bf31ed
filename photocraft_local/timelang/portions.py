"""A part of a month or year that is counted: "the first Saturday of June 2021", "the second half
of 2019", "Q3 2020", "2021年5月的第一周".

A rule as in ``dates``.
"""

from __future__ import annotations

import re
from datetime import datetime

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import calendar, dates, relative, years
from photocraft_local.timelang.calendar import DAY
from photocraft_local.timelang.numbered import inside, iso_week, numbered, week
from photocraft_local.timelang.spans import Interval, MonthDay
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words, period

_LAST = -1


def portion(words: Words, at: int) -> Atom | None:
    for rule in (_quarter, week, numbered, _half, _counted, _chinese):
        if found := rule(words, at):
            return found
    return None


def _ordinal(words: Words, at: int) -> tuple[int, int] | None:
    """(token behind it, number) of "first", "2nd", "3.", "letzten" (-1)."""
    if found := words.match("ordinal", at):
        return found[0], int(found[1])
    token = words.token(at)
    if token is not None and token.shape == "ordinal":
        return at + 1, int(re.findall(r"\d+", token.text)[0])
    found = words.match("dayword", at)
    return (found[0], int(found[1])) if found and int(found[1]) > 10 else None


def _whole(words: Words, at: int) -> Atom | None:
    """The month or year that a part is of, perhaps after "of", "in", "des"."""
    starts = [at, words.skip("join", at)]
    starts += [words.skip("join", starts[1]), words.skip("lead", starts[1])]
    for start in dict.fromkeys(starts):
        found = dates.month(words, start) or years.year(words, start)
        found = found or relative.last(words, start) or relative.this(words, start)
        found = found or relative.chinese(words, start)
        if found and found.kind in ("period", "month"):
            return found
    return None


def _counted(words: Words, at: int) -> Atom | None:
    """ "first Saturday of June 2021", "last week of May 2021", "first 3 days of 2020"."""
    nth = _ordinal(words, at)
    if nth is None:
        return None
    number = words.count(nth[0])
    noun = number[0] if number else nth[0]
    weekday, unit = words.match("weekday", noun), words.match("unit", noun)
    if not (weekday or unit):
        return None
    behind = weekday[0] if weekday else unit[0] if unit else noun
    if behind == noun + 1 and words.match("ordinal", behind) and not number:
        return None
    whole = _whole(words, behind)
    if whole is None and unit and unit[1] == "month" and nth[1] > 12 and not number:
        raise TimeWordsError(f"a year has no month {nth[1]}", hint="months go from 1 to 12")
    if whole is None:
        return None
    if weekday:
        return _weekday_of(whole, nth[1], int(weekday[1]))
    return _units_of(whole, nth[1], unit[1] if unit else "", number[1] if number else 1)


def _weekday_of(whole: Atom, nth: int, weekday: int) -> Atom | None:
    """The n-th such weekday; of a month of any year, as days of it that are that weekday."""
    if whole.kind == "month":
        month = whole.when.months[0]
        last = (calendar.month(2000, month)[1] - DAY).day
        days = (last - 6, last) if nth == _LAST else (7 * nth - 6, min(7 * nth, last))
        if days[0] > last:
            return None
        span = ((month, days[0]), (month, days[1]))
        return Atom(whole.end, When(year_days=(span,), weekdays=(weekday,)), "either")
    start, end = whole.when.intervals[0]
    if nth == _LAST:
        first = end - DAY - ((end - DAY).weekday() - weekday) % 7 * DAY
    else:
        first = start + (weekday - start.weekday()) % 7 * DAY + (nth - 1) * 7 * DAY
    return period(whole.end, inside((first, first + DAY), (start, end)))


def _units_of(whole: Atom, nth: int, unit: str, count: int) -> Atom | None:
    """The n-th day, week, weekend, month or year, or the first or last so many. A week is the
    n-th seven days."""
    if whole.kind == "month":
        days = _days_of_month(whole.when.months[0], nth, unit, count)
        return Atom(whole.end, When(year_days=(days,)), "days") if days else None
    start, end = whole.when.intervals[0]
    if unit == "weekend":
        saturday = _weekday_of(whole, nth, 5)
        first = saturday.when.intervals[0][0] if saturday else start
        return period(whole.end, (first, first + 2 * DAY))
    if unit not in ("day", "week", "month", "year") or (nth > 1 and count > 1):
        return None
    if nth == _LAST:
        return period(whole.end, inside((calendar.add(unit, end, -count), end), (start, end)))
    low = calendar.add(unit, start, nth - 1)
    found = (low, calendar.add(unit, low, count))
    if unit == "week" and low < end < found[1]:
        found = (low, end)
    return period(whole.end, inside(found, (start, end)))


def _days_of_month(month: int, nth: int, unit: str, count: int) -> tuple[MonthDay, MonthDay] | None:
    size = {"day": 1, "week": 7}.get(unit)
    last = (calendar.month(2000, month)[1] - DAY).day
    if size is None:
        return None
    low, high = (nth - 1) * size + 1, (nth - 1) * size + size * count
    if nth == _LAST:
        low, high = last - size * count + 1, last
    return ((month, low), (month, min(high, last))) if 1 <= low <= last else None


def _half(words: Words, at: int) -> Atom | None:
    """ "second half of 2019", "die erste Hälfte des Jahres 2019", "2019年下半年"."""
    found = words.match("half_of", at)
    whole = _whole(words, found[0]) if found else None
    if found is None or whole is None or whole.kind != "period":
        return None
    return period(whole.end, _half_of(whole.when.intervals[0], int(found[1])))


def _half_of(interval: Interval, number: int) -> Interval:
    start, end = interval
    if (end - start).days > 31:
        middle: datetime = calendar.add("month", start, _months(interval) // 2)
    else:
        middle = start + 15 * DAY
    return (start, middle) if number == 1 else (middle, end)


def _months(interval: Interval) -> int:
    start, end = interval
    return (end.year - start.year) * 12 + end.month - start.month


def _quarter(words: Words, at: int) -> Atom | None:
    """ "Q3 2020", "third quarter of 2020", "3. Quartal 2020"; of every year without one."""
    token = words.token(at)
    if token is not None and token.shape == "quarter":
        number, end = int(token.text[1]), at + 1
    else:
        nth = _ordinal(words, at)
        found = words.match("quarter", nth[0]) if nth else None
        if nth is None or found is None or not 1 <= nth[1] <= 4:
            return None
        number, end = nth[1], found[0]
    whole = _whole(words, end)
    if number > 4:
        if whole is None:
            return None
        raise TimeWordsError(f"there is no quarter {number}", hint="quarters go from Q1 to Q4")
    if whole and whole.kind == "period" and _months(whole.when.intervals[0]) == 12:
        return period(whole.end, _quarter_of(whole.when.intervals[0][0].year, number))
    months = tuple(range(3 * number - 2, 3 * number + 1))
    return Atom(end, When(months=months), "season", sure=False)  # "Audi Q3"


def _quarter_of(year: int, number: int) -> Interval:
    start = datetime(year, 3 * number - 2, 1)
    return start, calendar.add("month", start, 3)


def _chinese(words: Words, at: int) -> Atom | None:
    """ "2021年5月的第一周", "2019年下半年", "2020年第三季度", "2021年第23周": the whole first."""
    whole = dates.month(words, at) or years.year(words, at)
    if whole is None or words.text.isascii():
        return None
    start = words.skip("join", whole.end)
    interval = whole.when.intervals[0] if whole.kind == "period" else None
    if (half := words.match("half_of", start)) and interval:
        return period(half[0], _half_of(interval, int(half[1])))
    if (quarter := words.match("zhquarter", start)) and interval:
        return period(quarter[0], _quarter_of(interval[0].year, int(quarter[1])))
    if part := words.match("zhthird", start):
        return _third(part, interval) if interval else _third_of_month(part, whole.when.months[0])
    nth = words.match("ordinal", start)
    if nth is None and words.key(start) == "第" and words.shape(start + 1) == "number":
        named = words.match("unit", start + 2)
        if named and named[1] == "week" and interval:
            return period(named[0], iso_week(interval[0].year, int(words.tokens[start + 1].text)))
    if nth is None:
        return None
    if weekday := words.match("weekday", nth[0]):
        return _ended(_weekday_of(whole, int(nth[1]), int(weekday[1])), weekday[0])
    unit = words.match("unit", nth[0])
    return _ended(_units_of(whole, int(nth[1]), unit[1], 1), unit[0]) if unit else None


def _ended(found: Atom | None, end: int) -> Atom | None:
    return Atom(end, found.when, found.kind) if found else None


def _third_of_month(part: tuple[int, str], month: int) -> Atom:
    last = (calendar.month(2000, month)[1] - DAY).day
    low, high = {"early": (1, 10), "middle": (11, 20), "late": (21, last)}[part[1]]
    return Atom(part[0], When(year_days=(((month, low), (month, high)),)), "days")


def _third(part: tuple[int, str], interval: Interval) -> Atom:
    from_start, to_end = {"early": (0, 1), "middle": (1, 2), "late": (2, 3)}[part[1]]
    start, end = interval
    if _months(interval) == 1:
        edges = [start, start + 10 * DAY, start + 20 * DAY, end]
    else:
        size = _months(interval) // 3
        edges = [*(calendar.add("month", start, size * step) for step in range(3)), end]
    return period(part[0], (edges[from_start], edges[to_end]))

"""Calendar arithmetic: units of time around a day, seasons, occurrences of what recurs.

Knows no words. Weeks begin on Monday unless said otherwise; seasons are whole months.
"""

from __future__ import annotations

import calendar
from datetime import datetime, timedelta

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import holidays
from photocraft_local.timelang.spans import Interval, MonthDay
from photocraft_local.timelang.when import When
from photocraft_local.timelang.wording import MONTHS

DAY = timedelta(days=1)
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
FIRST_YEAR, LAST_YEAR = 1826, 2199  # the first photograph; further ahead no photo is


def day(year: int, month: int, number: int) -> Interval:
    """One day; TimeWordsError says why there is no such day."""
    check_day(month, number, year)
    start = datetime(year, month, number)
    return start, start + DAY


def check_day(month: int, number: int, year: int | None = None) -> None:
    if not 1 <= month <= 12:
        raise TimeWordsError(
            f"there is no month {month}", hint="months go from 1 to 12; write 2021-06-14"
        )
    days = calendar.monthrange(year or 2000, month)[1]
    if not 1 <= number <= days:
        name = MONTHS[month - 1] + (f" {year}" if year else "")
        raise TimeWordsError(
            f"there is no {number} {name}", hint=f"{name} has {days} days; name one of them"
        )


def month(year: int, number: int) -> Interval:
    check_day(number, 1, year)
    start = datetime(year, number, 1)
    return start, add("month", start, 1)


def year(number: int) -> Interval:
    return datetime(number, 1, 1), datetime(number + 1, 1, 1)


_MONTHS_OF = {"month": 1, "year": 12, "decade": 120, "century": 1200}


def start_of(unit: str, moment: datetime, first_weekday: int = 0) -> datetime:
    """Midnight at which the day, week, month, year, decade or century began."""
    midnight = datetime(moment.year, moment.month, moment.day)
    if unit == "week":
        return midnight - (midnight.weekday() - first_weekday) % 7 * DAY
    if unit == "month":
        return midnight.replace(day=1)
    if unit == "year":
        return midnight.replace(month=1, day=1)
    if unit in ("decade", "century"):
        years = 10 if unit == "decade" else 100
        return midnight.replace(year=moment.year - moment.year % years, month=1, day=1)
    return midnight


def add(unit: str, moment: datetime, number: int) -> datetime:
    """``moment`` moved by whole units; a day that the target month lacks becomes its last.
    Raises TimeWordsError beyond the calendar."""
    try:
        if unit in ("day", "week"):
            return moment + number * (7 if unit == "week" else 1) * DAY
        months = number * _MONTHS_OF[unit]
        years, index = divmod(moment.year * 12 + moment.month - 1 + months, 12)
        last = calendar.monthrange(years, index + 1)[1]
        return moment.replace(year=years, month=index + 1, day=min(moment.day, last))
    except (OverflowError, ValueError) as exc:
        raise TimeWordsError(
            f"{abs(number)} {unit}s from today is outside the calendar",
            hint="name a smaller number",
        ) from exc


def whole(unit: str, moment: datetime, offset: int = 0, first_weekday: int = 0) -> Interval:
    """The unit that holds ``moment``, moved by ``offset`` units."""
    start = add(unit, start_of(unit, moment, first_weekday), offset)
    return start, add(unit, start, 1)


def weekend(moment: datetime, *, last: bool) -> Interval:
    """Saturday and Sunday: the latest that is over, or the one of this week."""
    start = start_of("week", moment) + 5 * DAY
    if last:
        start -= 7 * DAY
    return start, start + 2 * DAY


def season_months(name: str, hemisphere: str) -> tuple[int, ...]:
    """The three months of a season, in the order in which they come."""
    first = _SEASONS[name] + (6 if hemisphere == "south" else 0)
    return tuple((first + step - 1) % 12 + 1 for step in range(3))


def run_of_months(first: int, last: int) -> tuple[int, ...]:
    """Months from ``first`` to ``last``, over the turn of the year if need be."""
    return tuple((first + step - 1) % 12 + 1 for step in range((last - first) % 12 + 1))


def first_month(months: tuple[int, ...]) -> int:
    """Where a run of months begins: (1, 2, 12) begins in December."""
    return next((m for m in months if (m - 2) % 12 + 1 not in months), months[0])


def months_from(months: tuple[int, ...]) -> int:
    """How many months follow one another from ``first_month``."""
    first = first_month(months)
    return next((step for step in range(12) if (first + step - 1) % 12 + 1 not in months), 12)


def occurrence(when: When, of_year: int) -> Interval:
    """The interval of a recurring run of months or days that begins in ``of_year``."""
    if when.months:
        start = datetime(of_year, first_month(when.months), 1)
        return start, add("month", start, len(when.months))
    if when.holidays:
        found = holidays.in_year(when.holidays[0], of_year)
        if not found:
            raise TimeWordsError(
                f"the date of {when.holidays[0]} {of_year} is not known", hint="name its date"
            )
        return found[0]
    first, last = when.year_days[0]
    start = _existing(of_year, first)
    end = _existing(of_year + (last < first), last) + DAY
    return start, end


def _existing(of_year: int, month_day: MonthDay) -> datetime:
    days = calendar.monthrange(of_year, month_day[0])[1]
    return datetime(of_year, month_day[0], min(month_day[1], days))


def latest(when: When, today: datetime, *, over: bool) -> Interval:
    """The latest occurrence that has begun by ``today``, or with ``over`` that has ended."""
    if when.weekdays:
        start = today - (today.weekday() - when.weekdays[0]) % 7 * DAY
        if over and start == today:
            start -= 7 * DAY
        return start, start + DAY
    for of_year in range(today.year, today.year - 3, -1):
        start, end = occurrence(when, of_year)
        if (end if over else start) <= today:
            return start, end
    raise AssertionError("a season of the year before last is over")

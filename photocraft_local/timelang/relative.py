"""Times that are counted from today: "yesterday", "last summer", "two years ago", "this week".

Rules as in ``dates``. "Last week", "last summer" are the latest that is over; "the last 3 days"
and "the past week" end with today.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from photocraft_local.timelang import calendar, dates, numeric, recurring
from photocraft_local.timelang.calendar import DAY
from photocraft_local.timelang.dates import month_number, period
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words


def near_day(words: Words, at: int) -> Atom | None:
    """ "today", "yesterday", "the day before yesterday"."""
    if found := words.match("today", at):
        start = calendar.add("day", words.today, -int(found[1]))
        return period(found[0], (start, start + DAY))
    if (found := words.match("hier", at)) and words.has_context("french"):
        return period(found[0], (words.today - DAY, words.today))
    return None


def around_day(words: Words, at: int) -> Atom | None:
    """ "the week of 4 July 2021", "weekend of July 4th, 2021": the one that holds the day."""
    unit = words.match("unit", at)
    if unit is None or unit[1] not in ("week", "weekend"):
        return None
    after = words.match("dayof", unit[0])
    inner = dates.day(words, after[0]) or numeric.numeric(words, after[0]) if after else None
    if inner is None or inner.kind != "period":
        return None
    start, end = inner.when.intervals[0]
    if end - start != DAY:
        return None
    interval = calendar.whole("week", start)
    return period(inner.end, calendar.weekend(start, last=False) if unit[1] != "week" else interval)


def near_part(words: Words, at: int) -> Atom | None:
    """ "last night" (18:00 to 05:00), "tonight", "this morning", "this evening"."""
    if found := words.match("lastnight", at):
        start = words.today - int(found[1]) * DAY + timedelta(hours=18)
        return period(found[0], (start, start + timedelta(hours=11)))
    if found := words.match("daily", at):
        low, high = recurring.PARTS[found[1]][0]
        start = words.today
        return period(found[0], (start + timedelta(hours=low), start + timedelta(hours=high)))
    return None


def ago(words: Words, at: int) -> Atom | None:
    """ "3 days ago", "vor zwei Jahren", "il y a un mois", "hace 3 años", "三年前", "two summers
    ago": the whole day, week, month, year or season."""
    before = words.match("agobefore", at)
    number = words.count(before[0] if before else at)
    if not number:
        return None
    unit = words.match("unit", number[0])
    season = recurring.season_word(words, number[0])
    named = unit or season
    behind = None if before or not named else words.match("agoafter", named[0])
    if not named or not (before or behind):
        return None
    end = behind[0] if behind else named[0]
    if unit is None:
        months = tuple(sorted(calendar.season_months(named[1], words.hemisphere)))
        span = calendar.latest(When(months=months), words.today, over=True)
        return period(end, _back("year", span, number[1] - 1))
    if unit[1] == "weekend":
        return period(end, _back("week", calendar.weekend(words.today, last=True), number[1] - 1))
    return period(end, calendar.whole(unit[1], words.today, -number[1]))


def _back(unit: str, span: Interval, number: int) -> Interval:
    return calendar.add(unit, span[0], -number), calendar.add(unit, span[1], -number)


def rolling(words: Words, at: int) -> Atom | None:
    """ "the last 3 days", "past week", "in the last year", "les 3 derniers mois": up to the end
    of today."""
    one = words.match("rollingone", at)
    if one and (found := _up_to_today(words, one[0], 1)):
        return found
    before = words.match("rolling", at)
    number = words.count(before[0] if before else words.skip("lead", at))
    if not number:
        return None
    behind = None if before else words.match("rollingafter", number[0])
    if not (before or behind):
        return None
    return _up_to_today(words, behind[0] if behind else number[0], number[1])


def _up_to_today(words: Words, at: int, number: int) -> Atom | None:
    unit = words.match("unit", at)
    if not unit or unit[1] == "weekend":
        return None
    end = words.today + DAY
    return period(unit[0], (calendar.add(unit[1], end, -number), end))


def last(words: Words, at: int) -> Atom | None:
    """ "last week", "last summer", "last May", "last Monday", "l'année dernière", "mayo pasado"."""
    if found := words.match("last", at):
        return _named(words, found[0], over=True)
    found = words.match("lead", at) if words.key(at) in ("l", "le", "la", "el") else None
    start = found[0] if found else at
    inner = _named(words, start, over=True)
    behind = words.match("lastafter", inner.end) if inner else None
    if inner is None or behind is None:
        return None
    return Atom(behind[0], inner.when, inner.kind)


def this(words: Words, at: int) -> Atom | None:
    """ "this year", "this summer", "cette année", "este mes"."""
    found = words.match("this", at)
    return _named(words, found[0], over=False) if found else None


def _named(words: Words, at: int, *, over: bool) -> Atom | None:
    """The unit, season, month or weekday at ``at``: the latest that is over, or this one."""
    if season := recurring.season_word(words, at):
        months = tuple(sorted(calendar.season_months(season[1], words.hemisphere)))
        return period(season[0], _of(words, When(months=months), over))
    if month := month_number(words, at):
        return period(month[0], _of(words, When(months=(month[1],)), over))
    if weekday := words.match("weekday", at):
        when = When(weekdays=(int(weekday[1]),))
        return period(weekday[0], _of(words, when, over))
    unit = words.match("unit", at)
    if not unit or (unit[1] == "day" and over):
        return None
    if unit[1] == "weekend":
        return period(unit[0], calendar.weekend(words.today, last=over))
    return period(unit[0], calendar.whole(unit[1], words.today, -1 if over else 0))


def _of(words: Words, when: When, over: bool) -> Interval:
    if over:
        return calendar.latest(when, words.today, over=True)
    if when.weekdays:
        start: datetime = calendar.start_of("week", words.today) + when.weekdays[0] * DAY
        return start, start + DAY
    start, end = calendar.occurrence(when, words.today.year - 1)
    running = start <= words.today < end
    return (start, end) if running else calendar.occurrence(when, words.today.year)


def chinese(words: Words, at: int) -> Atom | None:
    """ "去年", "上个月", "本周"."""
    found = words.match("zhperiod", at)
    if not found:
        return None
    unit, back = found[1].split("-")
    if unit == "weekend":
        return period(found[0], calendar.weekend(words.today, last=back == "1"))
    return period(found[0], calendar.whole(unit, words.today, -int(back)))

"""Times that are counted from today: "yesterday", "last summer", "two years ago", "next week".

Rules as in ``dates``. "Last week", "last summer" are the latest that is over; "the last 3 days"
and "the past week" end with today. "This winter" is the one that runs, else the one of this
calendar year that has begun, else the one to come.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from photocraft_local.timelang import calendar, dates, feasts, holidays, numeric, recurring
from photocraft_local.timelang.calendar import DAY
from photocraft_local.timelang.dates import month_number
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words, period

_Which = Literal["last", "this", "next"]
_MINUTE = timedelta(minutes=1)


def near_day(words: Words, at: int) -> Atom | None:
    """ "today", "yesterday", "the day before yesterday"; "on this day" is today's of every year."""
    if (found := words.match("samedate", at)) and (past := last(words, found[0])):
        start = past.when.intervals[0][0]
        if past.when.intervals[0] == calendar.year(start.year):  # "this day last year"
            day_then = calendar.add("year", words.today, start.year - words.today.year)
            return period(past.end, (day_then, day_then + DAY))
    if found := words.match("thisday", at):
        day = (words.today.month, words.today.day)
        return Atom(found[0], When(year_days=((day, day),)), "days")
    if found := words.match("today", at):
        start = calendar.add("day", words.today, -int(found[1]))
        return period(found[0], (start, start + DAY))
    if (found := words.match("hier", at)) and words.is_french:
        return period(found[0], (words.today - DAY, words.today))
    return None


def around_day(words: Words, at: int) -> Atom | None:
    """ "the week of 4 July 2021", "weekend of July 4th, 2021": the one that holds the day."""
    unit = words.match("unit", at)
    if unit is None or unit[1] not in ("week", "weekend"):
        return None
    after = words.match("dayof", unit[0])
    inner = None
    if after:
        rules = (dates.day, numeric.numeric, feasts.holiday)
        inner = next((found for rule in rules if (found := rule(words, after[0]))), None)
    if inner is None or inner.kind != "period":
        return None
    start, end = inner.core or inner.when.intervals[0]
    if end - start != DAY:
        return None
    interval = calendar.whole("week", start, first_weekday=words.first_weekday)
    return period(inner.end, calendar.weekend(start, last=False) if unit[1] != "week" else interval)


def this_time(words: Words, at: int) -> Atom | None:
    """ "this time last year": the week around today's date, noted."""
    found = words.match("thistime", at)
    past = last(words, found[0]) if found else None
    if past is None or (past.when.intervals[0][1] - past.when.intervals[0][0]).days < 365:
        return None
    day = calendar.add("year", words.today, -1)
    span = (day - 3 * DAY, day + 4 * DAY)
    return period(past.end, span, "taken as 3 days on either side")


def near_part(words: Words, at: int) -> Atom | None:
    """ "last night" (18:00 to 05:00), "tonight", "this morning", "this evening"."""
    if found := words.match("lastnight", at):
        start = words.today - int(found[1]) * DAY + timedelta(hours=18)
        return period(found[0], (start, start + timedelta(hours=11)))
    if found := words.match("daily", at):
        low, high = recurring.PARTS[found[1]][0]
        start = words.today
        return period(found[0], (start + low * _MINUTE, start + high * _MINUTE))
    return None


def whole(words: Words, unit: str, offset: int) -> Interval:
    return calendar.whole(unit, words.today, offset, words.first_weekday)


def moved_back(unit: str, span: Interval, number: int) -> Interval:
    return calendar.add(unit, span[0], -number), calendar.add(unit, span[1], -number)


def last(words: Words, at: int) -> Atom | None:
    """ "last week", "last summer", "last May", "last Monday", "l'année dernière", "mayo pasado"."""
    if found := words.match("last", at):
        return _named(words, found[0], "last")
    found = words.match("lead", at) if words.key(at) in ("l", "le", "la", "el") else None
    start = found[0] if found else at
    return _with_behind(words, start, "lastafter", "last")


def _with_behind(words: Words, at: int, kind: str, which: _Which) -> Atom | None:
    """ "l'été dernier", "el mes que viene": the word that says which one stands behind."""
    ends = [found[0] for k in _NAMED if (found := words.match(k, at))]
    behind = next((b for end in ends if (b := words.match(kind, end))), None)
    inner = _named(words, at, which) if behind else None
    return Atom(behind[0], inner.when, inner.kind) if inner and behind else None


def before_last(words: Words, at: int) -> Atom | None:
    """ "the summer before last", "vorletzten Sommer", "el verano antepasado"."""
    found = words.match("beforelast", at)
    starts = (found[0],) if found else (at, words.skip("lead", at))
    for start in dict.fromkeys(starts):
        if words.match("unit", start):
            continue  # "the week before last" is a word of its own
        inner = (
            _named(words, start, "last")
            if found
            else _with_behind(words, start, "beforelastafter", "last")
        )
        if inner:
            step = "week" if words.match("weekday", start) else "year"
            return period(inner.end, moved_back(step, inner.when.intervals[0], 1))
    return None


_NAMED = (
    "holiday", "holiday?", "season", "seasons", "season?", "month", "month?", "weekday", "unit"
)  # fmt: skip


def coming(words: Words, at: int) -> Atom | None:
    """ "next summer", "the next 3 days", "l'été prochain", "el mes que viene"."""
    if found := words.match("next", at):
        if number := words.count(found[0]):
            unit = words.match("unit", number[0])
            start = words.today + DAY
            return (
                period(unit[0], (start, calendar.add(unit[1], start, number[1])))
                if unit and unit[1] != "weekend"
                else None
            )
        return _named(words, found[0], "next")
    start_at = words.skip("lead", at) if words.key(at) in ("l", "le", "la", "el") else at
    return _with_behind(words, start_at, "nextafter", "next")


def this(words: Words, at: int) -> Atom | None:
    """ "this year", "this summer", "cette année", "este mes"."""
    found = words.match("this", at)
    return _named(words, found[0], "this") if found else None


def _named(words: Words, at: int, which: _Which) -> Atom | None:
    """The unit, season, month, holiday or weekday at ``at``: the latest that is over, this one
    or the one to come."""
    if holiday := feasts.name_at(words, at):
        return period(holiday[0], _of(words, feast_days(holiday[1]), which))
    if season := recurring.season_word(words, at):
        months = tuple(sorted(calendar.season_months(season[1], words.hemisphere)))
        return period(season[0], _of(words, When(months=months), which))
    if month := month_number(words, at):
        return period(month[0], _of(words, When(months=(month[1],)), which))
    if weekday := words.match("weekday", at):
        when = When(weekdays=(int(weekday[1]),))
        return period(weekday[0], _of(words, when, which))
    unit = words.match("unit", at)
    if not unit or (unit[1] == "day" and which != "this"):
        return None
    offset = {"last": -1, "this": 0, "next": 1}[which]
    if unit[1] == "weekend":
        weekend = calendar.weekend(words.today, last=which == "last")
        return period(unit[0], moved_back("week", weekend, -1) if which == "next" else weekend)
    return period(unit[0], whole(words, unit[1], offset))


def feast_days(name: str) -> When:
    days = holidays.is_fixed(name)
    return When(year_days=(days,)) if days else When(holidays=(name,))


def _of(words: Words, when: When, which: _Which) -> Interval:
    today = words.today
    if which == "last":
        return calendar.latest(when, today, over=True)
    if when.weekdays:
        start = calendar.start_of("week", today, words.first_weekday)
        start += (when.weekdays[0] - words.first_weekday) % 7 * DAY
        if which == "next":
            start = today + DAY + (when.weekdays[0] - today.weekday() - 1) % 7 * DAY
        return start, start + DAY
    found = [calendar.occurrence(when, today.year + step) for step in (-1, 0, 1)]
    if which == "next":
        return next(span for span in found if span[0] > today)
    running = [span for span in found if span[0] <= today < span[1]]
    begun = [s for s in found if s[0] <= today and (s[1] - DAY).year == today.year]
    return (running or begun[-1:] or found[1:2])[0]


def chinese(words: Words, at: int) -> Atom | None:
    """ "去年", "上个月", "本周"."""
    found = words.match("zhperiod", at)
    if not found:
        return None
    unit, back = found[1].split("-")
    if unit == "weekend":
        weekend = calendar.weekend(words.today, last=back in ("1", "2"))
        moved = {"+1": -1, "2": 1}.get(back, 0)
        return period(found[0], moved_back("week", weekend, moved))
    span = whole(words, unit, int(back[1:]) if back[0] == "+" else -int(back))
    day = "一二三四五六日天".find(words.key(found[0])) if unit == "week" else -1
    if words.key(found[0]) and day >= 0:  # "上周五"
        start = calendar.start_of("week", span[0] + 3 * DAY) + min(day, 6) * DAY
        return period(found[0] + 1, (start, start + DAY))
    season = recurring.season_word(words, found[0] + (words.key(found[0]) == "的"))
    if season and unit == "year":
        months = tuple(sorted(calendar.season_months(season[1], words.hemisphere)))
        return period(season[0], calendar.occurrence(When(months=months), span[0].year))
    return period(found[0], span)

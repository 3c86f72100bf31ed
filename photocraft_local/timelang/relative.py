"""Times that are counted from today: "yesterday", "last summer", "two years ago", "next week".

Rules as in ``dates``. "Last week", "last summer" are the latest that is over; "the last 3 days"
and "the past week" end with today. "This winter" is the one that runs, else the one of this
calendar year that has begun, else the one to come.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Literal

from photocraft_local.timelang import calendar, dates, feasts, holidays, numeric, recurring
from photocraft_local.timelang.calendar import DAY
from photocraft_local.timelang.dates import month_number, period
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words

_Which = Literal["last", "this", "next"]
_FEW = 6
_MINUTE = timedelta(minutes=1)


def near_day(words: Words, at: int) -> Atom | None:
    """ "today", "yesterday", "the day before yesterday"; "on this day" is today's of every year."""
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


def ago(words: Words, at: int) -> Atom | None:
    """ "3 days ago", "vor zwei Jahren", "il y a un mois", "hace 3 años", "三年前", "two summers
    ago": the whole day, week, month, year or season."""
    if (today := words.match("today", at)) and today[1] == "0":  # "heute vor einem Jahr"
        past = ago(words, today[0]) if words.match("agobefore", today[0]) else None
        return _same_day(words, past) if past else None
    before = words.match("agobefore", at)
    start_at = before[0] if before else at
    if few := words.match("few", start_at):
        return _few_ago(words, few[0], before=before is not None)
    number = words.count(start_at)
    if not number:
        return None
    if feast := feasts.name_at(words, number[0]):
        return _feasts_ago(words, feast, number[1], before=before is not None)
    unit = words.match("unit", number[0])
    season = recurring.season_word(words, number[0])
    named = unit or season
    behind = None if before or not named else words.match("agoafter", named[0])
    if not named or not (before or behind):
        return None
    end = behind[0] if behind else named[0]
    if unit and (today := words.match("today", end)) and today[1] == "0":  # "a year ago today"
        start = calendar.add(unit[1], words.today, -number[1])
        return period(today[0], (start, start + DAY))
    if unit is None:
        months = tuple(sorted(calendar.season_months(named[1], words.hemisphere)))
        span = calendar.latest(When(months=months), words.today, over=True)
        return period(end, _back("year", span, number[1] - 1))
    if unit[1] == "weekend":
        return period(end, _back("week", calendar.weekend(words.today, last=True), number[1] - 1))
    return period(end, _whole(words, unit[1], -number[1]))


def _few_ago(words: Words, at: int, *, before: bool) -> Atom | None:
    """ "a few days ago": two to six of them, noted."""
    unit = words.match("unit", at)
    behind = words.match("agoafter", unit[0]) if unit and not before else None
    if not unit or unit[1] == "weekend" or not (before or behind):
        return None
    start, end = _whole(words, unit[1], -_FEW), _whole(words, unit[1], -2)
    said = f"taken as 2 to {_FEW} {unit[1]}s"
    return period(behind[0] if behind else unit[0], (start[0], end[1]), said)


def _feasts_ago(
    words: Words, feast: tuple[int, str, bool], number: int, *, before: bool
) -> Atom | None:
    """ "two Christmases ago"."""
    behind = None if before else words.match("agoafter", feast[0])
    if not (before or behind):
        return None
    year = calendar.latest(_feast(feast[1]), words.today, over=True)[0].year
    span = calendar.occurrence(_feast(feast[1]), year - number + 1)
    return period(behind[0] if behind else feast[0], span)


def _same_day(words: Words, past: Atom) -> Atom | None:
    """The day of today's date in a past month or year."""
    start, end = past.when.intervals[0]
    months = (words.today.year - start.year) * 12 + words.today.month - start.month
    if (end - start).days < 365:
        day = calendar.add("month", words.today, -months)
    else:
        day = calendar.add("year", words.today, start.year - words.today.year)
    return period(past.end, (day, day + DAY)) if start <= day < end else None


def _whole(words: Words, unit: str, offset: int) -> Interval:
    return calendar.whole(unit, words.today, offset, words.first_weekday)


def _back(unit: str, span: Interval, number: int) -> Interval:
    return calendar.add(unit, span[0], -number), calendar.add(unit, span[1], -number)


def rolling(words: Words, at: int) -> Atom | None:
    """ "the last 3 days", "past week", "in the last year", "les 3 derniers mois": up to the end
    of today."""
    one = words.match("rollingone", at)
    if one and (found := _up_to_today(words, one[0], 1)):
        return found
    before = words.match("rolling", at)
    start = before[0] if before else words.skip("lead", at)
    few = words.match("few", start)
    number = (few[0], _FEW) if few else words.count(start)
    if not number:
        return None
    behind = None if before else words.match("rollingafter", number[0])
    if not (before or behind):
        return None
    found = _up_to_today(words, behind[0] if behind else number[0], number[1])
    if few and found:
        noted = replace(found.when, notes=(f"taken as {_FEW}",))
        return replace(found, when=noted)
    return found


def _up_to_today(words: Words, at: int, number: int) -> Atom | None:
    unit = words.match("unit", at)
    if not unit:
        return None
    if unit[1] == "weekend":
        latest = calendar.weekend(words.today, last=True)
        weekends = tuple(_back("week", latest, back) for back in range(number - 1, -1, -1))
        return Atom(unit[0], When(intervals=weekends), "period" if number == 1 else "either")
    end = words.today + DAY
    return period(unit[0], (calendar.add(unit[1], end, -number), end))


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
        return period(holiday[0], _of(words, _feast(holiday[1]), which))
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
        return period(unit[0], _back("week", weekend, -1) if which == "next" else weekend)
    return period(unit[0], _whole(words, unit[1], offset))


def _feast(name: str) -> When:
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
        return period(found[0], _back("week", weekend, moved))
    span = _whole(words, unit, int(back[1:]) if back[0] == "+" else -int(back))
    day = "一二三四五六日天".find(words.key(found[0])) if unit == "week" else -1
    if words.key(found[0]) and day >= 0:  # "上周五"
        start = calendar.start_of("week", span[0] + 3 * DAY) + min(day, 6) * DAY
        return period(found[0] + 1, (start, start + DAY))
    season = recurring.season_word(words, found[0] + (words.key(found[0]) == "的"))
    if season and unit == "year":
        months = tuple(sorted(calendar.season_months(season[1], words.hemisphere)))
        return period(season[0], calendar.occurrence(When(months=months), span[0].year))
    return period(found[0], span)

"""So long ago: "3 days ago", "the last 3 months", "more than two years ago".

Rules as in ``dates``. "3 years ago" is that whole year; "the last 3 days" end with today.
"""

from __future__ import annotations

from dataclasses import replace

from photocraft_local.timelang import calendar, feasts, recurring
from photocraft_local.timelang.calendar import DAY
from photocraft_local.timelang.relative import feast_days, moved_back, whole
from photocraft_local.timelang.spans import BEGIN, END
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words, period

_FEW = 6


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
        return period(end, moved_back("year", span, number[1] - 1))
    if unit[1] == "weekend":
        return period(
            end, moved_back("week", calendar.weekend(words.today, last=True), number[1] - 1)
        )
    return period(end, whole(words, unit[1], -number[1]))


def _few_ago(words: Words, at: int, *, before: bool) -> Atom | None:
    """ "a few days ago": two to six of them, noted."""
    unit = words.match("unit", at)
    behind = words.match("agoafter", unit[0]) if unit and not before else None
    if not unit or unit[1] == "weekend" or not (before or behind):
        return None
    start, end = whole(words, unit[1], -_FEW), whole(words, unit[1], -2)
    said = f"taken as 2 to {_FEW} {unit[1]}s"
    return period(behind[0] if behind else unit[0], (start[0], end[1]), said)


def _feasts_ago(
    words: Words, feast: tuple[int, str, bool], number: int, *, before: bool
) -> Atom | None:
    """ "two Christmases ago"."""
    behind = None if before else words.match("agoafter", feast[0])
    if not (before or behind):
        return None
    year = calendar.latest(feast_days(feast[1]), words.today, over=True)[0].year
    span = calendar.occurrence(feast_days(feast[1]), year - number + 1)
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
        return _hours_up_to_today(words, at, number)
    if unit[1] == "weekend":
        latest = calendar.weekend(words.today, last=True)
        weekends = tuple(moved_back("week", latest, back) for back in range(number - 1, -1, -1))
        return Atom(unit[0], When(intervals=weekends), "period" if number == 1 else "either")
    end = words.today + DAY
    return period(unit[0], (calendar.add(unit[1], end, -number), end))


def _hours_up_to_today(words: Words, at: int, number: int) -> Atom | None:
    """ "the last 24 hours": the days that they touch, since today has no hour here."""
    hours = words.match("small", at)
    if not hours or hours[1] != "hour":
        return None
    days = -(-number // 24)
    note = "taken as whole days"
    return period(hours[0], (words.today - days * DAY, words.today + DAY), note)


def beyond(words: Words, at: int) -> Atom | None:
    """ "more than two years ago", "older than 3 years", "less than a month ago"."""
    for kind, more in (("morethan", True), ("lessthan", False)):
        found = words.match(kind, at)
        number = words.count(found[0]) if found else None
        unit = words.match("unit", number[0]) if number else None
        if not (found and number and unit) or unit[1] == "weekend":
            continue
        behind = words.match("agoafter", unit[0])
        if found[1] == "ago" and not behind:  # "older than 3 years" needs no "ago"
            continue
        edge = calendar.add(unit[1], words.today, -number[1])
        when = When(intervals=((BEGIN, edge) if more else (edge, END),))
        return Atom(behind[0] if behind else unit[0], when, "either")
    return None

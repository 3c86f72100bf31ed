"""What comes again: seasons, weekdays, parts of the day, days of a month; a season with a year is
one time.

Rules as in ``dates``.
"""

from __future__ import annotations

import re

from photocraft_local.timelang import calendar
from photocraft_local.timelang.spans import NIGHT
from photocraft_local.timelang.when import When
from photocraft_local.timelang.wording import MONTHS
from photocraft_local.timelang.words import Atom, Words, period
from photocraft_local.timelang.years import century, year_number

PARTS = {
    "morning": ((5 * 60, 12 * 60),),
    "noon": ((11 * 60, 14 * 60),),
    "afternoon": ((12 * 60, 18 * 60),),
    "evening": ((17 * 60, 22 * 60),),
    "night": NIGHT,
    "midnight": ((0, 60), (23 * 60, 24 * 60)),
}


def season_word(words: Words, at: int) -> tuple[int, str, bool] | None:
    """(token behind it, season, whether the word by itself is sure)."""
    for kind in ("season", "seasons", "season?"):
        if found := words.match(kind, at):
            return *found, kind != "season?"
    return None


def season(words: Words, at: int) -> Atom | None:
    """ "summer" of any year, "summer 2021", "winter of 2020/21", "2021年夏天"."""
    if (leading := year_number(words, at)) and words.shape(at) != "short":
        if found := season_word(words, leading[0]) or season_word(words, _of(words, leading[0])):
            return _of_year(words, found[0], found[1], leading[1])
        return None
    found = season_word(words, at)
    if found is None:
        return None
    end, name, sure = found
    for start in (end, words.skip("join", end)):
        if with_year := year_number(words, start):
            return _of_year(words, with_year[0], name, with_year[1])
    if short := _short_year(words, end):
        return _of_year(words, short[0], name, short[1])
    if (years := _two_years(words, end)) and name == "winter":
        return _of_year(words, end + 1, name, years)
    months = calendar.season_months(name, words.hemisphere)
    blocked = bool(words.match("notafter", end))
    if blocked and not sure:
        return None
    return Atom(end, When(months=tuple(sorted(months))), "season", sure)


def _short_year(words: Words, at: int) -> tuple[int, int] | None:
    """ "summer 21", where no noun follows that is counted."""
    token = words.token(at)
    if token is None or token.shape != "number" or len(token.text) != 2:
        return None
    counted = words.shape(at + 1) == "word" and not any(
        words.match(kind, at + 1) for kind in ("lead", "join", "photo", "not", "and")
    )
    return None if counted or words.shape(at + 1) == "dash" else (at + 1, century(int(token.text)))


def _two_years(words: Words, at: int) -> int | None:
    """The first year of "winter 2021-22"."""
    token = words.token(at)
    if token is None or token.shape != "iso" or not re.fullmatch(r"\d{4}-\d\d", token.text):
        return None
    first, second = map(int, token.text.split("-"))
    return first if (first + 1) % 100 == second else None


def compound(words: Words, at: int) -> Atom | None:
    """ "am Freitagabend", "ein Sommerabend": a weekday or season and a part of the day in one."""
    found = words.match("daypart", at)
    if not found:
        return None
    first, part = found[1].split(" ")
    hours = When(hours=PARTS[part])
    if first.isdigit():
        return Atom(found[0], When(weekdays=(int(first),)) & hours, "either")
    months = tuple(sorted(calendar.season_months(first, words.hemisphere)))
    return Atom(found[0], When(months=months) & hours, "either", sure=False)


def _of(words: Words, at: int) -> int:
    """ "2021年的夏天"."""
    return at + (words.key(at) == "的")


def _of_year(words: Words, end: int, name: str, year: int) -> Atom:
    recurring = When(months=tuple(sorted(calendar.season_months(name, words.hemisphere))))
    start, stop = calendar.occurrence(recurring, year)
    if start.year == calendar.add("month", start, 2).year:
        return period(end, (start, stop))
    second = _second_year(words, end, year)
    if second:
        return period(second, (start, stop))
    note = f"the {name} that begins in {MONTHS[start.month - 1]} {year}"
    return period(end, (start, stop), note)


def _second_year(words: Words, at: int, year: int) -> int | None:
    """The token behind "/21" or "-2021" of "winter 2020/21"."""
    token = words.token(at + 1)
    if words.shape(at) != "dash" or token is None or token.shape != "number":
        return None
    return at + 2 if int(token.text) in (year + 1, (year + 1) % 100) else None


def weekday(words: Words, at: int) -> Atom | None:
    """ "Sunday", "on Sundays", "weekends"."""
    if found := words.match("weekday", at):
        if words.match("notweekdaybefore", at - 1) or words.match("notafter", found[0]):
            return None
        return Atom(found[0], When(weekdays=(int(found[1]),)), "weekday")
    for kind in ("weekdays", "weekdays?"):
        if found := words.match(kind, at):
            days = tuple(int(day) for day in found[1].split(","))
            return Atom(found[0], When(weekdays=days), "weekday", kind == "weekdays")
    return None


def part_of_day(words: Words, at: int) -> Atom | None:
    """ "in the morning", "nights", "midnight"."""
    for kind in ("part", "part?"):
        if found := words.match(kind, at):
            sure = kind == "part"
            if not sure and words.match("notafter", found[0]):
                return None
            thing = at - 1 - (words.key(at - 1) == "du")  # "une table de nuit", "aiguille du Midi"
            if words.match("notnightbefore", thing) and words.key(at) in ("de", "midi"):
                return None
            return Atom(found[0], When(hours=PARTS[found[1]]), "hours", sure)
    return None


def day_of_month(words: Words, at: int) -> Atom | None:
    """ "on the 25th", "am 25.", "25号": that day of every month; needs a cue."""
    token = words.token(at)
    if token is None or token.shape not in ("ordinal", "zhday", "number"):
        return None
    if not (words.fits("daycue", at - 2, at) or words.fits("daycue", at - 1, at)):
        return None
    behind = words.shape(at + 1) == "word" and not any(
        words.match(kind, at + 1) for kind in ("lead", "join", "not", "photo")
    )
    number = int("".join(char for char in token.text if char.isdigit()))
    if behind or not 1 <= number <= 31 or len(token.text) > 5:
        return None
    dotted = token.shape == "number" and words.keys[at - 1 : at + 2] == ["am", token.key, "."]
    if token.shape == "number" and not (dotted or words.fits("daynumber", at - 1, at)):
        return None
    spans = tuple(((month, number), (month, number)) for month in range(1, 13))
    return Atom(at + 1 + dotted, When(year_days=spans), "either")

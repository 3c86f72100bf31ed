"""What comes again: seasons, weekdays, parts of the day, hours. A season with a year is one time.

Rules as in ``dates``.
"""

from __future__ import annotations

import re

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import calendar
from photocraft_local.timelang.dates import period, year_number
from photocraft_local.timelang.spans import NIGHT
from photocraft_local.timelang.when import When
from photocraft_local.timelang.wording import MONTHS
from photocraft_local.timelang.words import Atom, Words

PARTS = {
    "morning": ((5, 12),),
    "noon": ((11, 14),),
    "afternoon": ((12, 18),),
    "evening": ((17, 22),),
    "night": NIGHT,
    "midnight": ((0, 1), (23, 24)),
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
        if found := season_word(words, leading[0]):
            return _of_year(words, found[0], found[1], leading[1])
        return None
    found = season_word(words, at)
    if found is None:
        return None
    end, name, sure = found
    for start in (end, words.skip("join", end)):
        if with_year := year_number(words, start):
            return _of_year(words, with_year[0], name, with_year[1])
    months = calendar.season_months(name, words.hemisphere)
    blocked = bool(words.match("notafter", end))
    if blocked and not sure:
        return None
    return Atom(end, When(months=tuple(sorted(months))), "season", sure)


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
        if words.match("notweekdaybefore", at - 1):
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
            return Atom(found[0], When(hours=PARTS[found[1]]), "hours", sure)
    return None


def clock(words: Words, at: int) -> Atom | None:
    """ "3 pm", "15:30", "15h", "8 Uhr", "9 o'clock", "5 in the afternoon", "下午3点": the full hour
    that holds it."""
    part = words.match("part", at)  # Chinese says it first
    start = part[0] if part else at
    token = words.token(start)
    if token is None or token.shape not in ("clock", "number") or len(token.text) > 11:
        return None
    end = words.skip("clockword", start + 1)
    named = end > start + 1 or token.shape == "clock"
    if not part and (part := _part_behind(words, end)):
        end, named = part[0], True
    if not named or (token.shape == "number" and len(token.text) > 2):
        return None
    hour, minute = hour_of(token.text)
    if part and hour < 12 and PARTS[part[1]][0][0] >= 12:
        hour += 12
    notes = ("taken as the full hour",) if minute else ()
    sure = not token.text.replace(":", "").isdigit() or end > start + 1  # "8:25" may be a sign
    return Atom(end, When(hours=((hour, hour + 1),), notes=notes), "hours", sure)


def _part_behind(words: Words, at: int) -> tuple[int, str] | None:
    """ "in the afternoon" or "nachmittags" behind an hour."""
    for start in (at, words.skip("join", at)):
        for kind in ("part", "part?"):
            if found := words.match(kind, start):
                return found
    return None


def hour_of(text: str) -> tuple[int, int]:
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 0
    half = re.search(r"([ap])\.?m", text.casefold())
    if hour > 23 or minute > 59 or (half and not 1 <= hour <= 12):
        raise TimeWordsError(f"there is no time of day {text!r}", hint="write 15:30 or 3:30 pm")
    if half:
        hour = hour % 12 + (12 if half[1] == "p" else 0)
    return hour, minute

"""Holidays in a text: "Christmas 2020", "at Easter", "2021年春节".

A rule as in ``dates``. A name in front of a noun is a thing ("Easter eggs"), no time.
"""

from __future__ import annotations

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import holidays
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words
from photocraft_local.timelang.years import year_behind, year_number

_BEHIND = (
    "lead", "join", "cue", "clause", "photo", "not", "and", "or", "part", "part?", "before",
    "after", "since", "until", "lastafter", "agoafter", "zhstep", "beforeafter", "afterafter",
    "verb", "sinceafter", "to", "aroundafter", "weekday", "article",
)  # fmt: skip


def name_at(words: Words, at: int) -> tuple[int, str, bool] | None:
    """(token behind it, name, whether it needs no cue) of a holiday that is meant as a time."""
    sure = words.match("holiday", at)
    found = max(filter(None, (sure, words.match("holiday?", at))), default=None)
    if found is None or words.match("greeting", at - 1) or words.match("greeting", found[0]):
        return None
    return found[0], found[1], found == sure and not _one_of_many(words, at - 1)


def _one_of_many(words: Words, at: int) -> bool:
    """ "a Christmas …" is a thing; "à Noël" is not."""
    token = words.token(at)
    return token is not None and token.text.casefold() in ("a", "an")


def holiday(words: Words, at: int) -> Atom | None:
    """One holiday: of a year if that stands beside it, else of every year."""
    leading = year_number(words, at)
    found = name_at(words, words.skip("join", leading[0]) if leading else at)
    if found is None:
        return None
    end, name, sure = found
    behind = None if leading else year_behind(words, end)
    year = leading or behind
    if year:
        return _of_year(behind[0] if behind else end, name, year[1])
    if words.shape(end) == "word" and not any(words.match(kind, end) for kind in _BEHIND):
        return None
    days = holidays.is_fixed(name)
    if days:
        return Atom(end, When(year_days=(days,)), "days", sure, name=name)
    return Atom(end, When(holidays=(name,), notes=notes_of(name)), "holiday", sure, name=name)


def notes_of(name: str) -> tuple[str, ...]:
    note = holidays.holidays()[name].note
    return (note,) if note else ()


def _of_year(end: int, name: str, year: int) -> Atom:
    begin = year - 1 if name == "new year" else year  # the night into that year
    found = holidays.in_year(name, begin)
    if not found:
        raise TimeWordsError(f"the date of {name} {year} is not known", hint="name its date")
    when = When(intervals=(found[0],), notes=notes_of(name))
    return Atom(end, when, "period", core=core_of(name, begin), name=name)


def core_of(name: str, year: int) -> Interval | None:
    """The days that a step counts from: Easter Sunday of Easter."""
    cores = holidays.cores_in_year(name, year)
    return cores[0] if cores else None

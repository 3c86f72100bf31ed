"""Parts of a year by their number: "week 23 of 2021", "day 100 of 2021", "month 3 of 2021".

Rules as in ``dates``.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import calendar, years
from photocraft_local.timelang.calendar import DAY
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.words import Atom, Words, period


def week(words: Words, at: int) -> Atom | None:
    """ "week 23 of 2021", "KW 23 2021", "semaine 23 de 2021": weeks as in ISO 8601."""
    if words.shape(at) == "isoweek":
        year, number = re.findall(r"\d{4}|\d{2}$", words.tokens[at].text)
        return period(at + 1, iso_week(int(year), int(number)))
    found = words.match("weeknumber", at)
    token = words.token(found[0]) if found else None
    if found is None or token is None or token.shape not in ("number", "ordinal"):
        return None
    behind = years.year_behind(words, words.skip("join", found[0] + 1))
    if behind is None:
        return None
    return period(behind[0], iso_week(behind[1], int(re.findall(r"\d+", token.text)[0])))


def numbered(words: Words, at: int) -> Atom | None:
    """ "day 100 of 2021", "month 3 of 2021", "le jour 100 de 2021"."""
    unit = words.match("unit", at)
    token = words.token(unit[0]) if unit else None
    if unit is None or token is None or token.shape != "number" or unit[1] not in ("day", "month"):
        return None
    behind = years.year_number(words, words.skip("join", unit[0] + 1))
    if behind is None or words.skip("join", unit[0] + 1) == unit[0] + 1:
        return None
    whole = calendar.year(behind[1])
    if not 1 <= int(token.text[:4]) <= 366:
        raise TimeWordsError(
            f"there is no {unit[1]} {token.text} in {behind[1]}", hint="write 2021-06-14"
        )
    start = calendar.add(unit[1], whole[0], int(token.text) - 1)
    return period(behind[0], inside((start, calendar.add(unit[1], start, 1)), whole))


def iso_week(year: int, number: int) -> Interval:
    try:
        start = datetime.combine(date.fromisocalendar(year, number, 1), time.min)
    except ValueError as exc:
        raise TimeWordsError(
            f"there is no week {number} in {year}", hint="weeks go from 1 to 52 or 53"
        ) from exc
    return start, start + 7 * DAY


def inside(part: Interval, whole: Interval) -> Interval:
    if not whole[0] <= part[0] < part[1] <= whole[1]:
        raise TimeWordsError(
            f"there is no such part between {whole[0]:%Y-%m-%d} and {whole[1] - DAY:%Y-%m-%d}",
            hint="name a smaller number, or dates like 2021-06-14",
        )
    return part

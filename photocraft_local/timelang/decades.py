"""Decades and centuries: "the 90s", "les années 90", "the nineties", "the 20th century".

Rules as in ``dates``.
"""

from __future__ import annotations

import re
from datetime import datetime

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import calendar
from photocraft_local.timelang.calendar import FIRST_YEAR
from photocraft_local.timelang.words import Atom, Words, period
from photocraft_local.timelang.years import century


def decade(words: Words, at: int) -> Atom | None:
    """ "the 90s", "1990s", "die 90er Jahre", "les années 90", "los años 90", "the nineties"."""
    token = words.token(at)
    if token is None:
        return None
    end, digits, sure = at + 1, "", True
    if token.shape == "decade":
        digits = re.findall(r"\d+", token.text)[0]
        sure = (
            len(digits) == 4
            or "年" in token.text
            or token.text[0] in "'’"
            or words.key(at - 1) in _DECADE_BEFORE
        )
        if words.match("unit", end):
            end, sure = end + 1, True
    elif token.key in ("annees", "anos") and words.shape(end) == "number":
        digits = words.tokens[end].text
        end += 1
    elif found := words.match("decadeword", at):
        sure = words.key(at - 1) in _DECADE_BEFORE or not token.key.isascii()
        digits = found[1]
        end = words.skip("unit", found[0])
    if not digits or int(digits) % 10 or len(digits) not in (2, 4) or not sure:
        return None
    first = int(digits) if len(digits) == 4 else century(int(digits))
    if first < FIRST_YEAR:  # "a house of the 1700s" is seen, "in the 1700s" is a time
        if not words.match("yearcue", at - 2):
            return None
        raise TimeWordsError(
            f"no photo can be of the {first}s", hint=f"years from {FIRST_YEAR} on are read"
        )
    return period(end, (datetime(first, 1, 1), datetime(first + 10, 1, 1)))


_DECADE_BEFORE = {"the", "den", "die", "der", "early", "mid", "late", "-", "anfang", "ende", "fin"}


def century_of(words: Words, at: int) -> Atom | None:
    """ "the 20th century", "20. Jahrhundert", "20世纪"."""
    token = words.token(at)
    behind = words.match("unit", at + 1)
    if token is None or token.shape not in ("ordinal", "number") or not behind:
        return None
    number = int(re.findall(r"\d+", token.text)[0])
    if behind[1] == "century" and number < 19 and words.match("yearcue", at - 2):
        raise TimeWordsError(  # "an 18th century church" is seen
            f"no photo can be of the {token.text} {words.tokens[at + 1].text}",
            hint=f"years from {FIRST_YEAR} on are read",
        )
    if behind[1] != "century" or not 19 <= number <= 21:
        return None
    start = datetime(100 * (number - 1), 1, 1)
    return period(behind[0], (start, calendar.add("century", start, 1)))

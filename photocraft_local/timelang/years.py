"""Years: "2021", "'69", "2021年", "the year 1999"; what only counts something is none.

A rule as in ``dates``.
"""

from __future__ import annotations

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import calendar
from photocraft_local.timelang.calendar import FIRST_YEAR, LAST_YEAR
from photocraft_local.timelang.words import Atom, Words, period

_CHINESE_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")


def century(short: int) -> int:
    """Two digits of a year: up to 2049 this century, else the last one."""
    return 2000 + short if short < 50 else 1900 + short


def year_number(words: Words, at: int) -> tuple[int, int] | None:
    """(token behind it, year) of "2021", "'69", "2021年"."""
    token = words.token(at)
    if token is None:
        return None
    if token.shape == "short":
        return at + 1, century(int(token.text[1:]))
    named = words.match("yearword", at - 1) is not None
    if token.shape == "zhyear":
        number = int(token.text.rstrip("年 ").translate(_CHINESE_DIGITS))
    elif token.shape == "number" and (len(token.text) == 4 or _names_a_year(words, at)):
        number = int(token.text)
    else:
        return None
    if FIRST_YEAR <= number <= LAST_YEAR:
        return at + 1, number
    if named:
        raise TimeWordsError(
            f"no photo can be of the year {number}",
            hint=f"years from {FIRST_YEAR} to {LAST_YEAR} are read",
        )
    return None


def _names_a_year(words: Words, at: int) -> bool:
    """ "the year 0", "im Jahr 10000"."""
    return words.key(at - 1) in ("year", "jahr") and len(words.tokens[at].text) <= 6


def year(words: Words, at: int) -> Atom | None:
    """A year by itself; not sure where the words beside it count something."""
    found = year_number(words, at) or _long_ago(words, at)
    if found is None or words.shape(at) == "short":
        return None
    end, number = found
    if words.shape(at) == "number" and (_counts(words, at, end) or _names_a_thing(words, at, end)):
        return None
    if words.key(end) == "/" and words.key(end + 1) == f"{(number + 1) % 100:02d}":
        return period(end + 2, (calendar.year(number)[0], calendar.year(number + 1)[1]))
    return period(end, calendar.year(number))


def _long_ago(words: Words, at: int) -> tuple[int, int] | None:
    """ "in 1750": a year before the first photograph, where nothing is counted."""
    token = words.token(at)
    if token is None or token.shape != "number" or len(token.text) != 4:
        return None
    number, beside = int(token.text), words.shape(at + 1) == "word"
    counted = beside and not any(words.match(k, at + 1) for k in ("lead", "join", "not", "and"))
    cued = words.match("yearcue", at - 1)
    return (at + 1, number) if cued and not counted and 1000 <= number < FIRST_YEAR else None


def _counts(words: Words, at: int, end: int) -> bool:
    """ "2000 people", "room 2012"."""
    own = words.key(end) == "s" and words.text[words.tokens[end].start - 1] in "'’"  # "2021's"
    counted = not own and words.match("notyearafter", end)
    return bool(counted or words.match("notyearbefore", at - 1))


def _names_a_thing(words: Words, at: int, end: int) -> bool:
    """ "a 2019 Toyota"."""
    behind = words.token(end)
    return words.key(at - 1) in ("a", "an") and behind is not None and behind.text[0].isupper()


def year_behind(words: Words, at: int) -> tuple[int, int] | None:
    """A year, perhaps after "of", "de" or a comma."""
    for start in (at, words.skip("join", at)):
        if found := year_number(words, start):
            return found
    return None

"""When two answers in words say the same: one spelling for dates, numbers, case and articles.

English, German, French, Spanish, Chinese. A date with its year becomes ISO 8601, whatever order and
language it is written in; a number loses its groups and trailing zeros; number words below a
hundred become digits, articles go but at the end ("plan A"). Accents, and signs that belong to a
word or a number (C++, C#, 5 %, € 3), stay: they tell answers apart. Knows no synonym and no unit.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime, timedelta
from functools import cache
from importlib.resources import files

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import TimeMention, find_times

_NUMBER = re.compile(r"\d[\d.,' \u2009\u202f]*\d|\d")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([.,' \u2009\u202f])\d{3})(?:\1\d{3})*")
_ISO = r"\d{4}-\d\d(?:-\d\d)?"
_WORD = re.compile(
    rf"(?:{_ISO}(?!\d))|-?\d+(?:[.:]\d+)*|[\u3400-\u9fff]"
    r"|[^\W\d_\u3400-\u9fff]+(?:(?:\+{1,2}|#)(?!\w))?|\d+|(?<=\d)%|[$€£¥₩₹₽]"
)
_CURRENCY = re.compile(r"([$€£¥₩₹₽])\s*(-?\d[\d.]*)")  # € 3 → 3 €
_PERCENT = re.compile(r"(?<=\d)\s+%")
_AND = {"and", "et", "y"}  # twenty and one, vingt et un, treinta y uno
_ONES = {"un": "1", "une": "1", "una": "1"}  # an article, but behind a ten
_TENS, _UNITS = {str(ten) for ten in range(20, 100, 10)}, set("123456789")
_GERMAN = re.compile(r"(\w+)und(\w+zig|dreißig)")
_CHINESE = "零一二三四五六七八九十"
_COUNTED = re.compile(r"[零一两二三四五六七八九十](?=[张張个個天次年月日座位小张只])")
# A word that leans on the day of the question is no date: it must mean the same on two days.
_DAYS = (date(2100, 3, 3), date(2103, 8, 17))
_MOST_DATED = 2000  # characters that are looked through for dates
# Minutes that a spoken time of day is widened to, and where in them it lies: a full hour means all
# of it, any other time some minutes on either side.
_WIDENED = {60: 0, 30: 15}


def normal_words(text: str, *, articles: bool = False) -> list[str]:
    """The words that count, in order; with ``articles`` these count, too."""
    plain = unicodedata.normalize("NFKC", text)
    dated = _with_iso_dates(plain[:_MOST_DATED]) + plain[_MOST_DATED:]
    numbered = _NUMBER.sub(_one_number, _COUNTED.sub(_digit, dated))
    signed = _CURRENCY.sub(r"\2 \1", _PERCENT.sub("%", numbered))
    known = _words()
    found = _tens([word.casefold() for word in _WORD.findall(signed)])
    last = len(found) - 1
    return [
        word if known.get(word) == "" else known.get(word, word)
        for at, word in enumerate(found)
        if articles or at == last or known.get(word, word)
    ]


def _tens(words: list[str]) -> list[str]:
    """``twenty one``, ``vingt et un``, ``einundzwanzig`` → ``21``."""
    known = _words()
    made: list[str] = []
    for word in words:
        made.append(word)
        if (german := _GERMAN.fullmatch(word)) and {german[1], german[2]} <= known.keys():
            made[-1] = str(int(known[german[2]]) + int(known[german[1]] or 1))
            continue
        one = _ONES.get(word) or known.get(word, "")
        at = -3 if made[-2:-1] and made[-2] in _AND else -2
        ten = known.get(made[at], "") if len(made) >= -at else ""
        if ten in _TENS and one in _UNITS:
            made[at:] = [str(int(ten) + int(one))]
    return made


def _with_iso_dates(text: str) -> str:
    try:
        first, second = (find_times(text, today=day) for day in _DAYS)
    except TimeWordsError:  # a date that does not exist
        return text
    as_written = {(m.start, m.end): iso for m in first if (iso := _iso(m))}
    same = {(m.start, m.end) for m in second if as_written.get((m.start, m.end)) == _iso(m)}
    parts, at = [], 0
    for start, end in sorted(same):
        parts += [text[at:start], f" {as_written[start, end]} "]
        at = end
    return "".join([*parts, text[at:]])


def _iso(mention: TimeMention) -> str:
    """``2021``, ``2021-06``, ``2021-06-14``, the time of day as a word of its own; empty for any
    other time."""
    when = mention.when
    others = (when.months, when.year_days, when.weekdays, when.holidays, when.without)
    if len(when.intervals) != 1 or any(others) or len(when.hours) > 1:
        return ""
    start, end = when.intervals[0]
    if when.hours:
        low, high = when.hours[0]
        if end - start != timedelta(days=1) or high - low not in _WIDENED:
            return ""
        start += timedelta(minutes=low + _WIDENED[high - low])
        return start.isoformat(" ", "minutes")
    return _named(start, end)


def _named(start: datetime, end: datetime) -> str:
    day = start.date().isoformat()
    lengths = {
        timedelta(seconds=1): start.isoformat(" ", "seconds"),
        timedelta(minutes=1): start.isoformat(" ", "minutes"),
        timedelta(days=1): day if start.time() == datetime.min.time() else "",
    }
    if (length := end - start) in lengths:
        return lengths[length]
    if start.day == end.day == 1 and start.time() == end.time() == datetime.min.time():
        months = 12 * (end.year - start.year) + end.month - start.month
        return {1: day[:7], 12: day[:4] if start.month == 1 else ""}.get(months, "")
    return ""


def _one_number(found: re.Match[str]) -> str:
    """``1,200``, ``1.200`` and ``1 200`` → ``1200``; ``3,50`` → ``3.5``; dates and times stay."""
    text = found[0]
    before, after = found.string[: found.start()], found.string[found.end() :]
    if before.endswith(("-", ":")) or after.startswith(("-", ":")):
        return text
    if _GROUPED.fullmatch(text):
        return re.sub(r"\D", "", text)
    if re.fullmatch(r"\d+[.,]\d+", text):
        whole, part = re.split("[.,]", text)
        part = part.rstrip("0")
        return f"{whole}.{part}" if part else whole
    return text


def _digit(found: re.Match[str]) -> str:
    return str(2 if found[0] == "两" else _CHINESE.index(found[0]))


@cache
def _words() -> dict[str, str]:
    """Article → nothing, number word → digits."""
    table = files("photocraft_local.evaluation").joinpath("text_words.tsv").read_text("utf-8")
    rows = [line.partition("\t") for line in table.splitlines() if not line.startswith("#")]
    return {word: meaning for word, _, meaning in rows}

"""Times that are put together: ranges, one-sided times, lists, and what is said of one time.

Gives for a position the longest phrase; does not judge whether a word is meant as a time.
"""

from __future__ import annotations

from dataclasses import replace

from photocraft_local.timelang import bare_hours, calendar, dates
from photocraft_local.timelang.atoms import atom
from photocraft_local.timelang.relations import Phrase, between, from_to, one_sided
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words

_LONGEST_LIST = 12


def phrase(words: Words, at: int, *, cued: bool) -> Phrase | None:
    """The longest time phrase at token ``at``, with what is said further of the same time:
    "Sunday mornings in summer 2019". ``cued``: something before it speaks for a time."""
    found = single(words, at)
    while found and (more := _more(words, found, cued=cued)):
        found = more
    return found


def single(words: Words, at: int) -> Phrase | None:
    options = [rule(words, at) for rule in (between, from_to, one_sided, bare_hours.spanish, _list)]
    found = max((o for o in options if o), key=lambda option: option.end, default=None)
    return replace(found, end=words.skip("betweenafter", found.end)) if found else None


def _more(words: Words, found: Phrase, *, cued: bool) -> Phrase | None:
    """``found`` with the next phrase, if that sets other fields and only small words part them.

    "I march on Sundays": a verb is no month because a time follows later.
    """
    for start in _after_small_words(words, found.end):
        if hours := bare_hours.narrowed(words, found, start):
            return hours
        other = single(words, start)
        if other is None or not _goes_with(found.when, other.when):
            continue
        beside = start == found.end
        if not (beside or cued or found.sure or found.when.hours):
            continue
        if not (beside or other.sure or is_cued(words, found.end, start)):
            continue
        return Phrase(other.end, found.when & other.when, found.sure or beside or other.sure)
    return None


def is_cued(words: Words, start: int, end: int) -> bool:
    """Whether a cue stands right before token ``end``, at ``start`` or later."""
    found = (words.match("cue", at) for at in range(start, end))
    return any(cue is not None and cue[0] == end for cue in found)


def _after_small_words(words: Words, at: int) -> list[int]:
    """``at`` and the positions behind one or two joining forms."""
    starts = [at]
    for _ in range(2):
        found = words.match("join", starts[-1])
        if not found:
            break
        starts.append(found[0])
    return starts


def _goes_with(left: When, right: When) -> bool:
    """Whether the two set different fields, so that both together narrow the time."""
    pairs = (
        (left.intervals, right.intervals),
        (_of_year(left), _of_year(right)),
        (left.weekdays, right.weekdays),
        (left.hours, right.hours),
    )
    if any(a and b for a, b in pairs):
        return False
    return not (_precise(left) and right.hours) and not (_precise(right) and left.hours)


def _of_year(when: When) -> bool:
    """Whether it says which days of any year."""
    one_of_each_month = len(when.year_days) == 12
    return bool(when.months or when.holidays or (when.year_days and not one_of_each_month))


def _precise(when: When) -> bool:
    """Whether an interval already begins within a day."""
    return any(start.hour or start.minute for start, _ in when.intervals)


def _list(words: Words, at: int) -> Phrase | None:
    """One time, or several of a kind: "2019, 2020 and 2021", "May and June 2021"."""
    first = atom(words, at)
    if first is None:
        return _list_of_days(words, at)
    found, kind = Phrase(first.end, first.when, first.sure), first.kind
    for _ in range(_LONGEST_LIST):
        middle = _separator(words, found.end)
        if middle is None:
            break
        other = atom(words, words.skip("lead", middle)) or atom(words, middle)
        when = _either(found.when, kind, other) if other else None
        if other is None or when is None:
            break
        found, kind = Phrase(other.end, when, found.sure or other.sure), other.kind
    return found


def _list_of_days(words: Words, at: int) -> Phrase | None:
    """ "3, 5 and 7 May 2021": bare numbers take month and year from the last one."""
    numbers: list[int] = []
    while (
        len(numbers) < _LONGEST_LIST
        and (found := dates.day_number(words, at))
        and not dates.day(words, at)
    ):
        middle = _separator(words, found[0])
        if middle is None:
            return None
        numbers.append(found[1])
        at = middle
    last = dates.day(words, at) if numbers else None
    if last is None:
        return None
    when = last.when
    for number in numbers:
        when = when | _same_month(last, number)
    return Phrase(last.end, when)


def _same_month(other: Atom, number: int) -> When:
    if other.kind == "days":
        month = other.when.year_days[0][1][0]
        calendar.check_day(month, number)
        return When(year_days=(((month, number), (month, number)),))
    start = other.when.intervals[0][0]
    return When(intervals=(calendar.day(start.year, start.month, number),))


def _separator(words: Words, at: int) -> int | None:
    comma = at + 1 if words.shape(at) == "comma" else at
    if found := words.match("or", comma):
        return found[0]
    return comma if comma > at else None


def _either(left: When, kind: str, other: Atom) -> When | None:
    if kind in ("month", "days", "season") and other.kind == "period":
        start, end = other.when.intervals[0]
        if (end - start).days > 366:
            return None
        spans = [calendar.occurrence(part, start.year) for part in _parts(left)]
        left = When(intervals=tuple(spans))
    right = other.when
    if kind == "period" and other.kind in ("month", "days"):  # "May 2022 or June"
        start, end = left.intervals[-1]
        if (end - start).days <= 31:
            spans = [calendar.occurrence(part, start.year) for part in _parts(right)]
            right = When(intervals=tuple(spans))
    return left | right if left.can_join(right) else None


def _parts(when: When) -> list[When]:
    return [When(months=(month,)) for month in when.months] + [
        When(year_days=(span,)) for span in when.year_days
    ]

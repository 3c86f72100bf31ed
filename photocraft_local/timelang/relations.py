"""Two times with words between, and one with a word beside it: "from May to July", "since 2019".

Finds the words; what the times make together is ``ranges``' to say.
"""

from __future__ import annotations

from dataclasses import dataclass

from photocraft_local.timelang import calendar, dates, ranges
from photocraft_local.timelang.atoms import atom
from photocraft_local.timelang.clocks import hour_of
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words, period
from photocraft_local.timelang.years import year_number


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens up to ``end`` and what they mean. ``sure``: no cue is needed."""

    end: int
    when: When
    sure: bool = True


def _end_of_range(words: Words, at: int) -> Atom | None:
    for start in (at, words.skip("lead", at)):
        if found := atom(words, start):
            return found
    if now := words.match("now", at):
        today = words.today
        return period(now[0], (today, today + calendar.DAY))
    return None


def between(words: Words, at: int) -> Phrase | None:
    """ "between 2019 and 2021", "between 2 and 5 May", "zwischen 8 und 10 Uhr"."""
    found = words.match("between", at)
    if not found:
        return None
    pair = _pair(words, found[0], ("and", "to"))
    if pair is None:
        return None
    return Phrase(pair.end, pair.when)


def from_to(words: Words, at: int) -> Phrase | None:
    """ "from May to July 2021", "2019-2021", "Monday to Friday", "9 to 11 am"."""
    found = words.match("from", at)
    start = found[0] if found else at
    pair = _pair(words, start, ("to",))
    if found and pair is None:
        return _onwards(words, start)
    if pair is None:
        return None
    return Phrase(pair.end, pair.when, pair.sure or found is not None)


def _onwards(words: Words, at: int) -> Phrase | None:
    """ "from 2019 on", "2019 onwards"; "on" only at the end of a clause."""
    side = _end_of_range(words, at)
    behind = words.match("sinceafter", side.end) if side else None
    if side is None or behind is None:
        return None
    if words.key(behind[0] - 1) == "on" and words.shape(behind[0]) == "word":
        return None
    when = ranges.one_sided("since", side, words.today)
    return Phrase(behind[0], when) if when else None


def _pair(words: Words, at: int, joints: tuple[str, ...]) -> Phrase | None:
    """Two times with a joint or dash between; a bare number takes what it lacks from the
    second."""
    for rule in (_pair_of_times, _pair_of_days, _pair_of_hours, _pair_of_short_days):
        if found := rule(words, at, joints):
            return found
    return None


def _joint(words: Words, at: int, joints: tuple[str, ...]) -> int | None:
    if words.shape(at) == "dash" and (words.key(at) != "/" or _is_span(words, at)):
        return at + 1
    for kind in joints:
        if found := words.match(kind, at):
            return found[0]
    return None


def _is_span(words: Words, at: int) -> bool:
    """Whether "/" stands between the ends of a time: "2021-05-03/2021-05-09", "2019/2020"."""
    if words.shape(at - 1) == words.shape(at + 1) == "iso":
        return True
    left, right = year_number(words, at - 1), year_number(words, at + 1)
    return left is not None and right is not None and right[1] == left[1] + 1


def _pair_of_times(words: Words, at: int, joints: tuple[str, ...]) -> Phrase | None:
    left = _end_of_range(words, at)
    middle = _joint(words, left.end, joints) if left else None
    right = _end_of_range(words, middle) if middle else None
    if left is None or right is None:
        return None
    when = ranges.joined(left, right)
    sure = left.sure or right.sure or left.kind == "month"
    return Phrase(right.end, when, sure) if when else None


def _pair_of_days(words: Words, at: int, joints: tuple[str, ...]) -> Phrase | None:
    first = dates.day_number(words, words.skip("article", at))
    middle = _joint(words, first[0], joints) if first else None
    right = (
        dates.day(words, middle) or dates.day(words, words.skip("article", middle))
        if middle
        else None
    )
    if first is None or right is None:
        return None
    if right.kind == "days":
        last = right.when.year_days[0][1]
        return Phrase(right.end, When(year_days=(((last[0], first[1]), last),)))
    start, end = right.when.intervals[0]
    begin = calendar.day(start.year, start.month, first[1])[0]
    return Phrase(right.end, When(intervals=(dates.ordered(begin, end),)))


def _pair_of_short_days(words: Words, at: int, joints: tuple[str, ...]) -> Phrase | None:
    """ "Mon-Fri": with a dash and capitals."""
    if words.shape(at + 1) != "dash":
        return None
    first, last = words.match("shortday", at), words.match("shortday", at + 2)
    if not first or not last or not all(words.tokens[i].text[0].isupper() for i in (at, at + 2)):
        return None
    count = (int(last[1]) - int(first[1])) % 7 + 1
    days = tuple(sorted((int(first[1]) + step) % 7 for step in range(count)))
    return Phrase(at + 3, When(weekdays=days))


def _pair_of_hours(words: Words, at: int, joints: tuple[str, ...]) -> Phrase | None:
    token = words.token(at)
    middle = _joint(words, at + 1, joints)
    if token is None or token.shape != "number" or len(token.text) > 2 or not middle:
        return None
    right = atom(words, middle)
    if right is None or right.kind != "hours":
        return None
    half = words.tokens[middle].text.casefold().lstrip("0123456789: ")
    hour, _ = hour_of(token.text + (half if half[:1] in ("a", "p") else ""))
    low = hour * 60
    if right.minutes and low > right.minutes[-1]:
        low = (low + 720) % 1440  # "from 11 to 2 pm"
    left = Atom(at, When(hours=((low, low + 60),)), "hours", minutes=(low,))
    when = ranges.joined(left, right)
    return Phrase(right.end, when) if when else None


def one_sided(words: Words, at: int) -> Phrase | None:
    """ "before 2020", "since last summer", "until May 2021", "2020年以前"."""
    for relation in ("before", "after", "since", "until"):
        found = words.match(relation, at)
        side = _end_of_range(words, found[0]) if found else None
        when = ranges.one_sided(relation, side, words.today) if side else None
        if side and when:
            return Phrase(
                words.skip("sinceafter", side.end) if relation == "since" else side.end, when
            )
    side = atom(words, at)
    if side is None:
        return None
    for relation in ("before", "after", "since"):
        found = words.match(relation + "after", side.end)
        if found and (relation != "since" or words.key(side.end) != "on"):
            when = ranges.one_sided(relation, side, words.today)
            return Phrase(found[0], when) if when else None
    return None

"""Reading times: of a whole text that must be one (``parse_when``), as one bound of a search
(``parse_bound``), or wherever a question names one (``find_times``).

In a question an ordinary word ("may", "fall", "morning") is a time only with a cue. A date that
does not exist is an error in all three, with the way out; it is never guessed or dropped. What
has two readings means both, or the likelier one, and is noted.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang.anchored import find_anchored
from photocraft_local.timelang.anchored_time import AnchoredTime
from photocraft_local.timelang.calendar import DAY, latest, months_from
from photocraft_local.timelang.doubt import (
    is_a_things,
    is_cued_before,
    is_of_something_else,
    is_the_planet,
    stands_for_a_time,
)
from photocraft_local.timelang.grammar import is_cued, phrase
from photocraft_local.timelang.habits import USUAL, Habits
from photocraft_local.timelang.relations import Phrase
from photocraft_local.timelang.spans import BEGIN, END
from photocraft_local.timelang.when import TimeMention, When
from photocraft_local.timelang.words import Words

_EXAMPLES = "write a date like 2021-06-14, or words like 'June 2021', 'last summer', 'since 2019'"
_MAX_LEADS = 2


def find_times(text: str, *, today: date, habits: Habits = USUAL) -> list[TimeMention]:
    """Times that a question names, in order, none overlapping, each as long as it goes.

    A mention holds the small words before it ("in", "from the"), so that what is left over is
    the rest of the question. Words that lean on an event ("the weekend before the wedding") are
    left to ``find_anchored``. ``today`` is the person's date.
    Raises TimeWordsError for a date that does not exist, or one of two readings that a range
    or "since" cannot take.
    """
    return _find(Words(text, today, habits), strict=True)


def parse_when(text: str, *, today: date, habits: Habits = USUAL) -> When:
    """The meaning of a text that is all time: "May 2021", "weekends in 2019, but not in May".

    Raises TimeWordsError if words are left over or the date does not exist.
    """
    words = Words(text, today, habits)
    mentions = _find(words, strict=False)
    if not mentions:
        raise TimeWordsError(f"no time is meant by {_short(text)!r}", hint=_EXAMPLES)
    left = _left_over(words, mentions)
    if left:
        raise TimeWordsError(
            f"{left!r} in {_short(text)!r} is not understood as a time", hint=_EXAMPLES
        )
    when = When()
    for mention in mentions:
        when = when & (mention.when.negated() if mention.negated else mention.when)
    return _with_text(when, text)


def parse_bound(text: str, *, today: date, habits: Habits = USUAL) -> tuple[datetime, datetime]:
    """The one interval [start, end) that a text covers, for ``--after`` and ``--before``.

    Both options cut at the *start*: ``--after 2021-06`` takes what was taken from 1 June on,
    ``--before 2021-06`` what was taken before 1 June. (In a sentence, "after June 2021" begins
    when June is over.) A month or day without a year is its latest occurrence. Raises
    TimeWordsError for what is no single interval.
    """
    when = parse_when(text, today=today, habits=habits)
    fields = (when.months, when.year_days, when.weekdays, when.holidays, when.without)
    runs = [field for field in fields if field]
    if len(runs) == 1 and not when.intervals and not when.hours and _one_run(when):
        return latest(when, datetime.combine(today, time.min), over=False)
    ends = {moment for interval in when.intervals for moment in interval}
    if runs or when.hours or len(when.intervals) != 1 or ends & {BEGIN, END}:
        raise TimeWordsError(
            f"{_short(text)!r} is no single stretch of time but {when.meaning}",
            hint="write a day, month or year, e.g. 2021-06-14, 2021-06 or 2021",
        )
    return when.intervals[0]


def _one_run(when: When) -> bool:
    """Whether what recurs comes once a year or week: one day or month, one season."""
    months = when.months
    if months:
        return months_from(months) == len(months)
    return 1 in (len(when.year_days), len(when.weekdays), len(when.holidays))


def _find(words: Words, *, strict: bool) -> list[TimeMention]:
    mentions: list[TimeMention] = []
    at = behind = 0
    heads = find_anchored(words.text) if strict else []
    while at < len(words):
        found = _mention(words, at, strict=strict)
        if found is None or _is_in_a_head(words, at, found.end, heads):
            at += 1
            continue
        stop = words.skip("notbehind", _with_genitive(words, found.end))
        first = _not_before(words, at, behind, found.end)
        start, end = words.tokens[first].start, words.tokens[stop - 1].end
        text = words.text[start:end]
        negated = first < at or words.match("notbehind", found.end) is not None
        when = replace(_noted(words, found.when), text=text)
        mentions.append(TimeMention(start, end, text, when, negated))
        at = behind = stop
    return mentions


def _with_genitive(words: Words, at: int) -> int:
    """ "last week's photos": the "'s" is the time's."""
    token = words.token(at)
    own = token is not None and token.key == "s" and words.text[token.start - 1] in "'’"
    return at + own


def _is_in_a_head(words: Words, at: int, end: int, heads: list[AnchoredTime]) -> bool:
    """Whether tokens of a time are those of "the weekend before" an event."""
    if not heads:
        return False
    start, stop = words.tokens[at].start, words.tokens[end - 1].end
    return any(start < head.end and head.start < stop for head in heads if head.unit != "moment")


def _noted(words: Words, when: When) -> When:
    """A time that has not come yet is said to be so: no photo can be of it."""
    starts = [start for start, _ in when.intervals]
    if not starts or min(starts) < words.today + DAY:
        return when
    return replace(when, notes=(*when.notes, "still to come"))


def _mention(words: Words, at: int, *, strict: bool) -> Phrase | None:
    """The longest accepted phrase at ``at`` or behind the small words there."""
    best: Phrase | None = None
    if strict and is_of_something_else(words, at):
        return None
    for start in _leads(words, at):
        cued = not strict or is_cued(words, at, start) or is_cued_before(words, at)
        found = phrase(words, start, cued=cued)
        if found is None or (best is not None and found.end <= best.end):
            continue
        if not cued and is_a_things(words, start, found):
            continue
        if is_the_planet(words, start, found.end):
            continue
        if cued or found.sure or stands_for_a_time(words, start, found):
            best = found
    return best


def _not_before(words: Words, at: int, behind: int, stop: int) -> int:
    """The token where a NOT before the time at tokens ``at`` to ``stop`` begins, or ``at``: "but
    not in 2021". Its last words may be the time's small words."""
    ends = [end for end in _leads(words, at) if end < stop]
    for start in range(max(behind, at - 4), at):
        if any(words.fits("not", start, end) for end in ends):
            return start
    return at


def _leads(words: Words, at: int) -> list[int]:
    """``at`` and the tokens behind one or two small words there, in order."""
    starts = {at}
    last = [at]
    for _ in range(_MAX_LEADS):
        last = [end for start in last for end in words.ends("lead", start)]
        starts.update(last)
    return sorted(starts)


def _left_over(words: Words, mentions: list[TimeMention]) -> str:
    """The first word outside of all mentions that is more than a small word."""
    for at, token in enumerate(words.tokens):
        inside = any(mention.start <= token.start < mention.end for mention in mentions)
        small = token.shape in ("comma", "other") or any(
            words.match(kind, at) for kind in ("lead", "join")
        )
        if not inside and not small:
            return token.text
    return ""


def _with_text(when: When, text: str) -> When:
    return replace(when, text=text)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"

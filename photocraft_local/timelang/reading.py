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
from photocraft_local.timelang.feasts import name_at
from photocraft_local.timelang.grammar import is_cued, phrase
from photocraft_local.timelang.habits import USUAL, Habits
from photocraft_local.timelang.recurring import season_word
from photocraft_local.timelang.relations import Phrase
from photocraft_local.timelang.spans import BEGIN, END
from photocraft_local.timelang.when import TimeMention, When
from photocraft_local.timelang.words import Words
from photocraft_local.timelang.years import year_number

_EXAMPLES = "write a date like 2021-06-14, or words like 'June 2021', 'last summer', 'since 2019'"
_MAX_LEADS = 2
_OF = {"of", "de", "du", "d", "del", "von", "vom"}
_FRENCH = {"en", "au", "de", "du", "le", "mois", "mi", "debut", "fin", "depuis", "jusqu"}
_FROM = {"from", "vom", "von", "de", "du"}


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
    if strict and _is_of_something_else(words, at):
        return None
    for start in _leads(words, at):
        cued = not strict or is_cued(words, at, start) or _is_cued_before(words, at)
        found = phrase(words, start, cued=cued)
        if found is None or (best is not None and found.end <= best.end):
            continue
        if not cued and _is_a_things(words, start, found):
            continue
        if _is_the_planet(words, start, found.end):
            continue
        if cued or found.sure or _stands_for_a_time(words, start, found):
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


def _is_a_things(words: Words, start: int, found: Phrase) -> bool:
    """ "le sapin de Noël": a holiday of every year behind "of" says what kind of thing."""
    every_year = found.when.year_days or found.when.holidays
    return bool(every_year) and words.key(start - 1) in _OF and name_at(words, start) is not None


def _is_the_planet(words: Words, start: int, end: int) -> bool:
    """ "in Mars": March in French, a planet in English and with a capital."""
    if words.keys[start:end] != ["mars"]:
        return False
    before = words.key(start - 1)
    capital = words.tokens[start].text[0].isupper() and before not in _FRENCH
    return capital or before in ("in", "on", "from", "to")


def _is_of_something_else(words: Words, at: int) -> bool:
    """ "a house built in 1850": not when the photo was taken."""
    before = at - 1
    while before > max(0, at - 4) and words.match("lead", before):
        before -= 1
    return words.match("nottimebefore", before) is not None


def _leads(words: Words, at: int) -> list[int]:
    """``at`` and the tokens behind one or two small words there, in order."""
    starts = {at}
    last = [at]
    for _ in range(_MAX_LEADS):
        last = [end for start in last for end in words.ends("lead", start)]
        starts.update(last)
    return sorted(starts)


def _is_cued_before(words: Words, at: int) -> bool:
    """ "photos from March"; "2021 except June": what is taken out of a time is a time."""
    if words.key(at) in _FROM and words.match("photo", at - 1):
        return True
    if words.fits("weather", at - 1, at) and not words.match("lead", at):  # "on a windy afternoon"
        return any(words.fits("cue", max(0, first), at - 1) for first in (at - 2, at - 3))
    return any(words.fits("not", max(0, before), at) for before in (at - 1, at - 2, at - 3))


def _stands_for_a_time(words: Words, start: int, found: Phrase) -> bool:
    """An ordinary word without a cue: "winter photos", "Berlin, December 2019, evening", "May"."""
    return (
        words.match("photo", found.end) is not None
        or _opens(words, start, found.end)
        or _is_said_of_it(words, start, found.end)
        or _is_item_of_a_dated_list(words, start, found.end)
        or (start == 0 and found.end == len(words) and _is_named(found.when))
    )


def _is_said_of_it(words: Words, start: int, end: int) -> bool:
    """ "It was summer."; but "the nights were cold" and "it was spring water" say no time."""
    at = start - 1
    return words.match("copula", at) is not None and (
        end == len(words) or words.clause_ends[end] == end or words.match("lead", end) is not None
    )


def _is_named(when: When) -> bool:
    """A month or a weekday: unlike "winter" and "night", nothing that a photo shows."""
    return len(when.months) == 1 or bool(when.weekdays or when.holidays or when.year_days)


def _is_item_of_a_dated_list(words: Words, start: int, end: int) -> bool:
    """Whether commas set it apart in a text that names a year."""
    apart = start == 0 or words.shape(start - 1) == "comma"
    apart = apart and (end == len(words) or words.shape(end) == "comma")
    return apart and _names_a_year(words)


def _names_a_year(words: Words) -> bool:
    if words.names_a_year is None:
        words.names_a_year = any(year_number(words, at) for at in range(len(words)))
    return words.names_a_year


def _opens(words: Words, start: int, end: int) -> bool:
    """A season that opens the question, or is a person's own: "our summer in Lisbon"."""
    opening = start == 0 or words.key(start - 1) in ("our", "my")
    season = season_word(words, start) if opening else None
    return season is not None and season[0] == end and words.key(end) in ("in", "at", "on")


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

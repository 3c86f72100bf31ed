"""Reading times: of a whole text that must be one (``parse_when``), as one bound of a search
(``parse_bound``), or wherever a question names one (``find_times``).

In a question an ordinary word ("may", "fall", "morning") is a time only with a cue. A date that
does not exist or has two readings is an error in all three, with the way out; it is never
guessed or dropped.
"""

from __future__ import annotations

from datetime import date, datetime

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang.grammar import Phrase, phrase
from photocraft_local.timelang.recurring import season_word
from photocraft_local.timelang.when import BEGIN, END, TimeMention, When
from photocraft_local.timelang.words import Hemisphere, Words

_EXAMPLES = "write a date like 2021-06-14, or words like 'June 2021', 'last summer', 'since 2019'"
_MAX_LEADS = 2


def find_times(text: str, *, today: date, hemisphere: Hemisphere = "north") -> list[TimeMention]:
    """Times that a question names, in order, none overlapping, each as long as it goes.

    A mention holds the small words before it ("in", "from the"), so that what is left over is
    the rest of the question. ``today`` is the person's date; seasons follow ``hemisphere``.
    Raises TimeWordsError for a date that does not exist or can be read in two ways.
    """
    return _find(Words(text, today, hemisphere), strict=True)


def parse_when(text: str, *, today: date, hemisphere: Hemisphere = "north") -> When:
    """The meaning of a text that is all time: "May 2021", "weekends in summer 2019".

    Raises TimeWordsError if words are left over or the date does not exist.
    """
    words = Words(text, today, hemisphere)
    mentions = _find(words, strict=False)
    if not mentions:
        raise TimeWordsError(f"no time is meant by {_short(text)!r}", hint=_EXAMPLES)
    left = _left_over(words, mentions)
    if left:
        raise TimeWordsError(
            f"{left!r} in {_short(text)!r} is not understood as a time", hint=_EXAMPLES
        )
    when = mentions[0].when
    for mention in mentions[1:]:
        when = when & mention.when
    return _with_text(when, text)


def parse_bound(
    text: str, *, today: date, hemisphere: Hemisphere = "north"
) -> tuple[datetime, datetime]:
    """The one interval [start, end) that a text covers, for ``--after`` and ``--before``.

    Both options cut at the *start*: ``--after 2021-06`` takes what was taken from 1 June on,
    ``--before 2021-06`` what was taken before 1 June. (In a sentence, "after June 2021" begins
    when June is over.) A month or day without a year is its latest occurrence. Raises
    TimeWordsError for what is no single interval.
    """
    from photocraft_local.timelang.calendar import latest

    when = parse_when(text, today=today, hemisphere=hemisphere)
    simple = not (when.hours or (when.weekdays and (when.months or when.year_days)))
    if simple and not when.intervals and (when.months or when.year_days or when.weekdays):
        if len(when.weekdays) <= 1 and len(when.year_days) <= 1:
            start = datetime(today.year, today.month, today.day)
            return latest(when, start, over=False)
    masks = when.months or when.year_days or when.weekdays or when.hours
    if masks or len(when.intervals) != 1 or BEGIN in when.intervals[0] or END in when.intervals[0]:
        raise TimeWordsError(
            f"{_short(text)!r} is no single stretch of time but {when.meaning}",
            hint="write a day, month or year, e.g. 2021-06-14, 2021-06 or 2021",
        )
    return when.intervals[0]


def _find(words: Words, *, strict: bool) -> list[TimeMention]:
    mentions: list[TimeMention] = []
    at = 0
    while at < len(words):
        found = _mention(words, at, strict=strict)
        if found is None:
            at += 1
            continue
        start, end = words.tokens[at].start, words.tokens[found.end - 1].end
        text = words.text[start:end]
        mentions.append(TimeMention(start, end, text, _with_text(found.when, text)))
        at = found.end
    return mentions


def _mention(words: Words, at: int, *, strict: bool) -> Phrase | None:
    """The longest accepted phrase at ``at`` or behind the small words there."""
    best: Phrase | None = None
    for start in _leads(words, at):
        found = phrase(words, start)
        if found is None or (best is not None and found.end <= best.end):
            continue
        if not strict or found.sure or _cued(words, at, start, found.end):
            best = found
    return best


def _leads(words: Words, at: int) -> list[int]:
    starts = [at]
    for _ in range(_MAX_LEADS):
        lead = words.match("lead", starts[-1])
        if lead is None:
            break
        starts.append(lead[0])
    return starts


def _cued(words: Words, at: int, start: int, end: int) -> bool:
    """Whether something speaks for a time: a cue right before it, or a season that opens the
    question ("Summer in Lisbon")."""
    for before in range(at, start):
        cue = words.match("cue", before)
        if cue and cue[0] == start:
            return True
    season = season_word(words, start)
    opens = at == start == 0 and season is not None and season[0] == end
    return opens and words.key(end) in ("in", "at", "on", "of")


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
    from dataclasses import replace

    return replace(when, text=text)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"

"""Hours without a word for it, which a part of the day or an article makes a time: "in the morning
between 8 and 9", "in the evening after 8", "entre las 9 y las 11".

Narrows a part of the day that the grammar has found; knows no dates.
"""

from __future__ import annotations

from dataclasses import replace

from photocraft_local.timelang import recurring
from photocraft_local.timelang.relations import Phrase, one_sided
from photocraft_local.timelang.spans import DAY_MINUTES, common_hours, merged_hours, span_of_day
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Words

_PART = {hours: name for name, hours in recurring.PARTS.items()}
_HALF_DAY = DAY_MINUTES // 2
_LATE = ("evening", "night", "afternoon")


def narrowed(words: Words, found: Phrase, at: int) -> Phrase | None:
    """``found``, whose hours are a part of the day, with "before 9" or "between 8 and 9" at
    token ``at``."""
    part = _PART.get(found.when.hours)
    if part == "evening" and (late := _late_clock(words, found, at)):
        return late
    limits = _limits(words, at) if part else None
    if part is None or limits is None:
        return None
    end, low, high = limits
    if low is not None:
        low = _minute(low, part)
    if high is not None:
        high = _minute(high, part)
    if low is not None and high is None and part in ("evening", "night"):
        hours = span_of_day(low, DAY_MINUTES)  # an evening after 8 goes on to midnight
    else:
        start, stop = low or 0, DAY_MINUTES if high is None else high
        if start >= stop:
            return None
        hours = common_hours(found.when.hours, span_of_day(start, stop))
    return Phrase(end, replace(found.when, hours=hours), found.sure)


def _late_clock(words: Words, found: Phrase, at: int) -> Phrase | None:
    """ "in the evening after 8 pm": up to midnight, though evenings end before."""
    after = one_sided(words, at)
    hours = after.when.hours if after else ()
    low = found.when.hours[0][0]
    if after is None or after.when != When(hours=hours) or len(hours) != 1:
        return None
    if hours[0][1] != DAY_MINUTES or hours[0][0] < low:
        return None
    return Phrase(after.end, replace(found.when, hours=hours), found.sure)


def _limits(words: Words, at: int) -> tuple[int, int | None, int | None] | None:
    """(token behind, from hour, to hour)."""
    if found := words.match("between", at) or words.match("from", at):
        first = _hour(words, found[0])
        joint = (words.match("and", first[0]) or words.match("to", first[0])) if first else None
        last = _hour(words, joint[0]) if joint else None
        return (last[0], first[1], last[1]) if first and last and _ends(words, last[0]) else None
    for relation in ("before", "after", "since", "until"):
        found = words.match(relation, at)
        hour = _hour(words, found[0]) if found else None
        if hour and _ends(words, hour[0]):
            early = relation in ("before", "until")
            return (hour[0], None, hour[1]) if early else (hour[0], hour[1], None)
    return None


def _hour(words: Words, at: int) -> tuple[int, int] | None:
    start = words.skip("lashour", at)
    token = words.token(start)
    if token is None or token.shape != "number" or not 0 < int(token.text[:3]) <= 24:
        return None
    return start + 1, int(token.text)


def _ends(words: Words, at: int) -> bool:
    """Whether nothing follows that is counted: "before 9", but "before 9 people"."""
    token = words.token(at)
    if token is None or token.shape in ("comma", "other"):
        return True
    return token.shape == "word" and any(
        words.match(kind, at) for kind in ("lead", "join", "not", "and", "weekday")
    )


def _minute(hour: int, part: str) -> int:
    late = part in _LATE and hour < 12 and not (part == "night" and hour < 6)
    return hour * 60 + (_HALF_DAY if late else 0)


def spanish(words: Words, at: int) -> Phrase | None:
    """ "entre las 9 y las 11", "de las 9 a las 11": of both halves of the day up to 12."""
    found = words.match("between", at) or words.match("from", at)
    if found is None or words.key(found[0]) != "las" or words.shape(found[0] + 1) != "number":
        return None
    first = _hour(words, found[0])
    joint = (words.match("and", first[0]) or words.match("to", first[0])) if first else None
    last = _hour(words, joint[0]) if joint else None
    if first is None or last is None or not _ends(words, last[0]) or first[1] >= last[1]:
        return None
    spans = [span_of_day(first[1] * 60, last[1] * 60)]
    notes: tuple[str, ...] = ()
    if last[1] <= 12:
        spans.append(span_of_day(first[1] * 60 + _HALF_DAY, last[1] * 60 + _HALF_DAY))
        notes = ("in the morning or in the evening",)
    hours = merged_hours(tuple(span for one in spans for span in one))
    return Phrase(last[0], When(hours=hours, notes=notes))

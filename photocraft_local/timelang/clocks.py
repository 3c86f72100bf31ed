"""Times on the clock: "18:30", "6.30 pm", "a quarter past six", "halb sieben", "下午3点半".

A rule as in ``dates``. A full hour means the hour that begins then; other times mean a quarter of
an hour on either side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang.spans import DAY_MINUTES, merged_hours, span_of_day
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words

_EITHER_SIDE = 15
_HALF_DAY = DAY_MINUTES // 2


@dataclass(frozen=True, slots=True)
class _Clock:
    """Tokens up to ``end``: a minute of the day; ``twelve``: morning or evening is not said."""

    end: int
    minute: int
    twelve: bool
    sure: bool


def clock(words: Words, at: int) -> Atom | None:
    """A time of day; of "six o'clock" both in the morning and in the evening, noted."""
    part = words.match("part", at)  # Chinese says it first
    found = _spoken(words, part[0] if part else at) or _written(words, part[0] if part else at)
    if found is None:
        return None
    end, sure = found.end, found.sure
    if not part and (part := _part_behind(words, end)):
        end, sure = part[0], True
    elif part:
        sure = True
    if not _is_meant(words, end):
        return None
    minutes = _minutes(found, part[1] if part else "")
    spans = [_around(minute) for minute in minutes]
    hours = merged_hours(tuple(span for one in spans for span in one))
    notes = []
    if minutes[0] % 60:
        notes.append(f"taken as {_EITHER_SIDE} minutes on either side")
    if len(minutes) > 1:
        notes.append("in the morning or in the evening")
    return Atom(end, When(hours=hours, notes=tuple(notes)), "hours", sure, minutes)


def _is_meant(words: Words, end: int) -> bool:
    """No time in "five o'clock shadow"."""
    return not words.match("notafter", end)


def _around(minute: int) -> tuple[tuple[int, int], ...]:
    if minute % 60 == 0:
        return span_of_day(minute, minute + 60)
    return span_of_day(minute - _EITHER_SIDE, minute + _EITHER_SIDE)


def _minutes(found: _Clock, part: str) -> tuple[int, ...]:
    minute = found.minute
    if minute < _HALF_DAY or minute < _HALF_DAY + 60:
        if part in ("afternoon", "evening") and minute < _HALF_DAY:
            return (minute + _HALF_DAY,)
        if part in ("night", "midnight"):
            at_night = minute % _HALF_DAY
            return (at_night if at_night < 6 * 60 else at_night + _HALF_DAY,)
        if part == "noon":
            return (minute if minute >= 10 * 60 else minute + _HALF_DAY,)
        if found.twelve and not part and 60 <= minute < _HALF_DAY:
            return (minute, minute + _HALF_DAY)
    return (minute,)


def _written(words: Words, at: int) -> _Clock | None:
    """ "15:30", "3 pm", "15h", "8 Uhr 30", "9 o'clock", "eleven" before "in the morning"."""
    token = words.token(at)
    if token is None:
        return None
    number = words.count(at)
    if token.shape != "clock" and number is None:
        return None
    start = at + 1 if token.shape == "clock" or number is None else number[0]
    word = words.match("clockword", start)
    end = word[0] if word else start
    if number and number[1] > 24 and not (word and word[1] == "12"):
        if words.match("clockcue", at - 1) and (word or words.key(at - 1) == "las"):
            hour_of(str(number[1]))  # "um 25 Uhr"
        return None
    text = token.text if token.shape == "clock" or number is None else str(number[1])
    hour, minute = hour_of(text)
    if word and token.shape != "clock" and (more := _minutes_behind(words, end)):
        end, minute = more
    if not word and token.shape != "clock" and not _part_of_clock(words, at, end):
        return None
    bare = text.replace(":", "").isdigit() and not word  # "8:25" may be a sign
    twelve = word is not None and word[1] == "12" and token.shape != "clock"
    return _Clock(end, hour * 60 + minute, twelve, not bare)


def _part_of_clock(words: Words, at: int, end: int) -> bool:
    """ "5 in the afternoon", "8 abends"; but "two mornings" and "à midi" are none."""
    if words.match("clockpart", end):
        return True
    article = words.shape(at) == "word" and words.match("count", at) == (at + 1, "1")
    if article and not words.match("one", at):
        return False
    return _part_behind(words, end) is not None and not (
        words.match("part", end) or words.match("part?", end)
    )


def _minutes_behind(words: Words, at: int) -> tuple[int, int] | None:
    """ "8 Uhr 30", "six heures et quart", "六点半"."""
    if found := words.match("minutesafter", at):
        return found[0], int(found[1]) % 60 if int(found[1]) >= 0 else 60 + int(found[1])
    token = words.token(at)
    if token is not None and token.shape == "number" and len(token.text) == 2:
        behind = words.match("minuteword", at + 1)
        if behind and int(token.text) > 59:
            raise TimeWordsError(f"no hour has {token.text} minutes", hint="write 15:30 or 3:30 pm")
        return (words.skip("minuteword", at + 1), int(token.text)) if int(token.text) < 60 else None
    if (number := words.count(at)) and (behind := words.match("minuteword", number[0])):
        return behind[0], number[1]
    return None


def _spoken(words: Words, at: int) -> _Clock | None:
    """ "quarter past six", "ten to eight", "halb sieben", "las seis y media"."""
    if found := words.match("clockbefore", at):  # minutes to add to the hour that follows
        if hour := _hour(words, found[0]):
            return _spoken_clock(hour[0], hour[1] * 60 + int(found[1]))
        number = words.count(found[0])
        if number and words.match("clockcue", at - 1):
            hour_of(str(number[1]))  # "at half past 27"
        return None
    if (number := words.count(at)) and (joint := words.match("past", number[0])):
        hour = _hour(words, joint[0])
        if hour and number[1] < 60:
            return _spoken_clock(hour[0], hour[1] * 60 + int(joint[1]) * number[1])
        return None
    start = words.skip("lashour", at)
    hour = _hour(words, start)
    behind = words.match("minutesafter", hour[0]) if hour else None
    if hour is None or behind is None:
        return None
    return _spoken_clock(behind[0], hour[1] * 60 + int(behind[1]))


def _hour(words: Words, at: int) -> tuple[int, int] | None:
    found = words.match("namedhour", at) or words.count(at)
    if not found or not 0 <= int(found[1]) <= 24:
        return None
    return words.skip("clockword", found[0]), int(found[1])


def _spoken_clock(end: int, minute: int) -> _Clock:
    return _Clock(end, minute % DAY_MINUTES, minute < _HALF_DAY + 60, True)


def _part_behind(words: Words, at: int) -> tuple[int, str] | None:
    """ "in the afternoon" or "nachmittags" behind an hour."""
    for start in (at, words.skip("join", at)):
        for kind in ("part", "part?"):
            if found := words.match(kind, start):
                return found
    return None


def hour_of(text: str) -> tuple[int, int]:
    """Hour and minute of "15:30", "3.30 pm", "15h30", "8"."""
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 0
    half = re.search(r"([ap])\.?m", text.casefold())
    if hour > 24 or minute > 59 or (hour == 24 and minute) or (half and not 1 <= hour <= 12):
        raise TimeWordsError(f"there is no time of day {text!r}", hint="write 15:30 or 3:30 pm")
    if half:
        hour = hour % 12 + (12 if half[1] == "p" else 0)
    return hour % 24, minute

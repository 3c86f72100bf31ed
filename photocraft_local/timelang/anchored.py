"""Times that lean on an event which the text names: "the day after we arrived in Siena", "an
hour before the concert", "am Tag nach der Hochzeit", "婚礼后的第二天".

Says where the head words and the event's words stand and how the time lies to the event; what
the event is, and when it was, is the caller's to find.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang.anchored_chinese import find as find_chinese
from photocraft_local.timelang.anchored_time import SIZES, AnchoredTime, Side, Unit
from photocraft_local.timelang.grammar import phrase
from photocraft_local.timelang.heads import Fit, fits
from photocraft_local.timelang.recurring import PARTS
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Words

_TODAY = date(2000, 1, 1)  # no meaning is taken from it: only whether a time follows
_LONGEST = 12  # tokens of the first of two events
_NEAR_EVENT = 6  # tokens within which "the day of …" must name what happens


def find_anchored(text: str) -> list[AnchoredTime]:
    """Times beside an event that a question names, in order, their heads apart.

    Empty where a time by itself follows ("the day after Christmas 2020"): ``find_times`` reads
    those. "between the wedding and the party" gives two: since the one, until the other.
    """
    return list(_found_in(text))


@lru_cache(maxsize=64)
def _found_in(text: str) -> tuple[AnchoredTime, ...]:
    """Kept, since ``find_times`` asks for the same text; no meaning depends on a day."""
    return tuple(_anchored_in(Words(text, _TODAY)))


def _anchored_in(words: Words) -> list[AnchoredTime]:
    found = find_chinese(words.text)
    if found:
        return found
    at = 0
    while at < len(words):
        pair = _between(words, at)
        one = None if pair else _prefix(words, at)
        if pair:
            found += pair[1]
            at = pair[0]
        elif one:
            found.append(one[1])
            at = one[0]
        else:
            at += 1
    return found


def _prefix(words: Words, at: int) -> tuple[int, AnchoredTime] | None:
    """The longest head at ``at`` behind which an event may stand: (token behind it, the time)."""
    for fit in fits(words, at):
        if fit.end >= len(words) or words.shape(fit.end) in ("comma", "other"):
            continue
        if _is_a_time(words, at, fit.end):
            continue
        sure = _is_event(words, fit)
        if sure is None or time_follows(words, fit.end):
            continue
        return _time(words, at, fit, sure)
    return None


def _is_a_time(words: Words, at: int, end: int) -> bool:
    """Whether the head's own words are part of a time: "el mes que viene"."""
    ends = (_time_end(words, start) for start in {at, words.skip("article", at)})
    return any(found is not None and found > end for found in ends)


def _is_event(words: Words, fit: Fit) -> bool | None:
    """Whether what follows surely happens; None where the head needs that and it does not."""
    clause = words.match("clause", fit.end) is not None
    if fit.head.needs == "clause":  # "the day my sister got married", "als die Kinder kamen"
        clause = clause or words.match("article", fit.end) is not None
    event = fit.head.needs != "clause" and names_event(words, fit.end)
    if "part" in fit.slots and words.key(fit.end).endswith("ing"):
        return None  # "in the morning before going to work": the same morning
    if fit.head.needs == "sure":
        return True
    held = {"clause": clause, "event": event or arrival(words, fit.end) is not None}
    for kind in ("ours", "definite"):
        held[kind] = words.match(kind, fit.end) is not None
    held["either"] = clause or held["event"]
    if fit.head.needs:
        return True if held[fit.head.needs] else None
    if fit.head.unit == "moment" and fit.head.side == "at":  # "a man during a match" is one look
        return held["either"] and words.match("definite", fit.end) is not None
    return held["either"] or "which" in fit.slots or "nth" in fit.slots


def names_event(words: Words, at: int) -> bool:
    """Whether a word for something that happens stands near, before the clause ends."""
    for near in range(at, min(at + _NEAR_EVENT, len(words))):
        if words.shape(near) in ("comma", "dash") or (near > at and words.match("cue", near)):
            break
        if words.match("event", near):
            return True
    return False


def arrival(words: Words, at: int) -> tuple[int, str] | None:
    return words.match("arrive", at)


def time_follows(words: Words, at: int) -> bool:
    """Whether a time by itself stands there: "after 6 pm", but not "after the 2019 wedding"."""
    starts = {at, words.skip("lead", at), words.skip("article", at)}
    return any(
        end is not None and not names_event(words, end)
        for end in (_time_end(words, start) for start in starts)
    )


def _time_end(words: Words, at: int) -> int | None:
    """The token behind a time at ``at``, if there is one; also behind one that cannot be."""
    try:
        found = phrase(words, at, cued=True)
    except TimeWordsError:  # "the day after 31 June": find_times says what is wrong
        return at + 1
    return found.end if found else None


def _time(words: Words, at: int, fit: Fit, sure: bool) -> tuple[int, AnchoredTime]:
    end, which = fit.end, "first" if "nth" in fit.slots else fit.slots.get("which", "")
    if came := arrival(words, end):
        end, which = came[0], which or came[1]
    end = end if end < len(words) else fit.end
    last = _clause_end(words, end)
    behind = last
    for near in range(max(end, last - 2), last):
        found = words.match("arrived", near)
        if found and found[0] == last:
            last, which = near, which or found[1]
            break
    unit, shift, within, side = _measured(fit)
    start = words.tokens[at].start
    stop = words.tokens[end - 1].end
    return end, AnchoredTime(
        start, stop, words.tokens[end].start, words.tokens[last - 1].end,
        words.tokens[behind - 1].end, words.text[start:stop], unit, side, shift, within,
        which, _hours(fit), sure,  # type: ignore[arg-type]
    )  # fmt: skip


def _hours(fit: Fit) -> When | None:
    """What of the day or week is meant: the evening, the Monday."""
    if part := fit.slots.get("part"):
        return When(hours=PARTS[part])
    weekday = fit.slots.get("weekday")
    return When(weekdays=(int(weekday),)) if weekday else None


def _measured(fit: Fit) -> tuple[Unit, int, timedelta | None, Side]:
    """Unit, shift, bound and side of a fitting head."""
    head, slots = fit.head, fit.slots
    unit = next((slots[s] for s in ("unit", "small", "plural") if s in slots), "day")
    unit = unit if head.unit == "=" else head.unit
    side, which = head.side, slots.get("which", "")
    count = int(slots.get("count") or slots.get("few") or (3 if "plural" in slots else 1))
    if head.shift == "within":
        size = timedelta(minutes=int(slots["half"])) if "half" in slots else count * SIZES[unit]
        if side == "at":
            side = "after" if which == "first" else "before"
        return unit, 0, size, side  # type: ignore[return-value]
    if head.shift in ("1h", "week"):
        size = SIZES["hour" if head.shift == "1h" else "week"]
        return unit, 0, size, side  # type: ignore[return-value]
    shift = {"+": count, "-": -count, "nth": int(slots.get("nth", 0))}.get(head.shift)
    return unit, int(head.shift) if shift is None else shift, None, side  # type: ignore[return-value]


def _clause_end(words: Words, at: int) -> int:
    """The token behind the clause that begins at ``at``."""
    return max(words.clause_ends[at], at + 1)


def _between(words: Words, at: int) -> tuple[int, list[AnchoredTime]] | None:
    """ "between the wedding and the party"."""
    head = words.match("between", at)
    if not head or time_follows(words, head[0]):
        return None
    end = _clause_end(words, head[0]) if head[0] < len(words) else head[0]
    near_end = min(end, head[0] + _LONGEST)
    joint = next((m for near in range(head[0] + 1, near_end) if (m := _and(words, near))), None)
    if joint is None or joint[1] >= len(words) or time_follows(words, joint[1]):
        return None
    if not (_happens(words, head[0], joint[0]) or names_event(words, joint[1])):
        return None
    return joint[1], [
        _side(words, (at, head[0]), joint[0], "since"),
        _side(words, joint, end, "until"),
    ]


def _and(words: Words, at: int) -> tuple[int, int] | None:
    found = words.match("and", at)
    return (at, found[0]) if found else None


def _happens(words: Words, at: int, end: int) -> bool:
    return any(words.match("event", near) for near in range(at, end))


def _side(words: Words, head: tuple[int, int], end: int, side: Side) -> AnchoredTime:
    tokens = words.tokens
    start, stop = tokens[head[0]].start, tokens[head[1] - 1].end
    last = tokens[end - 1].end
    return AnchoredTime(
        start, stop, tokens[head[1]].start, last, last, words.text[start:stop], "moment", side
    )

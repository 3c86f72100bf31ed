"""Sets in words, and numbers, days and names as a person writes them. Knows no tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from photocraft_local.agent.planner.plan import Apart, Pick, Relation, Wanted

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September"]
_MONTHS += ["October", "November", "December"]


def in_words(wanted: Wanted) -> str:
    """E.g. ``looks like 'dog'; in Lisbon; on the day after (in Tokyo)``."""
    parts = [f"looks like {look}" for look in wanted.looks]
    parts += [condition.words for condition in wanted.conditions]
    parts += [related(relation) for relation in wanted.relations]
    parts += [" or ".join(f"({in_words(part)})" for part in wanted.either)] if wanted.either else []
    parts += [f"looks like {', '.join(wanted.like)}"] if wanted.like else []
    parts += [f"does not look like '{look}'" for look in wanted.not_looks]
    parts += [f"but not ({in_words(part)})" for part in wanted.but_not]
    parts += [picked(wanted.pick)] if wanted.pick else []
    return "; ".join(parts)


def of_pictures(wanted: Wanted) -> bool:
    """Whether it is nothing but pictures of the question: then these themselves are meant."""
    return bool(wanted.like) and wanted == Wanted(like=wanted.like)


def related(relation: Relation) -> str:
    """A relation with what it leans on, e.g. ``the day after (in Siena)``."""
    anchor = ", ".join(relation.anchor.like) if of_pictures(relation.anchor) else ""
    anchor = anchor or in_words(relation.anchor)
    anchor = f" ({anchor})" if anchor else ""
    negation = "not " if relation.negated else ""
    apart = f", {another(relation.apart)}" if relation.apart else ""
    return f"{negation}{relation.words or relation.kind}{anchor}{apart}"


def among(count: int) -> str:
    """Where something was looked for in vain: `` among the 3 photos that meet the rest``."""
    if count == 1:
        return " in the only photo that meets the rest"
    return f" among the {count} photos that meet the rest"


def another(unit: Apart) -> str:
    """``in another year``, ``on another day``."""
    return f"{'on' if unit in ('day', 'trip') else 'in'} another {unit}"


def picked(pick: Pick) -> str:
    """E.g. ``the last two``, ``three nearest to Times Square``."""
    number = f" {pick.count}" if pick.count > 1 else ""
    words = pick.words or f"the {pick.by}{number}"
    if not pick.place or pick.place in words:
        return words
    return f"{words} {'to' if pick.by == 'nearest' else 'from'} {pick.place}"


def listed(words: Sequence[str], most: int = 8) -> str:
    """``A, B and C``; a long list is cut, with the number that is left out."""
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def day_text(moment: date) -> str:
    """``3 April 2022``."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def month_text(year: int, number: int) -> str:
    return f"{_MONTHS[number - 1]} {year}"


def days_text(first: date, last: date) -> str:
    """``on 3 April 2022``, ``from 3 to 9 April 2022``, ``from 30 March to 9 April 2022``."""
    if first == last:
        return f"on {day_text(first)}"
    if first.year != last.year:
        return f"from {day_text(first)} to {day_text(last)}"
    start = str(first.day)
    if first.month != last.month:
        start += f" {_MONTHS[first.month - 1]}"
    return f"from {start} to {day_text(last)}"


def kilometres(km: float) -> str:
    """``1,112 km``, ``3.4 km``, ``350 m``."""
    if km < 1:
        return f"{round(km * 1000)} m"
    return f"{km:.1f} km" if km < 10 else f"{round(km):,} km"


def length(span: timedelta) -> str:
    """A stretch of time in the tools' words: ``1d 2h 30m``."""
    seconds = round(span.total_seconds())
    parts = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        number, seconds = divmod(seconds, size)
        parts += [f"{number}{unit}"] if number else []
    return " ".join(parts)


def sentences(texts: Iterable[str]) -> str:
    """Each with a capital and a full stop, one behind the other."""
    parts = [text.strip().rstrip(".") for text in texts]
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts if part)

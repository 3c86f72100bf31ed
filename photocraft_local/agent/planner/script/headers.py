"""The words by which a plan's text names relations, picks and asks, in both directions.

"2 days after" ↔ a relation by day with shift 2. What a header cannot say stands in the lines
of its block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from photocraft_local.agent.planner.plan import Ask, AskKind, Pick, PickBy, Relation, RelationKind

SHIFTED = ("day", "week", "weekend", "month", "year", "event", "trip")
SIDES = ("before", "after", "around")
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
_NUMBER = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_HEADER = re.compile(
    rf"(?P<negated>not )?(?:same (?P<same>{'|'.join((*SHIFTED, 'place'))}) as"
    rf"|within (?P<km>{_NUMBER}) km of"
    rf"|(?:(?P<count>\d+) )?(?P<shifted>{'|'.join(SHIFTED)})s? (?P<way>before|after)"
    rf"|(?:within (?P<within>.+) )?(?P<side>{'|'.join(SIDES)}))"
)
_PICKS: Mapping[str, PickBy] = {
    "first": "first", "last": "last", "best": "best", "northernmost": "north",
    "southernmost": "south", "easternmost": "east", "westernmost": "west",
    "nearest": "nearest", "farthest": "farthest",
}  # fmt: skip
_ASKS: Mapping[AskKind, str] = {
    "photos": "photos", "count": "how many", "exists": "whether any", "when": "when",
    "where": "where", "camera": "which camera", "span": "between which dates",
    "distance": "how far apart",
}  # fmt: skip
EXAMPLES = ("same day as", "day after", "2 days before", "same place as", "within 5 km of",
            "before", "within 2 hours after", "same trip as", "event after")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Header:
    """The fields of a relation that its header says."""

    kind: RelationKind
    shift: int = 0
    within: timedelta | None = None
    km: float | None = None
    negated: bool = False


def header_of(key: str) -> Header | None:
    """None if ``key`` is no header of a relation."""
    match = _HEADER.fullmatch(key)
    if match is None:
        return None
    negated = bool(match["negated"])
    if match["same"]:
        return Header(match["same"], negated=negated)  # type: ignore[arg-type]
    if match["km"]:
        return Header("place", km=float(match["km"]), negated=negated)
    if match["shifted"]:
        count = int(match["count"] or 1) * (1 if match["way"] == "after" else -1)
        return Header(match["shifted"], shift=count, negated=negated)  # type: ignore[arg-type]
    within = stretch(match["within"]) if match["within"] else None
    if match["within"] and within is None:
        return None
    return Header(match["side"], within=within, negated=negated)  # type: ignore[arg-type]


def header_text(relation: Relation) -> str:
    """As much of the relation as a header can say."""
    return ("not " if relation.negated else "") + _positive(relation)


def _positive(relation: Relation) -> str:
    if relation.kind == "place":
        return "same place as" if relation.km is None else f"within {relation.km!r} km of"
    if relation.kind in SIDES:
        within = relation.within
        return relation.kind if within is None else f"within {in_units(within)} {relation.kind}"
    if not relation.shift:
        return f"same {relation.kind} as"
    way = "after" if relation.shift > 0 else "before"
    count = abs(relation.shift)
    return f"{relation.kind} {way}" if count == 1 else f"{count} {relation.kind}s {way}"


def unsaid(relation: Relation) -> Iterator[tuple[str, str]]:
    """Key and value of what the header leaves out."""
    said = header_of(header_text(relation))
    if relation.which != "each":
        yield "which", relation.which
    if relation.apart:
        yield "apart", relation.apart
    if said and relation.shift != said.shift:
        yield "shift", str(relation.shift)
    if said and relation.km is not None and relation.km != said.km:
        yield "km", repr(relation.km)
    if said and relation.within is not None and relation.within != said.within:
        yield "within", in_units(relation.within)


def in_units(length: timedelta) -> str:
    """``2 hours 30 minutes``; exact."""
    micro = length // timedelta(microseconds=1)
    whole, rest = divmod(micro, 1_000_000)
    parts = []
    for name, size in _UNITS:
        count, whole = divmod(whole, size)
        if name == "second" and rest:
            parts.append(f"{count}.{rest:06d} seconds")
        elif count:
            parts.append(f"{count} {name}{'s' if count != 1 else ''}")
    return " ".join(parts) or "0 seconds"


def stretch(text: str) -> timedelta | None:
    """The length that ``in_units`` writes; None for other words."""
    names = dict((*_UNITS, ("week", 7 * 86_400)))
    found = re.findall(rf"({_NUMBER}) ?({'|'.join(names)})s?\b", text)
    if re.sub(rf"{_NUMBER} ?(?:{'|'.join(names)})s?\b|,|\band\b", " ", text).strip() or not found:
        return None
    micro = sum(round(float(number) * 1_000_000) * names[name] for number, name in found)
    try:
        return timedelta(microseconds=micro)
    except OverflowError:
        return None


def pick_of(key: str) -> PickBy | None:
    return _PICKS.get(key)


def pick_key(pick: Pick) -> str:
    return next(key for key, by in _PICKS.items() if by == pick.by)


def ask_of(text: str) -> tuple[AskKind, str] | None:
    """Kind and unit."""
    for kind, words in _ASKS.items():
        if text == words or text.startswith(f"{words} "):
            return kind, text.removeprefix(words).strip()
    return None


def ask_text(ask: Ask) -> str:
    return f"{_ASKS[ask.kind]} {ask.unit}".strip()


def all_keys() -> tuple[str, ...]:
    return (*_PICKS, *EXAMPLES)


def all_asks() -> tuple[str, ...]:
    return tuple(_ASKS.values())

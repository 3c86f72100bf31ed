"""Words by which photos lean on others, with the stretch of text that describes those others.

Times beside an event come from the time language; trips, events and places from ``heads.tsv``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import cast

from photocraft_local.agent.planner.plan import RelationKind
from photocraft_local.agent.planner.understand.phrases import Phrase, phrase_of, phrases
from photocraft_local.agent.planner.understand.picks import numbers
from photocraft_local.agent.planner.understand.sheet import Sheet
from photocraft_local.timelang import AnchoredTime, When, find_anchored, parse_when
from photocraft_local.timelang.anchored_time import SIZES

_CLAUSE_END = re.compile(r"[,;:?!。，？！；]|\.(?=\s|$)")
_KM_PER_UNIT = {"k": 1.0, "mi": 1.609344, "m": 0.001}
_THESE = re.compile(r"(?:the|those|these|den|die|les|los|las)\b", re.IGNORECASE)
_ORDER = re.compile(r"\b(?:first|last)\b", re.IGNORECASE)
_CJK = re.compile(r"[\u4e00-\u9fff]")
_PART = re.compile(r"morning|afternoon|evening|night", re.IGNORECASE)
_MEANWHILE = re.compile(
    r"(?:while|whilst|when|als|während|quand|pendant que|lorsque|cuando|mientras)$", re.IGNORECASE
)
_SIDES = ("before", "after", "around")
UNITS = ("day", "week", "weekend", "month", "year")


@dataclass(frozen=True, slots=True)
class Head:
    """``text[start:end]`` leans on what ``text[anchor_start:anchor_end]`` describes; up to
    ``stop`` its own words go on. ``hours`` narrows the photos to a part of the day."""

    start: int
    end: int
    anchor_start: int
    anchor_end: int
    stop: int
    kind: RelationKind
    shift: int = 0
    which: str = ""
    within: timedelta | None = None
    km: float | None = None
    hours: When | None = None
    apart: str = ""
    is_choice: bool = False  # one or the other of this and the head before
    is_meanwhile: bool = False  # at the time itself, whatever its length

    @property
    def first(self) -> int:
        return min(self.start, self.anchor_start)

    @property
    def last(self) -> int:
        return max(self.end, self.anchor_end, self.stop)


def find_heads(sheet: Sheet) -> list[Head]:
    """All heads, their words apart, in the text's order; their words are claimed."""
    heads: list[Head] = []
    tables = (_of_table(sheet, "heads"), _of_times(sheet), _of_table(sheet, "late_heads"))
    for head in itertools.chain(*tables):
        if sheet.draft.is_free(head.start, head.end):
            sheet.draft.claim(head.start, head.end)
            if head.within:
                sheet.draft.claim_before(head.start, phrase_of("joints", "at_most"))
            sheet.draft.claim(head.anchor_end, max(head.stop, head.anchor_end))
            sheet.draft.claim_before(head.anchor_start, phrase_of("joints", "came"))
            heads.append(head)
    heads = [_part_of_day(sheet, head) for head in sorted(heads, key=lambda head: head.start)]
    heads = _siblings(sheet, heads)
    heads = [_with_subject(sheet, head) for head in heads]
    return _with_apart(sheet, heads)


def _with_subject(sheet: Sheet, head: Head) -> Head:
    """ "the day we came back from": the last there; "the day we flew to": the first."""
    for key, which in (("last_subject", "last"), ("first_subject", "first")):
        match = phrase_of("fillers", key).match(
            sheet.draft.text, head.anchor_start, head.anchor_end
        )
        if match and sheet.draft.is_free(match.start(), match.end()):
            sheet.draft.claim(match.start(), match.end())
            return head if head.which else replace(head, which=which)
    subject = claim_subject(sheet, head.anchor_start, head.anchor_end)
    order = _ORDER.search(subject)
    return replace(head, which=order.group().lower()) if order and not head.which else head


def _part_of_day(sheet: Sheet, head: Head) -> Head:
    """ "the morning of | our last day in Florence"."""
    found = sheet.draft.before(head.start, phrase_of("joints", "part"))
    if not found or head.kind != "day" or head.hours:
        return head
    part = next(name for name, said in found.groupdict().items() if said)
    sheet.draft.claim(found.start(), head.start)
    return replace(head, start=found.start(), hours=parse_when(f"at {part}", today=date.min))


def _siblings(sheet: Sheet, heads: list[Head]) -> list[Head]:
    """ "after A and before B" lean on the same photos, "the day of A or the day of B" on either:
    the first one's words end at the joint."""
    for index, (left, right) in enumerate(itertools.pairwise(heads)):
        if not left.anchor_start < right.start <= left.anchor_end:
            continue
        for key, either in (("and_before", False), ("or_before", True)):
            found = sheet.draft.before(right.start, phrase_of("joints", key))
            if found and found.start() > left.anchor_start:
                sheet.draft.claim(found.start(), right.start)
                heads[index] = replace(left, anchor_end=found.start(), stop=found.start())
                both = right.kind in _SIDES and left.kind in _SIDES
                heads[index + 1] = replace(right, is_choice=either or not both)
    return heads


def find_named_heads(sheet: Sheet) -> list[Head]:
    """ "the skatepark day", "our ski trip": what no time and no place has claimed."""
    heads = []
    for head in _of_table(sheet, "heads_beside_looks"):
        if sheet.draft.is_free(head.start, head.end):
            sheet.draft.claim(head.start, head.end)
            heads.append(head)
    for match in list(sheet.draft.matches(phrase_of("joints", "named_unit"))):
        start, end = match.span("anchor")
        if phrase_of("joints", "no_name").search(match["anchor"]):
            continue
        sheet.draft.claim(match.start(), start)
        sheet.draft.claim(end, match.end())
        kind = cast(RelationKind, match["unit"].lower())
        heads.append(Head(match.start(), start, start, end, match.end(), kind))
    return heads


def _with_apart(sheet: Sheet, heads: list[Head]) -> list[Head]:
    """ "in another year" right before a head of a place, else behind one."""
    for phrase in phrases("apart"):
        for match in list(sheet.draft.matches(phrase.pattern)):
            if phrase.cells[0] == "exactly":
                reason = "how much later is not compared; 'in another year' is"
                sheet.block(match.start(), match.end(), reason)
                continue
            placed = [head for head in heads if head.kind == "place"]
            behind = [head for head in placed if _follows(sheet, match.end(), head.first)]
            before = [head for head in placed if head.start < match.start()]
            if meant := behind[:1] or before[-1:]:
                sheet.draft.claim(match.start(), match.end())
                heads[heads.index(meant[0])] = replace(meant[0], apart=phrase.cells[0])
            else:
                sheet.block(match.start(), match.end(), "other than what, is not said")
    return heads


def _follows(sheet: Sheet, end: int, start: int) -> bool:
    """Whether nothing but blanks and a comma stands between."""
    return end <= start and not sheet.draft.text[end:start].strip(" ,，、和跟与同")


def _of_times(sheet: Sheet) -> Iterator[Head]:
    text = sheet.draft.text
    for time in find_anchored(text):
        if phrase_of("joints", "distance").match(text, time.end):
            continue  # "up to 100 km from Lisbon"
        if head := _time_head(time):
            yield head


def _time_head(time: AnchoredTime) -> Head | None:
    bounds = time.start, time.end, time.anchor_start, time.anchor_end, time.stop
    if time.unit in UNITS and time.side == "at":
        if abs(time.shift) > 1 and _THESE.match(time.text):
            side: RelationKind = "after" if time.shift > 0 else "before"
            within = SIZES[time.unit] * abs(time.shift)
            return Head(*bounds, side, which=time.which, within=within)
        kind = cast(RelationKind, time.unit)
        return Head(*bounds, kind, time.shift, time.which, hours=time.hours)
    if time.side in ("before", "until"):
        which: str = time.which or ("last" if time.side == "until" else "first")
        which = _of_many(time, which)
        return Head(*bounds, "before", which=which, within=time.within, hours=time.hours)
    if time.side in ("after", "since"):
        which = time.which or ("first" if time.side == "since" else "last")
        which = _of_many(time, which)
        return Head(*bounds, "after", which=which, within=time.within, hours=time.hours)
    if time.within is not None:
        return Head(*bounds, "around", which=time.which, within=time.within)
    return Head(*bounds, "event", which=time.which, is_meanwhile=True)


def _of_many(time: AnchoredTime, which: str) -> str:
    """ "within an hour after": of each photo; "after": once all of it is over."""
    return time.which if time.within is not None else which


def _of_table(sheet: Sheet, name: str) -> Iterator[Head]:
    for phrase in phrases(name):
        for match in phrase.pattern.finditer(sheet.draft.text):
            if _stands_alone(sheet.draft.text, match.start(), match.end()):
                yield _table_head(sheet, phrase, match)


def _stands_alone(text: str, start: int, end: int) -> bool:
    if _CJK.match(text, start):
        return True
    before, behind = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or (behind.isalnum() and text[end - 1].isalnum()))


def _table_head(sheet: Sheet, phrase: Phrase, match: re.Match[str]) -> Head:
    kind, shift, which, km = phrase.cells
    found = match.groupdict()
    text = sheet.draft.text
    if found.get("told"):  # Chinese names first what it leans on
        said = *match.span("mark"), *match.span("told"), match.end("mark")
        return Head(*said, cast(RelationKind, kind), int(shift), which)
    end = match.end()
    start = end + len(text[end:]) - len(text[end:].lstrip())
    clause = _CLAUSE_END.search(text, start)
    stop = max(clause.start() if clause else len(text), start)
    count = found.get("count") or "1"
    return Head(
        match.start(),
        end,
        start,
        stop,
        stop,
        cast(RelationKind, kind),
        shift=int(shift) * (int(count) if count.isdigit() else numbers()[count.lower()]),
        which=which,
        km=_kilometres(found) if "km" in found else float(km) if km else None,
        hours=_hours_in(match.group()) if kind == "day" else None,
        is_meanwhile=bool(_MEANWHILE.match(match.group())),
    )


def _hours_in(text: str) -> When | None:
    found = _PART.search(text)
    return parse_when(f"at {found.group()}", today=date.min) if found else None


def _kilometres(found: dict[str, str]) -> float:
    unit = found["unit"].lower()
    return float(found["km"]) * next(
        size for mark, size in _KM_PER_UNIT.items() if unit.startswith(mark)
    )


def claim_subject(sheet: Sheet, start: int, end: int) -> str:
    """ "we saw | a cow": who and what they did is not looked for; an unknown verb is named.
    Returns the words that are claimed."""
    draft, at = sheet.draft, start
    match = phrase_of("fillers", "subject").match(draft.text, start, end)
    if match and draft.is_free(match.start(), match.end()):
        draft.claim(match.start(), match.end())
        start = match.end()
        verb = phrase_of("fillers", "deed").match(draft.text, start, end)
        if verb and draft.is_free(verb.start(), verb.end()):
            sheet.set_aside(verb.start(), verb.end(), "taken as a photo of what was so treated")
    return draft.text[at:start]

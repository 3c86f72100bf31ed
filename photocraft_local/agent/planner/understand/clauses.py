"""A stretch of the question → the set that it describes.

What recognisers found is taken from the sheet, and what nobody claimed is the look. Two parts of
one kind that "or" joins are a choice within one condition; parts of different kinds are two sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.conditions import (
    CameraCondition,
    FactCondition,
    PlaceCondition,
    Spot,
    TimeCondition,
)
from photocraft_local.agent.planner.looks import claim_unwanted, phrase
from photocraft_local.agent.planner.mentions import Piece
from photocraft_local.agent.planner.plan import Look, Wanted
from photocraft_local.agent.planner.understand.looking import looks_in
from photocraft_local.agent.planner.understand.phrases import phrase_of
from photocraft_local.agent.planner.understand.sheet import Sheet
from photocraft_local.agent.planner.understand.unions import any_of, claim_joints
from photocraft_local.timelang import find_times

_PEOPLE = "people"
_KINDS: list[type] = [TimeCondition, PlaceCondition, CameraCondition, FactCondition]


def simple(sheet: Sheet, start: int, end: int) -> Wanted:
    """The set of a stretch in which nothing leans on other photos."""
    draft = sheet.draft
    nobody = bool(draft.claim_all(phrase_of("joints", "nobody"), start, end))
    unwanted = [*claim_unwanted(draft, start, end), *[_PEOPLE] * nobody]
    times = {text: time for text in unwanted if (time := _time_in(sheet, text))}
    unwanted = [text for text in unwanted if text not in times]
    bounds = _split(sheet, start, end)
    leads = len(bounds) > 1 and _leads(sheet, *bounds[0])
    chunks = [_chunk(sheet, *stretch) for stretch in bounds]
    joined = _joined([chunk for chunk in chunks if not chunk.is_empty], leads=leads)
    return replace(
        joined,
        not_looks=tuple(dict.fromkeys((*unwanted, *joined.not_looks))),
        conditions=(*joined.conditions, *times.values()),
    )


def _time_in(sheet: Sheet, text: str) -> TimeCondition | None:
    """ "2022 without March": what must not be seen may be a time."""
    said = f"in {text}"
    whens = [
        mention.when
        for mention in find_times(said, today=sheet.today, habits=sheet.habits)
        if mention.text == said
    ]
    return TimeCondition(f"not {said}", tuple(whens), negated=True) if whens else None


def _split(sheet: Sheet, start: int, end: int) -> list[tuple[int, int]]:
    """The stretches between loose "or"s. Those inside of one condition are claimed already."""
    joints = [match.span() for match in sheet.draft.matches(words.LOOSE_OR, start, end)]
    for joint in joints:
        sheet.draft.claim(*joint)
    bounds, at = [], start
    for first, last in sorted([*joints, *claim_joints(sheet, start, end)]):
        bounds.append((at, first))
        at = last
    return [*bounds, (at, end)]


def _leads(sheet: Sheet, start: int, end: int) -> bool:
    """ "in Lisbon, cats | or dogs": what is said before all choices holds for each."""
    last = max((piece.end for piece in sheet.within(start, end)), default=start)
    before = sheet.draft.segments(start, last)
    return last > start and not any(phrase(sheet.draft.text[at:upto]) for at, upto in before)


def _chunk(sheet: Sheet, start: int, end: int) -> Wanted:
    conditions = tuple(piece.condition for piece in sheet.take(start, end))
    wanted = Wanted(looks=looks_in(sheet, start, end), conditions=conditions)
    sheet.draft.claim(start, end)  # so that no stretch around it takes the looks as well
    return wanted


def _joined(chunks: Sequence[Wanted], *, leads: bool) -> Wanted:
    """What an "or" between stretches means, from what stands on either side of it. ``leads``:
    the first one's conditions stand before all the rest."""
    if len(chunks) < 2:
        return chunks[0] if chunks else Wanted()
    *before, last = chunks
    if leads and chunks[0].looks and all(_is_one_look(chunk) for chunk in chunks[1:]):
        first = replace(chunks[0], conditions=())
        joined = _choice_of_looks([first, *before[1:]], last)
        return replace(joined, conditions=chunks[0].conditions)
    if all(_is_one_look(chunk) for chunk in before) and last.looks:
        return _choice_of_looks(before, last)
    first, *others = chunks
    if first.looks and first.conditions and not any(chunk.looks for chunk in others):
        shared = replace(first, conditions=first.conditions[:-1])
        choice = any_of([Wanted(conditions=first.conditions[-1:]), *others])
        conditions = (*shared.conditions, *choice.conditions)
        return replace(shared, conditions=conditions, either=choice.either)
    return any_of(chunks)


def _is_one_look(wanted: Wanted) -> bool:
    """One, or a list: "a tiger, a lion or a bear"."""
    return bool(wanted.looks) and not wanted.conditions


def _choice_of_looks(before: Sequence[Wanted], last: Wanted) -> Wanted:
    """ "cats or dogs in Lisbon": the condition holds for both."""
    first_of_last, *rest = last.looks
    texts = [text for chunk in before for look in chunk.looks for text in look.texts]
    choice = Look(tuple(dict.fromkeys((*texts, *first_of_last.texts))))
    return replace(last, looks=(choice, *rest))


def halves(sheet: Sheet, end: int) -> list[tuple[int, int]]:
    """ "from A to B", "between A and B": the two stretches; one if there is no such joint."""
    _split_spots(sheet)
    for match in phrase_of("joints", "pair").finditer(sheet.draft.text):
        if all(_has_words(sheet, *side) for side in _around(match.start(), end)):
            sheet.draft.claim(match.start(), match.end())
            return list(_around(match.start(), end))
    cuts = [at for piece in sheet.pieces for at in (piece.end, piece.start)]
    for at in cuts:  # "how far from home was the northernmost photo"
        if all(_has_words(sheet, *side) for side in _around(at, end)):
            return list(_around(at, end))
    return [(0, end)]


def _around(at: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (0, at), (at, end)


def _split_spots(sheet: Sheet) -> None:
    """ "Lisbon and Porto" are no choice here, and "far from home" is not away from it."""
    for piece in list(sheet.pieces):
        condition = piece.condition
        if isinstance(condition, PlaceCondition) and condition.negated:
            sheet.pieces.remove(piece)
            condition = PlaceCondition(condition.words, tuple(map(_inside, condition.spots)))
            piece = replace(piece, condition=condition)
            sheet.pieces.append(piece)
        ends = _ends(condition) if isinstance(condition, PlaceCondition) else ()
        if len(ends) == 2:
            sheet.pieces.remove(piece)
            first, second = ends
            said = sheet.draft.text
            cut = said.find(first.name, piece.start) + len(first.name)
            one = PlaceCondition(first.name, (first,))
            two = PlaceCondition(second.name, (second,))
            sheet.pieces += [Piece(piece.start, cut, one), Piece(cut, piece.end, two)]


def _inside(spot: Spot) -> Spot:
    how = replace(spot.how, relation="in", km=None) if spot.how else None
    return Spot(spot.name, spot.areas, None, how)


def _ends(condition: PlaceCondition) -> tuple[Spot, ...]:
    """ "between A and B" names two places as well."""
    how = condition.spots[0].how
    if how and how.relation == "between" and how.to:
        parts = (replace(how, relation="in", to=None), replace(how.to, relation="in"))
        return tuple(Spot(part.name, (part.area, *part.others), None, part) for part in parts)
    return condition.spots


def _has_words(sheet: Sheet, start: int, end: int) -> bool:
    segments = sheet.draft.segments(start, end)
    pieces = any(True for _ in sheet.within(start, end))
    pieces = pieces or any(start <= first < end for first, _, _ in sheet.picks)
    pieces = pieces or any(start <= at < end for at in sheet.likes)
    return pieces or any(phrase(sheet.draft.text[left:right]) for left, right in segments)


def in_order(wanted: Wanted) -> Wanted:
    """The conditions by kind, whatever order the question has: time, place, camera, facts."""
    distinct = {condition.where: condition for condition in wanted.conditions}
    ordered = sorted(distinct.values(), key=lambda c: (_KINDS.index(type(c)), c.where))
    return replace(
        wanted,
        conditions=tuple(ordered),
        either=tuple(in_order(part) for part in wanted.either),
        but_not=tuple(in_order(part) for part in wanted.but_not),
        relations=tuple(
            replace(relation, anchor=in_order(relation.anchor)) for relation in wanted.relations
        ),
    )

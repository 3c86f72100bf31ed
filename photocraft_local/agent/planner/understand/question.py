"""A question → its plan: ``understand``.

Recognisers claim their words in a fixed order, from the surest to the loosest; then ``clauses``
builds the described sets. Words that matter but cannot be followed block the answer, others
without effect are named: none is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.cameras import (
    bare_cameras,
    claim_lone_camera,
    known_cameras,
    placed_cameras,
)
from photocraft_local.agent.planner.conditions import FactCondition
from photocraft_local.agent.planner.draft import Draft, Unused, plain
from photocraft_local.agent.planner.mentions import Piece, Places, place_pieces, time_pieces
from photocraft_local.agent.planner.plan import MAX_CHAIN, Ask, Plan, Relation, Wanted
from photocraft_local.agent.planner.understand.asks import claim_ask, claim_passive
from photocraft_local.agent.planner.understand.clauses import halves, in_order
from photocraft_local.agent.planner.understand.excepting import (
    mark_excepted,
    turn_denied,
    unturn_excepted,
)
from photocraft_local.agent.planner.understand.form import EXAMPLES, check_form
from photocraft_local.agent.planner.understand.heads import (
    Head,
    find_heads,
    find_named_heads,
)
from photocraft_local.agent.planner.understand.languages import check_language
from photocraft_local.agent.planner.understand.namesakes import namesakes
from photocraft_local.agent.planner.understand.phrases import phrase_of
from photocraft_local.agent.planner.understand.picks import mark_picks
from photocraft_local.agent.planner.understand.pictures import leaning, mark_pictures
from photocraft_local.agent.planner.understand.predicates import cut_at_predicate
from photocraft_local.agent.planner.understand.relating import described
from photocraft_local.agent.planner.understand.sheet import Sheet
from photocraft_local.agent.planner.understand.spelling import spelt
from photocraft_local.agent.planner.understand.topics import claim_story
from photocraft_local.agent.planner.understand.unusable import claim_unusable
from photocraft_local.errors import QuestionNotUnderstood
from photocraft_local.timelang import USUAL, Habits


def understand(
    question: str,
    *,
    today: date,
    places: Places,
    pictures: Sequence[str] = (),
    habits: Habits = USUAL,
    cameras: Sequence[str] = (),
) -> Plan:
    """What ``question`` asks for, on the day ``today`` and by the person's ``habits``.

    ``pictures`` are the ids of pictures that came with it ("more of this"), ``cameras`` the names
    of the library's. Raises QuestionNotUnderstood for a form that is not answered and for a
    question of which nothing can be used, TimeWordsError for a date that does not exist.
    """
    typed = plain(question)
    check_form(typed)
    text, notes = spelt(leaning(typed) if pictures else typed)
    sheet = Sheet(Draft(text), today, tuple(pictures), habits, tuple(cameras), notes=notes)
    heads, ask = _recognised(sheet, places)
    wanted, other = _sets(sheet, heads, ask)
    plan = Plan(
        wanted=wanted,
        other=other,
        ask=_fitting(ask, wanted),
        everything=bool(words.ALL.match(text)),
        namesakes=namesakes(wanted, places),
        notes=tuple(sheet.notes),
        unused=tuple(sheet.draft.unused),
        blocked=tuple(sheet.draft.blocked),
    )
    check_language(plan, text)
    if _is_empty(plan) or not words.LETTER.search(text):
        raise QuestionNotUnderstood("no word of the question could be used", hint=EXAMPLES)
    return plan


def _recognised(sheet: Sheet, places: Places) -> tuple[list[Head], Ask]:
    """Each recogniser claims its words, the surest first: a later one sees only what is left."""
    draft = sheet.draft
    claim_story(sheet)
    draft.claim_all(phrase_of("fillers", "polite"))
    heads = cut_at_predicate(sheet, find_heads(sheet))
    ask = claim_ask(draft)
    mark_pictures(sheet)
    mark_excepted(sheet)
    draft.claim_all(words.MUCH)
    _find_pieces(sheet, places)
    draft.claim_all(phrase_of("fillers", "relative"))
    _claim_only(sheet)
    sheet.pieces += [Piece(*placed) for placed in bare_cameras(draft)]
    heads += find_named_heads(sheet)
    claim_unusable(sheet, places)
    sheet.pieces += [Piece(0, 0, camera) for camera in claim_lone_camera(draft)]
    return heads, ask


def _claim_only(sheet: Sheet) -> None:
    """ "only 2020": what metadata decides is never more than that."""
    for match in list(sheet.draft.matches(phrase_of("joints", "only"))):
        after = sheet.draft.text[match.end() :]
        at = match.end() + len(after) - len(after.lstrip())
        if any(piece.start <= at < piece.end for piece in sheet.pieces):
            sheet.draft.claim(match.start(), match.end())


def _fitting(ask: Ask, wanted: Wanted) -> Ask:
    """ "how often did I see a bus" counts occasions, "how often was I in Porto" trips."""
    often = ask.kind == "count" and ask.unit == "trips" and wanted.looks
    return replace(ask, unit="events") if often else ask


def _is_empty(plan: Plan) -> bool:
    asked = plan.everything or plan.blocked or plan.ask.kind != "photos"
    return plan.wanted.is_empty and not asked


def _sets(sheet: Sheet, heads: list[Head], ask: Ask) -> tuple[Wanted, Wanted | None]:
    """The described set; both of them where a distance is asked for."""
    end = len(sheet.draft.text)
    parts = [(0, end)]
    if ask.kind == "distance":
        parts = halves(sheet, end)
        if len(parts) < 2:
            sheet.block(0, end, "two sets are needed, joined by 'and' or 'to'")
    found = [in_order(described(sheet, heads, *bounds)) for bounds in parts]
    for wanted in found:
        _check_depth(sheet, wanted)
    return found[0], found[1] if len(found) > 1 else None


def _check_depth(sheet: Sheet, wanted: Wanted) -> None:
    if wanted.depth() > MAX_CHAIN:
        reason = f"more than {MAX_CHAIN} steps that lean on each other are not followed"
        sheet.draft.blocked.append(Unused(_deepest(wanted), reason))


def _deepest(wanted: Wanted) -> str:
    """The heads of the longest chain, outermost first."""
    relations = [*wanted.relations, *(r for part in wanted.parts() for r in part.relations)]
    deepest: Relation | None = max(relations, key=lambda r: r.anchor.depth(), default=None)
    return f"{deepest.words} {_deepest(deepest.anchor)}".strip() if deepest else ""


def _find_pieces(sheet: Sheet, places: Places) -> None:
    draft = sheet.draft
    sheet.pieces += [Piece(*placed) for placed in known_cameras(draft, sheet.cameras)]
    sheet.pieces += [Piece(*placed) for placed in placed_cameras(draft)]
    claim_passive(draft)
    sheet.pieces += time_pieces(draft, sheet.today, sheet.habits)
    for match in draft.matches(phrase_of("joints", "own_unit")):
        draft.claim(match.start(), match.end())
        sheet.units.append(match)
    mark_picks(sheet)
    sheet.pieces += place_pieces(draft, places)
    sheet.notes += dict.fromkeys(note for piece in sheet.pieces for note in piece.notes)
    unturn_excepted(sheet)
    turn_denied(sheet)
    for pattern, where in words.FACTS.items():
        for match in draft.matches(pattern):
            said = draft.claim(match.start(), match.end()).strip()
            sheet.pieces.append(Piece(match.start(), match.end(), FactCondition(said, where)))

"""A question → its plan: ``understand``.

Recognisers claim their words in a fixed order, from the surest to the loosest; then ``clauses``
builds the described sets. Words that matter but cannot be followed block the answer, others
without effect are named: none is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.cameras import claim_lone_camera, placed_cameras
from photocraft_local.agent.planner.conditions import FactCondition
from photocraft_local.agent.planner.draft import Draft, plain
from photocraft_local.agent.planner.mentions import Piece, Places, place_pieces, time_pieces
from photocraft_local.agent.planner.plan import Plan, Wanted
from photocraft_local.agent.planner.reading import _namesakes, _set_aside
from photocraft_local.agent.planner.understand.asks import claim_ask
from photocraft_local.agent.planner.understand.clauses import in_order, simple
from photocraft_local.agent.planner.understand.form import EXAMPLES, check_form
from photocraft_local.agent.planner.understand.phrases import phrase_of
from photocraft_local.agent.planner.understand.sheet import Sheet
from photocraft_local.errors import QuestionNotUnderstood


def understand(question: str, *, today: date, places: Places, pictures: Sequence[str] = ()) -> Plan:
    """What ``question`` asks for, on the day ``today``.

    ``pictures`` are the ids of pictures that came with it ("more of this"). Raises
    QuestionNotUnderstood for a form that is not answered and for a question of which nothing
    can be used, TimeWordsError for a date that does not exist.
    """
    text = plain(question)
    check_form(text)
    sheet = Sheet(Draft(text), tuple(pictures))
    draft = sheet.draft
    everything = bool(words.ALL.match(text))
    draft.claim_all(phrase_of("fillers", "polite"))
    ask = claim_ask(draft)
    draft.claim_all(words.MUCH)
    _find_pieces(sheet, today, places)
    _set_aside(draft, places)
    sheet.pieces += [Piece(0, 0, camera) for camera in claim_lone_camera(draft)]
    wanted = in_order(simple(sheet, 0, len(text)))
    plan = Plan(
        wanted=wanted,
        ask=ask,
        everything=everything,
        namesakes=_all_namesakes(wanted, places),
        notes=tuple(sheet.notes),
        unused=tuple(draft.unused),
        blocked=tuple(draft.blocked),
    )
    if _is_empty(plan) or not words.LETTER.search(text):
        raise QuestionNotUnderstood("no word of the question could be used", hint=EXAMPLES)
    return plan


def _is_empty(plan: Plan) -> bool:
    asked = plan.everything or plan.blocked or plan.ask.kind != "photos"
    return plan.wanted.is_empty and not asked


def _find_pieces(sheet: Sheet, today: date, places: Places) -> None:
    draft = sheet.draft
    sheet.pieces += [Piece(*placed) for placed in placed_cameras(draft)]
    sheet.pieces += time_pieces(draft, today)
    sheet.pieces += place_pieces(draft, places)
    for pattern, where in words.FACTS.items():
        for match in draft.matches(pattern):
            said = draft.claim(match.start(), match.end()).strip()
            sheet.pieces.append(Piece(match.start(), match.end(), FactCondition(said, where)))


def _all_namesakes(wanted: Wanted, places: Places) -> tuple[str, ...]:
    texts = [text for look in wanted.looks for text in look.texts]
    found = [name for text in texts for name in _namesakes(text, places)]
    found += [name for part in wanted.parts() for name in _all_namesakes(part, places)]
    return tuple(dict.fromkeys(found))

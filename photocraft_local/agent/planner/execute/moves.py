"""A plan as a coroutine: yields the next move, is sent what came back.

    find the set → re-check its metadata → what the answer has to say → submit

Straight code, no state of its own: the planner runs it again from the start in each turn and
feeds it the results that stand in the messages.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from photocraft_local.agent.planner.conditions import FIELDS
from photocraft_local.agent.planner.execute.answering import answer_text, needs_facts, none
from photocraft_local.agent.planner.execute.claims import MOST, WHOLE_LIBRARY, Report, claim
from photocraft_local.agent.planner.execute.finding import Finder
from photocraft_local.agent.planner.execute.steps import (
    Finding,
    Found,
    GiveUp,
    Move,
    Moves,
    NothingFound,
    Result,
    taken,
)
from photocraft_local.agent.planner.execute.wording import in_words, sentences
from photocraft_local.agent.planner.plan import Plan, Wanted
from photocraft_local.memory.text import shortened
from photocraft_local.records import ToolCall

MAX_RECHECKED = 100  # photos whose metadata is read once more; submit_answer checks all of them
_CHUNK = 50  # photos of one get_metadata call
_MOST_DROPPED = 1000  # that one call can name
_LONGEST_TEXT, _LONGEST_WORDS, _MOST_WORDS = 4000, 500, 64  # that submit_answer takes
_SUBMITS = 3  # attempts, each without the photos that the one before was refused for


def moves(plan: Plan) -> Moves:
    """The whole plan. It ends with ``submit_answer``, and only a refused one is followed by
    another."""
    try:
        if plan.blocked:
            raise GiveUp("; ".join(f"'{part.words}': {part.reason}" for part in plan.blocked))
        report = Report(notes=[*plan.notes])
        found, facts = yield from _answered(plan, report)
        yield from _submitted(plan, report, found, facts)
        raise GiveUp("the answer was refused again and again")
    except NothingFound as reason:
        yield nothing(plan, str(reason), known=True)
    except GiveUp as reason:
        yield nothing(plan, str(reason))


def nothing(plan: Plan, reason: str, *, known: bool = False) -> Move:
    """The honest empty answer; ``known``: there is none, rather than that it cannot be said."""
    text = f"{none(plan.ask, reason, known=known)} {sentences(plan.notes)}".strip()
    return Move(text, _submission(plan, photos=[], evidence=[], text=text, reason=text))


def _answered(plan: Plan, report: Report) -> Generator[Move, Result, tuple[Found, dict[str, Any]]]:
    """The set of the answer, and what compares it with the plan's other set."""
    finder = Finder(plan.namesakes)
    found = yield from finder.find(plan.wanted, report, Found())
    found = yield from _without_contradicted(plan.wanted, found)
    if plan.other is None:
        return found, {}
    aside = Report()
    try:
        other = yield from finder.find(plan.other, aside, Found(), "other_")
    except NothingFound as reason:
        raise NothingFound(f"of '{in_words(plan.other)}': {reason}") from reason
    result = yield Move(
        "How far apart the two sets are.",
        ToolCall("filter_photos", {"within": found.name, "compare": other.name}),
    )
    both = yield from _combined("both", {"op": "or", "sets": [found.name, other.name]})
    report.claims = report.narrowed(found.name).claims
    report.add(aside.narrowed(other.name))
    words = f"({in_words(plan.wanted)}) or ({in_words(plan.other)})"
    report.claims.append(claim(words, in_sets=[found.name, other.name]))
    return both, dict(result.data.get("apart", {}))


def _without_contradicted(wanted: Wanted, found: Found) -> Finding:
    """Leaves out photos whose metadata, read again, does not bear out a condition."""
    if not wanted.conditions or not found.is_listed or found.count > MAX_RECHECKED:
        return found
    dropped = []
    for at in range(0, found.count, _CHUNK):
        part = found.uids[at : at + _CHUNK]
        fields = {"photos": part, "fields": [*FIELDS]}
        result = yield Move(
            "Check each photo against each condition.", ToolCall("get_metadata", fields)
        )
        if result.error:
            raise GiveUp(result.error)
        rows = {row["uid"]: row for row in result.data.get("photos", ())}
        dropped += [
            uid
            for uid in part
            if not all(condition.holds(rows.get(uid, {})) for condition in wanted.conditions)
        ]
    return (yield from _dropped(found, dropped, "checked")) if dropped else found


def _dropped(found: Found, uids: list[str], name: str) -> Finding:
    """The set without some photos; nothing is left to answer with if these are all."""
    arguments = {"op": "minus", "sets": [found.name], "photos": uids[:_MOST_DROPPED]}
    left = yield from _combined(name, arguments)
    if not left.count:
        raise GiveUp("the photos that were found do not bear out every condition")
    return left


def _combined(name: str, arguments: dict[str, Any]) -> Finding:
    result = yield Move(
        "Put the set together.", ToolCall("combine_sets", {**arguments, "save_as": name})
    )
    return taken(result, name)


def _submitted(plan: Plan, report: Report, found: Found, facts: dict[str, Any]) -> Moves:
    """Submits; when photos are refused, once more without them."""
    for attempt in range(1, _SUBMITS + 1):
        if needs_facts(plan.ask):
            result = yield Move(
                "Sum up the whole set.",
                ToolCall("filter_photos", {"within": found.name, "facts": True}),
            )
            if result.error:
                raise GiveUp(result.error)
            facts = {**result.data, **facts}
        text = answer_text(plan, found.count, facts, report.said())
        refused = yield Move(
            "Submit the set." if attempt == 1 else "Submit what is left.",
            _submission(plan, set=found.name, evidence=_claims(report), text=text),
        )
        unmet = list(refused.data.get("unmet_photos", ()))
        if not unmet or len(unmet) > _MOST_DROPPED:
            raise GiveUp(refused.error)
        found = yield from _dropped(found, unmet, f"left_{attempt}_more")


def _claims(report: Report) -> list[dict[str, Any]]:
    if len(report.claims) > MOST:
        raise GiveUp(f"{len(report.claims)} conditions are more than can be checked at once")
    return report.claims or [WHOLE_LIBRARY]


def _submission(plan: Plan, **arguments: Any) -> ToolCall:
    """``not_used`` names the words without effect, so that the person is told."""
    words = [shortened(str(part), _LONGEST_WORDS) for part in (*plan.blocked, *plan.unused)]
    if words:
        arguments["not_used"] = words[:_MOST_WORDS]
    for name in ("text", "reason"):
        if name in arguments:
            arguments[name] = shortened(arguments[name], _LONGEST_TEXT)
    return ToolCall("submit_answer", arguments)

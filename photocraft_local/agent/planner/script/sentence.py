"""One sentence for a plan: "photos that look like 'dog', in June 2021, on the day after …"."""

from __future__ import annotations

from collections.abc import Iterator

from photocraft_local.agent.planner.conditions import Condition, TimeCondition
from photocraft_local.agent.planner.execute.wording import another
from photocraft_local.agent.planner.plan import Ask, Pick, Plan, Relation, Wanted
from photocraft_local.agent.planner.script.headers import SIDES, in_units
from photocraft_local.agent.planner.script.meanings import meaning_of

_ASKED = {"exists": "whether there are ", "camera": "which camera took "}
_TAKEN = {"when": "when", "where": "where", "span": "between which dates"}
_OF_UNIT = {"time": "at what time", "day": "on which day"}
_PICKED = {
    "north": "northernmost", "south": "southernmost", "east": "easternmost",
    "west": "westernmost", "best": "best fitting",
}  # fmt: skip


def in_words(plan: Plan) -> str:
    """What is asked for, and behind it what of the question cannot be followed."""
    if not plan.blocked:
        return _sentence(plan)
    words = ", ".join(f"'{part.words}'" for part in plan.blocked)
    told = f"this cannot be followed: {words}"
    return told if plan.wanted.is_empty else f"{_sentence(plan)}; but {told}"


def _sentence(plan: Plan) -> str:
    asked, photos = plan.ask, _photos(plan.wanted, everything=plan.everything)
    if plan.other is not None:
        other = _photos(plan.other)
        if asked.kind == "distance":
            return f"how far apart are {photos} and {other}"
        return f"{_asked(asked)}{photos}, and {other}"
    if asked.kind in _TAKEN:
        unit = _OF_UNIT.get(asked.unit, f"in which {asked.unit}") if asked.unit else ""
        pick = plan.wanted.pick
        verb = "was" if pick and pick.count == 1 else "were"
        return f"{unit or _TAKEN[asked.kind]} {photos} {verb} taken"
    the = "the " if asked.kind == "camera" and not plan.wanted.pick else ""
    return f"{_asked(asked)}{the}{photos}"


def _asked(ask: Ask) -> str:
    if ask.kind == "count":
        unit = ask.unit or "photos"
        return "how many " if unit == "photos" else f"how many {unit} have "
    return _ASKED.get(ask.kind, "how far apart are the " if ask.kind == "distance" else "")


def _photos(wanted: Wanted, *, everything: bool = False) -> str:
    clauses = ", ".join(_clauses(wanted))
    noun = "photos" if clauses else ("all photos" if everything else "photos of the library")
    text = f"{noun} {clauses}" if clauses else noun
    return f"{_picked(wanted.pick)} {text}" if wanted.pick else text


def _picked(pick: Pick) -> str:
    order = _PICKED.get(pick.by, pick.by)
    place = f" to {pick.place}" if pick.by == "nearest" and pick.place else ""
    place = f" from {pick.place}" if pick.by == "farthest" and pick.place else place
    return f"the {order}{f' {pick.count}' if pick.count > 1 else ' one'}{place} of the"


def _clauses(wanted: Wanted) -> Iterator[str]:
    for look in wanted.looks:
        yield f"that look like {look}"
    if wanted.like:
        yield f"that look like the picture {' and '.join(wanted.like)}"
    for text in wanted.not_looks:
        yield f"that do not look like '{text}'"
    yield from map(_condition, wanted.conditions)
    yield from map(_relation, wanted.relations)
    if wanted.either:
        yield f"either {' or '.join(map(_inner, wanted.either))}"
    for part in wanted.but_not:
        only_pictures = part.like and part == Wanted(like=part.like)
        yield f"but not {'like ' if only_pictures else ''}{_inner(part)}"


def _condition(condition: Condition) -> str:
    """The question's own words, and what they come to where they do not say it."""
    meaning, words = meaning_of(condition), condition.words
    if meaning.casefold() in words.casefold():
        return words
    if meaning.casefold().startswith(words.casefold()):
        return meaning
    return words if _says_it(condition) else f"{words} ({meaning})"


def _says_it(condition: Condition) -> bool:
    """A time that repeats the words with other small words beside them."""
    if not isinstance(condition, TimeCondition):
        return False
    said = set(condition.words.casefold().split())
    return set(meaning_of(condition).casefold().split()) <= said


def _relation(relation: Relation) -> str:
    anchor = _inner(relation.anchor)
    is_picture = relation.anchor == Wanted(like=relation.anchor.like)
    if relation.which != "each" and not is_picture:
        anchor = f"the {relation.which} of {anchor}"
    text = f"{_stand(relation)} {anchor}"
    if relation.apart:
        text += f", {another(relation.apart)}"
    return f"not {text}" if relation.negated else text


def _stand(relation: Relation) -> str:
    if relation.kind == "place":
        return "at the place of" if relation.km is None else f"within {relation.km:g} km of"
    if relation.kind in SIDES:
        near = f"at most {in_units(relation.within)} " if relation.within else ""
        return f"{near}{relation.kind}"
    if not relation.shift:
        return f"{_AT.get(relation.kind, 'in the')} same {relation.kind} as"
    count = abs(relation.shift)
    side = "after" if relation.shift > 0 else "before"
    where = _AT.get(relation.kind, "in the")
    if count == 1:
        return f"{where} {relation.kind} {side}"
    return f"{where} {relation.kind} {count} {relation.kind}s {side}"


_AT = {"day": "on the", "weekend": "on the", "event": "at the", "trip": "on the"}


def _inner(wanted: Wanted) -> str:
    if wanted.like and wanted == Wanted(like=wanted.like):
        return f"the picture {' and '.join(wanted.like)}"
    return f"({_photos(wanted)})"

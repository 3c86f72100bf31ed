"""The steps that narrow one set by itself: metadata, looks, unwanted looks, a pick.

Each asks one tool, keeps what it found as a named set and adds to the report. Knows the tools'
arguments.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from photocraft_local.agent.planner.conditions import Condition
from photocraft_local.agent.planner.execute.claims import (
    Report,
    claim,
    looks_for,
    of_condition,
    of_look,
    of_not_look,
)
from photocraft_local.agent.planner.execute.steps import (
    Finding,
    Found,
    GiveUp,
    Move,
    NothingFound,
    Result,
    taken,
)
from photocraft_local.agent.planner.execute.wording import among, picked
from photocraft_local.agent.planner.plan import Look, Pick, Wanted
from photocraft_local.records import Json, ToolCall
from photocraft_local.tools.format import counted

_ROLES = {
    "anchor": "What it leans on: ",
    "out": "What to leave out: ",
    "part": "One part of it: ",
    "other": "The other set: ",
}
MAX_RANKED = 200  # photos that one ranked search gives
_MOST_COUNTED = 4  # conditions that are counted one by one when nothing meets all


@dataclass
class Counter:
    """How many photos meet one condition alone, inside one set; no call is made twice, since a
    repeated one is refused."""

    _known: dict[str, int] = field(default_factory=dict)

    def count(self, condition: Condition, base: Found) -> Generator[Move, Result, int]:
        arguments = {**filter_arguments([condition]), **base.within}
        key = json.dumps(arguments, sort_keys=True)
        if key not in self._known:
            result = yield Move(
                f"Count those that are '{condition.words}'.", ToolCall("filter_photos", arguments)
            )
            self._known[key] = result.count
        return self._known[key]


def filtered(
    conditions: Sequence[Condition], report: Report, base: Found, prefix: str, counter: Counter
) -> Finding:
    """Time, place and camera in one exact filter; all of the base if none is asked for."""
    words = "; ".join(condition.words for condition in conditions)
    name = f"{prefix}fitting"
    arguments = {"save_as": name, **filter_arguments(conditions), **base.within}
    result = yield Move(
        told(name, f"Keep what metadata decides: {words or 'all photos'}."),
        ToolCall("filter_photos", arguments),
    )
    found = taken(result, name)
    if not found.count:
        yield from _why_nothing(conditions, base, counter)
    report.claims += [of_condition(condition) for condition in conditions]
    return found


def like_pictures(pictures: Sequence[str], report: Report, base: Found, prefix: str) -> Finding:
    name, words = f"{prefix}like", " and ".join(pictures)
    arguments = {"like": [*pictures], "exact": True, "save_as": name, **base.within}
    result = yield Move(
        told(name, f"All that look like {words}."), ToolCall("search_photos", arguments)
    )
    found = taken(result, name)
    if not found.count:
        raise NothingFound(f"nothing looks enough like {words}{_among(base)}")
    report.claims.append(claim(f"looks like {words}", like=[*pictures]))
    return found


def looked(look: Look, namesakes: Sequence[str], report: Report, base: Found, name: str) -> Finding:
    wanted = looks_for(look)
    result = yield Move(
        told(name, f"{'Among them, a' if base.name else 'A'}ll that look like {look}."),
        ToolCall("search_photos", {**wanted, "exact": True, "save_as": name, **base.within}),
    )
    found = taken(result, name)
    _check_understood(str(look).strip("'"), result)
    if not found.count:
        raise NothingFound(
            f"nothing looks enough like {look}{_among(base)}{_or_place(look, namesakes)}"
        )
    report.claims.append(of_look(look))
    return found


def _or_place(look: Look, namesakes: Sequence[str]) -> str:
    """A look that found nothing may have been meant as a place."""
    said = " ".join(look.texts)
    names = [f"'in {name.title()}'" for name in namesakes if name in said]
    return f" (if a place is meant, write {' or '.join(names)})" if names else ""


def without(text: str, report: Report, base: Found, name: str) -> Finding:
    """What is below the look's own cut-off; a photo without a vector cannot be said to be."""
    result = yield Move(
        told(name, f"Of these, all that do not look like '{text}'."),
        ToolCall(
            "search_photos",
            {"not_text": [text], "exact": True, "save_as": name, **base.within},
        ),
    )
    found = taken(result, name)
    if found.count == result.data.get("candidates"):
        report.none_left_out.append(text)
    _check_understood(text, result)
    if not found.count:
        raise NothingFound(f"every photo that meets the rest may show '{text}'")
    report.claims.append(of_not_look(text))
    return found


def chosen(wanted: Wanted, pick: Pick, report: Report, base: Found, prefix: str) -> Finding:
    """So many by an order; "best" is by score, or in time where nothing seen was asked for."""
    if base.count < pick.count:
        report.notes.append(f"only {base.count} of the {pick.count} that were asked for")
    if pick.by != "best":
        return (yield from _by_order(pick, report, base, prefix))
    if base.count <= pick.count:
        return base
    if pick.count <= MAX_RANKED and (wanted.looks or wanted.like):
        return (yield from _by_score(wanted, pick, base, prefix))
    report.notes.append(f"which {pick.count} is not said; the first in time are given")
    return (yield from _by_order(replace(pick, by="first"), report, base, prefix))


def _by_order(pick: Pick, report: Report, base: Found, prefix: str) -> Finding:
    name, words = f"{prefix}picked", picked(pick)
    place: dict[str, Json] = {"of_place": pick.place} if pick.place else {}
    arguments = {"order": pick.by, "limit": pick.count, **place, "save_as": name, **base.within}
    result = yield Move(told(name, f"Of these, {words}."), ToolCall("filter_photos", arguments))
    found = taken(result, name)
    fact = "time" if pick.by in ("first", "last") else "position"
    if not found.count:
        raise NothingFound(f"of {counted(base.count, 'photo')} none has a known {fact}: {words}")
    if found.count < min(pick.count, base.count):
        report.notes.append(f"only {found.count} of the {base.count} have a known {fact}")
    check = {"by": pick.by, "set": base.name, "limit": pick.count, **place}
    report.claims.append(claim(words, order=check))
    return found


def _by_score(wanted: Wanted, pick: Pick, base: Found, prefix: str) -> Finding:
    name = f"{prefix}picked"
    looks: dict[str, Json] = (
        looks_for(wanted.looks[0]) if wanted.looks else {"like": [*wanted.like]}
    )
    arguments = {**looks, "top_k": pick.count, "save_as": name, **base.within}
    thought = told(name, f"Of these, {picked(pick)}: those that fit best.")
    result = yield Move(thought, ToolCall("search_photos", arguments))
    return taken(result, name)


def told(name: str, thought: str) -> str:
    """The thought, led by the role of the set that is made: its name begins with it."""
    return _ROLES.get(name.partition("_")[0], "") + thought


def filter_arguments(conditions: Sequence[Condition]) -> dict[str, Json]:
    """The arguments of filter_photos; a single time goes in the person's own words."""
    whens = [condition.when for condition in conditions if condition.when]
    alone = whens[0] if len(whens) == 1 else ""
    parts = [condition.where for condition in conditions if not (alone and condition.when)]
    arguments: dict[str, Json] = {"when": alone} if alone else {}
    if parts:
        arguments["where"] = " and ".join(f"({part})" for part in parts) if parts[1:] else parts[0]
    return arguments


def _why_nothing(
    conditions: Sequence[Condition], base: Found, counter: Counter
) -> Generator[Move, Result, NoReturn]:
    """Gives up; of several conditions, says how many photos meet each alone."""
    if not conditions:
        raise NothingFound("the library is empty")
    where = _among(base)
    if len(conditions) == 1:
        raise NothingFound(f"none is known to be '{conditions[0].words}'{where}")
    counts = []
    for condition in conditions[:_MOST_COUNTED]:
        number = yield from counter.count(condition, base)
        counts.append(f"'{condition.words}' ({number} alone)")
    raise NothingFound(f"none is known to be all of: {', '.join(counts)}{where}")


def _among(base: Found) -> str:
    return among(base.count) if base.name else ""


def _check_understood(look: str, result: Result) -> None:
    """A look of which no word is known cannot be searched, and is not left out in silence."""
    if result.data.get("not_understood") and not result.data.get("understood"):
        raise GiveUp(f"the encoder knows none of the words '{look}'")

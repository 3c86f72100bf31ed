"""The plan for one question, as a coroutine: yields the next move, is sent what came back.

    filter by metadata → search the look inside → leave out unwanted looks → re-check → submit

Straight code, no state of its own: the planner runs it again from the start in each turn and
feeds it the results that stand in the messages.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from photocraft_local.agent.planner.conditions import FIELDS, Condition
from photocraft_local.agent.planner.reading import Reading
from photocraft_local.records import Json, ToolCall
from photocraft_local.tools.format import counted

MAX_RECHECKED = 100  # photos whose metadata is read once more; submit_answer checks all of them
_CHUNK = 50  # photos of one get_metadata call
_MOST_COUNTED = 4  # conditions that are counted one by one when nothing meets all
_SUBMITS = 3  # attempts, each without the photos that the one before was refused for

Moves = Generator["Move", "Result", None]


@dataclass(frozen=True, slots=True)
class Move:
    """One turn of the planner: what it does and why, in words for the trace."""

    thought: str
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool message said."""

    data: Mapping[str, Json]
    error: str = ""

    @property
    def count(self) -> int:
        return int(self.data.get("count", 0))

    @property
    def uids(self) -> list[str]:
        return [row["uid"] for row in self.data.get("photos", ())]


@dataclass
class Found:
    """The set in hand: its name, its size, and its ids as far as they were listed."""

    name: str = ""
    count: int = 0
    uids: list[str] = field(default_factory=list)
    none_left_out: list[str] = field(default_factory=list)  # unwanted looks that no photo has

    @property
    def is_listed(self) -> bool:
        return len(self.uids) == self.count


class GiveUp(Exception):
    """The answer is no photo; the message tells the person why."""


def moves(reading: Reading) -> Moves:
    """The whole plan. It ends with ``submit_answer``, and only a refused one is followed by
    another."""
    try:
        found = yield from _found(reading)
        dropped = yield from _contradicted(reading, found)
        yield from _submitted(reading, found, dropped)
        raise GiveUp("the answer was refused again and again")
    except GiveUp as reason:
        yield nothing(reading, str(reason))


def nothing(reading: Reading, reason: str) -> Move:
    """The honest empty answer."""
    return Move(
        f"No photo: {reason}.",
        _submission(reading, photos=[], evidence=[], text=f"No photo: {reason}."),
    )


def _found(reading: Reading) -> Generator[Move, Result, Found]:
    if reading.blocked:
        raise GiveUp("; ".join(f"'{part.words}': {part.reason}" for part in reading.blocked))
    found = Found()
    if reading.conditions or not (reading.look or reading.not_looks):
        found = yield from _filtered(reading)
    if reading.look:
        found = yield from _looked(reading, found)
    for number, look in enumerate(reading.not_looks, start=1):
        found = yield from _without(look, number, found)
    return found


def _filtered(reading: Reading) -> Generator[Move, Result, Found]:
    """Time, place and camera in one exact filter; the whole library if none is asked for."""
    words = "; ".join(condition.words for condition in reading.conditions)
    result = yield Move(
        f"Keep what metadata decides: {words or 'all photos'}.",
        ToolCall("filter_photos", {"save_as": "fitting", **_filter(reading.conditions)}),
    )
    found = _taken(result, "fitting")
    if not found.count:
        yield from _why_nothing(reading.conditions)
    return found


def _why_nothing(conditions: Sequence[Condition]) -> Generator[Move, Result, NoReturn]:
    """Gives up; of several conditions, says how many photos meet each alone."""
    if not conditions:
        raise GiveUp("the library is empty")
    if len(conditions) == 1:
        raise GiveUp(f"none is known to be '{conditions[0].words}'")
    counts = []
    for condition in conditions[:_MOST_COUNTED]:
        result = yield Move(
            f"Count those that are '{condition.words}'.",
            ToolCall("filter_photos", _filter([condition])),
        )
        counts.append(f"'{condition.words}' ({result.count} alone)")
    raise GiveUp(f"none is known to be all of: {', '.join(counts)}")


def _filter(conditions: Sequence[Condition]) -> dict[str, Json]:
    """The arguments of filter_photos; a single time goes in the person's own words."""
    whens = [condition.when for condition in conditions if condition.when]
    alone = whens[0] if len(whens) == 1 else ""
    parts = [condition.where for condition in conditions if not (alone and condition.when)]
    arguments: dict[str, Json] = {"when": alone} if alone else {}
    if parts:
        arguments["where"] = " and ".join(f"({part})" for part in parts) if parts[1:] else parts[0]
    return arguments


def _looked(reading: Reading, base: Found) -> Generator[Move, Result, Found]:
    arguments: dict[str, Json] = {"text": reading.look, "exact": True, "save_as": "looks"}
    if base.name:
        arguments["within"] = base.name
    result = yield Move(
        f"Among them, all that look like '{reading.look}'.", ToolCall("search_photos", arguments)
    )
    found = _taken(result, "looks")
    _check_understood(reading.look, result)
    if not found.count:
        among = f" among the {base.count} photos that meet the rest" if base.name else ""
        raise GiveUp(f"nothing looks enough like '{reading.look}'{among}{_or_place(reading)}")
    return found


def _or_place(reading: Reading) -> str:
    """A look that found nothing may have been meant as a place."""
    names = [f"'in {name.title()}'" for name in reading.namesakes]
    return f" (if a place is meant, write {' or '.join(names)})" if names else ""


def _without(look: str, number: int, base: Found) -> Generator[Move, Result, Found]:
    """What is below the look's own cut-off; a photo without a vector cannot be said to be."""
    name = f"kept_{number}"
    arguments: dict[str, Json] = {"not_text": [look], "exact": True, "save_as": name}
    if base.name:
        arguments["within"] = base.name
    result = yield Move(
        f"Of these, all that do not look like '{look}'.", ToolCall("search_photos", arguments)
    )
    found = _taken(result, name)
    found.none_left_out = [*base.none_left_out]
    if found.count == result.data.get("candidates"):
        found.none_left_out.append(look)
    _check_understood(look, result)
    if not found.count:
        raise GiveUp(f"every photo that meets the rest may show '{look}'")
    return found


def _contradicted(reading: Reading, found: Found) -> Generator[Move, Result, set[str]]:
    """Photos whose metadata, read again, does not bear out a condition."""
    if not reading.conditions or not found.is_listed or found.count > MAX_RECHECKED:
        return set()
    dropped = set()
    for at in range(0, found.count, _CHUNK):
        part = found.uids[at : at + _CHUNK]
        fields = {"photos": part, "fields": [*FIELDS]}
        result = yield Move(
            "Check each photo against each condition.", ToolCall("get_metadata", fields)
        )
        if result.error:
            raise GiveUp(result.error)
        rows = {row["uid"]: row for row in result.data.get("photos", ())}
        dropped |= {
            uid
            for uid in part
            if not all(condition.holds(rows.get(uid, {})) for condition in reading.conditions)
        }
    return dropped


def _submitted(reading: Reading, found: Found, dropped: set[str]) -> Moves:
    """Submits; when photos are refused, once more without them."""
    for _ in range(_SUBMITS):
        left = [uid for uid in found.uids if uid not in dropped]
        if dropped and not left:
            raise GiveUp("the photos that were found do not bear out every condition")
        answer: dict[str, Json] = {"photos": left} if dropped else {"set": found.name}
        count = len(left) if dropped else found.count
        refused = yield Move(
            "Submit what is left." if dropped else "Submit the set.",
            _submission(
                reading,
                **answer,
                evidence=_claims(reading),
                text=_text(reading, count, found.none_left_out),
            ),
        )
        unmet = set(refused.data.get("unmet_photos", ()))
        if not unmet or not found.is_listed:
            raise GiveUp(refused.error)
        dropped = dropped | unmet


def _submission(reading: Reading, **arguments: Any) -> ToolCall:
    """``not_used`` names the words without effect, so that the person is told."""
    words = [str(part) for part in (*reading.blocked, *reading.unused)]
    if words:
        arguments["not_used"] = words
    return ToolCall("submit_answer", arguments)


def _claims(reading: Reading) -> list[dict[str, Json]]:
    claims: list[dict[str, Json]] = [
        {"constraint": c.words, "when": c.when}
        if c.when
        else {"constraint": c.words, "where": c.where}
        for c in reading.conditions
    ]
    if reading.look:
        claims.append({"constraint": f"looks like '{reading.look}'", "text": reading.look})
    for look in reading.not_looks:
        claims.append({"constraint": f"does not look like '{look}'", "not_text": [look]})
    return claims or [{"constraint": "a photo of the library", "where": "width > 0"}]


def _text(reading: Reading, count: int, none_left_out: Sequence[str]) -> str:
    text = f"{counted(count, 'photo')}: {reading.in_words() or 'all of the library'}."
    if none_left_out:
        looks = " or ".join(f"'{look}'" for look in none_left_out)
        text += f" None looks enough like {looks} to be left out."
    return text


def _taken(result: Result, name: str) -> Found:
    if result.error:
        raise GiveUp(result.error)
    return Found(name, result.count, result.uids)


def _check_understood(look: str, result: Result) -> None:
    """A look of which no word is known cannot be searched, and is not left out in silence."""
    if result.data.get("not_understood") and not result.data.get("understood"):
        raise GiveUp(f"the encoder knows none of the words '{look}'")

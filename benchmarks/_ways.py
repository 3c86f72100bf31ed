"""Ways to search in the notation of hints, and how one becomes calls for the words of a question.

``repertoire`` is all that a controller without memory can think of: the arguments that the tools
take, in an order that says nothing of which is right. Knows nothing of prompts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from photocraft_local.memory.text import prompt_json

_PART = re.compile(r"(\w+)(?:\((.*)\))?(?: as ([A-Z]))?")
_ANCHORED = "search_photos(text, exact=yes) as A; around(set=A, {}) as B; "
_ANCHORED += "search_photos(text, exact=yes, within=B) as C; submit_answer(set=C)"
_SPANS = ("1 hour", "2 hours", "6 hours", "1 day", "2 days", "3 days", "1 week", "any time")
_APART = ("", ", apart=day", ", apart=month", ", apart=year", ", apart=event", ", apart=trip")
_ORDERS = ("first", "last", "north", "south", "east", "west")
_FOREMOST = "filter_photos(within=B, order={}, limit) as C; submit_answer(set=C)"
_LOOK, _IN = r"(?P<thing>\w+?)s?", r"in (?P<city>\w+)"
_SIGHT = r"(?P<sight>\w+)(?P<tail> in another year)?"
_FORMS = (
    rf"(?:show me )?the (?P<cue>first) (?P<n>\d+) {_LOOK} {_IN}",
    rf"{_LOOK} (?P<cue>or) (?P<other>\w+?)s? {_IN} in (?P<year>\d{{4}})",
    rf"{_LOOK} (?P<cue>without|but not) (?P<other>\w+?)s? {_IN}",
    rf"(?:show me the )?{_LOOK} (?P<cue>){_IN} in (?P<year>\d{{4}})",
    rf"{_LOOK} (?P<cue>(?:on|in|at|within) .*?) {_SIGHT}",
    rf"(?P<cue>(?:the|within) .*?) {_SIGHT}: {_LOOK}",
)
_COMBINED = {  # how → what must be seen of two looks
    "or": lambda one, other: {"any_text": [one, other]},
    "and": lambda one, other: {"text": f"{one} {other}"},
    "minus": lambda one, other: {"text": one, "not_text": [other]},
}
_SMALL = re.compile(r"\b(?:on|in|at|the|an?|as|within)\b")
_CUES = {"but not": "without"}


@dataclass(frozen=True)
class Words:
    """A question taken apart: ``cue`` are the words that say how its things stand together."""

    cue: str
    slots: Mapping[str, str]  # thing, other, sight, city, year, n


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Way:
    """``origin``: who proposed it. The last call is the answer."""

    calls: tuple[Call, ...]
    origin: str


def words_of(question: str) -> Words | None:
    """None for a question of another form."""
    found = next((found for form in _FORMS if (found := re.fullmatch(form, question))), None)
    if found is None:
        return None
    told = {key: value for key, value in found.groupdict().items() if value}
    cue = told.pop("cue", "") + told.pop("tail", "")
    cue = " ".join(_SMALL.sub(" ", cue).split())
    return Words(_CUES.get(cue, cue), told)


def repertoire(words: Words, order: str) -> Iterator[str]:
    """Every sketch that comes to mind, in an order that ``order`` alone decides."""
    known = list(_anchored(words) if "sight" in words.slots else _plain(words))
    return iter(sorted(known, key=lambda way: hashlib.sha256(f"{order}\0{way}".encode()).digest()))


def _anchored(words: Words) -> Iterator[str]:
    units = [unit for unit in ("day", "week", "month", "event", "trip") if unit in words.cue]
    yield from (
        _ANCHORED.format(f"unit={unit}, shift={shift}")
        for unit, shift in product(units, range(-3, 4))
    )
    for side, span in product(("before", "after"), _SPANS):
        yield _ANCHORED.format(f"{side}={span}")
    for km, apart in product((0.5, 2), _APART):
        yield _ANCHORED.format(f"km={km}{apart}")


def _plain(words: Words) -> Iterator[str]:
    scope = [
        name for name, slot in (("when", "year"), ("where=city", "city")) if slot in words.slots
    ]
    looks = ["text", "any_text"] if "other" in words.slots else ["text"]
    looks += ["text, not_text"] if "other" in words.slots else []
    inside = ", ".join(scope)
    filtered = f"filter_photos({inside}) as A; "
    for look, exact in product(looks, (", exact=yes", "")):
        for first, found in (
            ("", f"search_photos({look}{exact}, {inside}) as B"),
            (filtered, f"search_photos({look}{exact}, within=A) as B"),
        ):
            if "n" in words.slots:
                for by in _ORDERS:
                    yield f"{first}{found}; {_FOREMOST.format(by)}"
            else:
                yield f"{first}{found}; submit_answer(set=B)"
    if "other" in words.slots:
        one, two = (f"search_photos(text, exact=yes, {inside}) as {name}; " for name in "AB")
        for op in ("or", "and", "minus"):
            yield f"{one}{two}combine_sets(op={op}, sets=A B) as C; submit_answer(set=C)"


def filled(sketch: str, words: Words, origin: str) -> Way | None:
    """The calls for these words; None where the way needs what they lack, or leaves some out."""
    lines = [line for line in sketch.rstrip(".").split("; ") if not line.startswith("recall")]
    parts = [_PART.fullmatch(line) for line in lines]
    if not all(parts):
        return None
    read = [(part[1], _arguments(part[2] or ""), part[3] or "") for part in parts if part]
    anchors = {given["set"] for tool, given, _ in read if tool == "around" and given.get("set")}
    names: dict[str, str] = {}
    used: set[str] = set()
    looks = iter([slot for slot in ("thing", "other") if slot in words.slots])
    calls: list[Call] = []
    for tool, given, letter in read:
        if (
            tool == "combine_sets" and "photos" in given
        ):  # some were left out by eye, as may be again
            names[letter] = names.get(given["sets"], "")
            continue
        try:
            made = _call(given, letter in anchors, words, names, looks, used)
        except (KeyError, StopIteration):
            return None
        if tool == "submit_answer":
            calls.append(Call(tool, {"set": made["set"], "evidence": _evidence(calls, words)}))
            return Way(tuple(calls), origin) if used == set(words.slots) else None
        names[letter] = made["save_as"] = _saved(tool, made)
        calls.append(Call(tool, made))
    return None


def _arguments(text: str) -> dict[str, str]:
    return {
        name: value for name, _, value in (part.partition("=") for part in text.split(", ") if part)
    }


def _call(
    given: Mapping[str, str],
    is_anchor: bool,
    words: Words,
    names: Mapping[str, str],
    looks: Iterator[str],
    used: set[str],
) -> dict[str, Any]:
    """Raises KeyError or StopIteration where the words lack what an argument needs."""

    def slot(name: str) -> str:
        used.add(name)
        return words.slots[name]

    made: dict[str, Any] = {}
    for name, value in given.items():
        if name == "text":
            made[name] = slot("sight") if is_anchor else slot(next(looks))
        elif name in _OF_SLOTS:
            made[name] = _OF_SLOTS[name](slot)
        elif name in ("set", "within"):
            made[name] = names[value]
        elif name == "sets":
            made[name] = [names[letter] for letter in value.split()]
        elif name in ("before", "after"):
            made[name] = value or _span(words)
        else:
            made[name] = _OF_VALUE[name](value)
    return {key: value for key, value in made.items() if (key, value) != ("shift", 0)}


# Arguments that the question's own words fill, and those that stand in the sketch of a way.
_OF_SLOTS: dict[str, Callable[[Callable[[str], str]], Any]] = {
    "any_text": lambda slot: [slot("thing"), slot("other")],
    "not_text": lambda slot: [slot("other")],
    "when": lambda slot: slot("year"),
    "where": lambda slot: f"city == '{slot('city')}'",
    "limit": lambda slot: int(slot("n")),
}
_OF_VALUE: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("exact", "include_given"), lambda value: True),
    **dict.fromkeys(("unit", "apart", "order", "op"), lambda value: value),
    "shift": lambda value: {"+": 1, "-": -1}.get(value) or int(value),
    "km": lambda value: float(value or 0.5),
}


def _span(words: Words) -> str:
    """How long, where the question says it."""
    found = re.search(r"\b(hour|day|week)\b", words.cue)
    if not found:
        raise KeyError("span")
    return f"1 {found[1]}"


def _saved(tool: str, arguments: Mapping[str, Any]) -> str:
    """Of the set that a call makes: short, and the same for the same call."""
    told = prompt_json([tool, dict(arguments)])
    return f"{tool[0]}{hashlib.sha256(told.encode()).hexdigest()[:4]}"


def _evidence(calls: Sequence[Call], words: Words) -> list[dict[str, Any]]:
    """A check for each condition that the calls of a way state."""
    told: list[dict[str, Any]] = []
    for call in calls:
        given = call.arguments
        if call.tool == "around":
            relation = {key: value for key, value in given.items() if key != "save_as"}
            told.append({"constraint": words.cue, "relation": relation})
            told = [claim for claim in told if claim.get("text") != words.slots["sight"]]
        elif call.tool == "combine_sets":
            looks = [claim["text"] for claim in told if "text" in claim]
            told = [claim for claim in told if "text" not in claim]
            told.append({"constraint": words.cue, **_COMBINED[given["op"]](*looks)})
        else:
            looks = {key: given[key] for key in ("text", "any_text", "not_text") if key in given}
            told += [{"constraint": words.slots["thing"], **looks}] if looks else []
            facts = {key: given[key] for key in ("when", "where") if key in given}
            told += [{"constraint": " ".join(map(str, facts.values())), **facts}] if facts else []
    return list({prompt_json(claim): claim for claim in told}.values())


def retold(calls: Sequence[Call], old: Words) -> str | None:
    """A way in the notation of hints, from calls of an earlier question whose words are known."""
    letters: dict[str, str] = {}
    lines = []
    for call in calls:
        told = []
        for name, value in call.arguments.items():
            if name in ("save_as", "evidence"):
                continue
            if name in ("set", "within", "sets"):
                sets = value if isinstance(value, list) else [value]
                if not all(one in letters for one in sets):
                    return None
                told.append(f"{name}={' '.join(letters[one] for one in sets)}")
            elif name in ("text", "any_text", "not_text", "when", "limit"):
                told.append(name)
            elif name == "where":
                told.append("where=city")
            else:
                told.append(f"{name}={'yes' if value is True else value}")
        saved = call.arguments.get("save_as")
        if saved:
            letters[saved] = "ABCDEFGH"[len(letters)]
        behind = f" as {letters[saved]}" if saved else ""
        lines.append(f"{call.tool}({', '.join(told)}){behind}")
    return "; ".join(lines)

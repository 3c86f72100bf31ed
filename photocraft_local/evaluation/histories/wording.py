"""From a rule to a question in English, one of many wordings. The words stand in ``data/*.tsv``.

Knows nothing of lives and answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from photocraft_local.evaluation.histories.rules import Relation, Rule

_DATA = Path(__file__).parent / "data"
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_WITH_THE = re.compile(
    r"United |.*\b(?:Republic|Islands|States|Territory)\b"
    r"|(?:Bahamas|Comoros|Gambia|Maldives|Netherlands|Philippines|Seychelles)$"
)


class Words(NamedTuple):
    """Of a label: "a bus", "bus", "buses"."""

    a: str
    thing: str
    things: str


def words_of(label: str) -> Words:
    a, things = _table().get(label, ("", ""))
    if not a:
        a = f"{'an' if label[:1] in 'aeiou' else 'a'} {label}"
        things = f"{label}es" if label.endswith(("s", "x", "ch", "sh")) else f"{label}s"
    return Words(a, a.removeprefix("an ").removeprefix("a "), things)


def question_of(rule: Rule, rng: np.random.Generator, *, counts: bool = False) -> str:
    """``counts``: how many there are is asked for."""
    tail = _tail(rule, rng)
    tails = {"tail": tail, "done": tail.removeprefix("taken ")}
    if counts:
        text = _drawn("count", rng).format(**_seen(rule), **tails)
    elif rule.pick:
        part = "pick one" if rule.pick.count == 1 else "pick"
        text = _drawn(part, rng).format(
            **_seen(rule), **tails, by=rule.pick.by, count=rule.pick.count
        )
    elif rule.looks or rule.either:
        text = _drawn("look", rng).format(**_seen(rule), **tails)
    else:
        text = _drawn("facts", rng).format(**tails)
    return " ".join(text.split())


def shape_of(rule: Rule) -> str:
    """Which parts a question has, for counts: e.g. "look, day 1, first"."""
    parts = ["either" if rule.either else "look" if rule.looks else "facts"]
    parts += ["both"] * (len(rule.looks) > 1) + ["without"] * bool(rule.lacks)
    relation: Relation | None = rule.relation
    while relation:
        parts.append(f"{relation.unit} {relation.shift}")
        relation = relation.anchor.relation
    return ", ".join([*parts, rule.pick.by] if rule.pick else parts)


def _seen(rule: Rule) -> dict[str, str]:
    """The looks as nouns."""
    looks = [words_of(label) for label in rule.looks or rule.either]
    word = " or " if rule.either else " and "
    many = rule.either or len(looks) == 1
    a = word.join(look.a for look in looks)
    without = "".join(f" without {words_of(label).things}" for label in rule.lacks)
    return {
        "a": a + without,
        "thing": word.join(look.thing for look in looks) + without,
        "things": (word.join(look.things for look in looks) if many else a) + without,
    }


def _tail(rule: Rule, rng: np.random.Generator) -> str:
    """Its facts, and what it leans on."""
    parts = []
    for name in ("town", "country", "spot"):
        if value := getattr(rule, name):
            said = f"the {value}" if name == "country" and _WITH_THE.match(value) else value
            parts.append(_drawn(name, rng).format(**{name: said}))
    if rule.month:
        month = _MONTHS[rule.month - 1]
        parts.append(_drawn("month", rng).format(month=month, year=rule.year))
    elif rule.year:
        parts.append(_drawn("year", rng).format(year=rule.year))
    if rule.camera:
        brand = rule.camera.split(" ")[0] if "iPhone" not in rule.camera else "iPhone"
        parts.insert(0, _drawn("camera", rng).format(camera=brand))
    if rule.relation:
        part = f"{rule.relation.unit} {rule.relation.shift}"
        anchor, tail = _anchor(rule.relation.anchor, rng)
        if tail and rule.relation.unit == "place":
            part += " long"
        parts.append(_drawn(part, rng).format(anchor=anchor))
    return " ".join(parts)


def _anchor(rule: Rule, rng: np.random.Generator) -> tuple[str, str]:
    """All of its words, and those of its conditions."""
    tail = _tail(rule, rng)
    if rule.pick:
        part = "anchor one" if rule.looks else "anchor place"
        head = _drawn(part, rng).format(**_seen(rule), by=rule.pick.by)
    else:
        head = _drawn("anchor", rng).format(**_seen(rule))
    return f"{head} {tail}".strip(), tail


@cache
def things() -> Sequence[str]:
    """Everyday things that questions about a person's own library may name."""
    return [row[0] for row in _rows("things.txt")]


def wordings(part: str) -> Sequence[str]:
    return _wordings()[part]


def _drawn(part: str, rng: np.random.Generator) -> str:
    found = wordings(part)
    return found[int(rng.integers(len(found)))]


@cache
def _wordings() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part, wording in _rows("wordings.tsv"):
        found.setdefault(part, []).append(wording)
    return found


@cache
def _table() -> dict[str, tuple[str, str]]:
    return {label: (a, things) for label, a, things in _rows("words.tsv")}


def _rows(name: str) -> list[list[str]]:
    lines = (_DATA / name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]

"""The text of a plan → the plan. A mistake names its line, the cause and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from photocraft_local.agent.planner.draft import Unused
from photocraft_local.agent.planner.plan import MAX_CHAIN, Ask, Look, Pick, Plan, Relation, Wanted
from photocraft_local.agent.planner.script.headers import (
    Header,
    all_asks,
    all_keys,
    ask_of,
    ask_text,
    header_of,
    pick_of,
    stretch,
)
from photocraft_local.agent.planner.script.lines import Line, items, one, tree_of, with_words
from photocraft_local.agent.planner.script.resolving import KEYS, Reader, conditions_of
from photocraft_local.agent.planner.script.writing import ANY

_MOST_PICKED = 1_000_000
_TOP = ("ask", "everything", "other", "cannot follow", "not used", "also places", "note")
_PARTS = ("look", "not look", "like", "either", "or", "but not", *KEYS)
_OPTIONS = ("which", "apart", "shift", "km", "within", "words")


def from_text(text: str, reader: Reader) -> Plan:
    """The plan. Raises UsageError."""
    top = tree_of(text)
    parts = [line for line in top.children if line.key not in _TOP]
    extras = _Extras(_wanted(parts, reader))
    for line in top.children:
        if line.key in _TOP:
            extras.take(line, reader)
    plan = extras.plan
    if plan == Plan():
        raise top.error("it asks for nothing", "write what is wanted, e.g. look: dog")
    depth = max(plan.wanted.depth(), plan.other.depth() if plan.other else 0)
    if depth > MAX_CHAIN and not plan.blocked:  # a blocked one is not followed anyhow
        raise top.error(
            f"{depth} relations lean on each other", f"at most {MAX_CHAIN} are followed; leave out"
        )
    return plan


class _Extras:
    """What a plan holds beside the wanted photos, line by line."""

    def __init__(self, wanted: Wanted) -> None:
        self.plan = Plan(wanted)

    def take(self, line: Line, reader: Reader) -> None:
        if line.key == "other":
            self._set(other=_block(line, reader))
            return
        _flat(line)
        if line.key == "ask":
            self._set(ask=_ask(line))
        elif line.key == "everything":
            self._set(everything=_chosen(line, ("yes", "no")) == "yes")
        elif line.key == "also places":
            self._set(namesakes=(*self.plan.namesakes, *items(line)))
        elif line.key == "note":
            self._set(notes=(*self.plan.notes, one(line)))
        elif line.key == "not used":
            self._set(unused=(*self.plan.unused, _unused(line)))
        else:
            self._set(blocked=(*self.plan.blocked, _unused(line)))

    def _set(self, **changes: Any) -> None:
        self.plan = replace(self.plan, **changes)


class _Parts:
    """A ``Wanted`` while its lines are read."""

    def __init__(self) -> None:
        self.wanted = Wanted()

    def take(self, line: Line, reader: Reader) -> None:
        if line.key in ("either", "or"):
            self._add("either", _block(line, reader))
        elif line.key == "but not":
            self._add("but_not", _block(line, reader))
        elif header := header_of(line.key):
            self._add("relations", _relation(line, header, reader))
        else:
            _flat(line)
            self._take_value(line, reader)

    def _take_value(self, line: Line, reader: Reader) -> None:
        if line.key == "look":
            self._add("looks", Look(items(line)))
        elif line.key == "not look":
            self._add("not_looks", *items(line))
        elif line.key == "like":
            self._add("like", *_pictures(line, reader))
        elif line.key in KEYS:
            self._add("conditions", *conditions_of(line, reader))
        elif pick_of(line.key):
            self._pick(line)
        else:
            raise _unknown_key(line)

    def _add(self, name: str, *more: Any) -> None:
        changes: dict[str, Any] = {name: (*getattr(self.wanted, name), *more)}
        self.wanted = replace(self.wanted, **changes)

    def _pick(self, line: Line) -> None:
        if self.wanted.pick:
            raise line.error(
                "there is a choice of photos already", "keep one of first, last, nearest …"
            )
        self.wanted = replace(self.wanted, pick=_pick(line))


def _wanted(lines: Iterable[Line], reader: Reader) -> Wanted:
    parts = _Parts()
    for line in lines:
        parts.take(line, reader)
    return parts.wanted


def _block(line: Line, reader: Reader, lines: list[Line] | None = None) -> Wanted:
    """The wanted photos of a block, in its lines or as ``any photo``."""
    if line.value and line.value.casefold() != ANY:
        raise line.error("this key has a block below it and no value", _block_hint(line))
    inner = line.children if lines is None else lines
    if not line.value and not line.children:
        raise line.error("its block is empty", _block_hint(line))
    return _wanted(inner, reader)


def _block_hint(line: Line) -> str:
    return f"write '{line.key}:' and below it, indented, e.g. look: dog; or '{line.key}: {ANY}'"


def _relation(line: Line, header: Header, reader: Reader) -> Relation:
    values: dict[str, Any] = {
        "kind": header.kind,
        "shift": header.shift,
        "within": header.within,
        "km": header.km,
        "negated": header.negated,
    }
    for option in line.children:
        if option.key in _OPTIONS:
            _flat(option)
            values[option.key] = _option(option)
    rest = [part for part in line.children if part.key not in _OPTIONS]
    return Relation(anchor=_block(line, reader, rest), **values)


def _option(line: Line) -> Any:
    if line.key == "which":
        return _chosen(line, ("first", "last", "each"))
    if line.key == "apart":
        return _chosen(line, ("day", "month", "year", "trip"))
    if line.key == "within":
        length = stretch(one(line))
        if length is None:
            raise line.error("this is no length of time", "write e.g. within: 2 hours")
        return length
    if line.key == "words":
        return one(line)
    return _number(line, int if line.key == "shift" else float)


def _number(line: Line, kind: Callable[[str], Any]) -> Any:
    try:
        return kind(one(line))
    except ValueError as exc:
        raise line.error("this is no number", f"write e.g. {line.key}: 2") from exc


def _pick(line: Line) -> Pick:
    bare, words = with_words(line)
    by = pick_of(line.key)
    assert by is not None
    values = items(bare)
    measured = by in ("nearest", "farthest")
    if len(values) > 1 + measured or not values[0].isdecimal() or not int(values[0]):
        way = f"{line.key}: 2 | Lisbon" if measured else f"{line.key}: 2"
        raise line.error("it takes a number of photos from 1 up", f"write e.g. {way}")
    count = min(int(values[0]), _MOST_PICKED)
    return Pick(by, count, words or "", values[1] if len(values) > 1 else "")


def _ask(line: Line) -> Ask:
    bare, words = with_words(line)
    found = ask_of(one(bare))
    if found is None:
        raise line.error("this is nothing that can be asked", f"known: {', '.join(all_asks())}")
    return Ask(found[0], found[1], ask_text(Ask(*found)) if words is None else words)


def _pictures(line: Line, reader: Reader) -> tuple[str, ...]:
    ids = items(line)
    strange = [name for name in ids if name not in reader.pictures]
    if strange:
        there = ", ".join(reader.pictures) or "none"
        raise line.error(
            f"no picture {', '.join(strange)} came with the question",
            f"there: {there}; ask --image FILE gives one, the first is q1",
        )
    return ids


def _unused(line: Line) -> Unused:
    values = items(line)
    if len(values) != 2:
        raise line.error("it takes words and a reason", f"write {line.key}: words | reason")
    return Unused(*values)


def _chosen(line: Line, choices: Sequence[str]) -> str:
    value = one(line)
    if value not in choices:
        raise line.error(f"{value!r} is not known here", f"known: {', '.join(choices)}")
    return value


def _flat(line: Line) -> None:
    if line.children:
        raise line.children[0].error(
            f"it is indented below line {line.number}, which takes no block",
            "start it where the lines above start",
        )


def _unknown_key(line: Line) -> Exception:
    if line.key in _TOP:
        return line.error("this stands only at the top of a plan", "move it out of the block")
    if line.key in _OPTIONS:
        return line.error("this stands only in the block of a relation", "remove the line")
    known = (*_PARTS, *_TOP, *all_keys())
    near = difflib.get_close_matches(line.key, known, n=1)
    meant = f"did you mean '{near[0]}'? " if near else ""
    return line.error("there is no such key", f"{meant}known: {', '.join(known)}")

"""The templates of time words that lean on an event ("the day after …"), read from
``data/heads.tsv``, and where they fit in a cut text.

Knows no event and no time: what stands behind a head is ``anchored``'s to judge.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from photocraft_local.timelang.lexicon import fold
from photocraft_local.timelang.words import Words

_TABLE = Path(__file__).parent / "data" / "heads.tsv"
_SLOTS = {"part": ("part", "part?")}  # kinds of words that fill a slot; else the slot's own name

Form = str | tuple[str, ...]  # a slot's name, or the words of one alternative


@dataclass(frozen=True, slots=True)
class Element:
    forms: tuple[Form, ...]
    optional: bool


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """One line of the table."""

    elements: tuple[Element, ...]
    unit: str
    side: str
    shift: str
    needs: str


@dataclass(slots=True)
class Fit:
    """A head that fits tokens up to ``end``, with what its slots hold."""

    head: Head
    end: int
    slots: dict[str, str] = field(default_factory=dict)


@lru_cache(maxsize=1)
def _heads() -> tuple[Head, ...]:
    heads = []
    for line in _TABLE.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            template, unit, side, shift, needs = line.split("\t")
            elements = tuple(_element(part) for part in template.split())
            heads.append(Head(elements, unit, side, shift, needs))
    return tuple(heads)


def _element(text: str) -> Element:
    forms: list[Form] = []
    for form in text.removesuffix("?").split("|"):
        forms.append(form[1:-1] if form[0] == "{" else tuple(fold(form).split("_")))
    return Element(tuple(forms), text.endswith("?"))


@lru_cache(maxsize=1)
def _by_first_word() -> tuple[dict[str, tuple[Head, ...]], dict[str, tuple[Head, ...]]]:
    """Heads by the words and by the slots that they can begin with."""
    words: dict[str, dict[Head, None]] = {}
    slots: dict[str, dict[Head, None]] = {}
    for head in _heads():
        for element in head.elements:
            for form in element.forms:
                if isinstance(form, str):
                    slots.setdefault(form, {})[head] = None
                else:
                    words.setdefault(form[0], {})[head] = None
            if not element.optional:
                break
    return (
        {word: tuple(heads) for word, heads in words.items()},
        {slot: tuple(heads) for slot, heads in slots.items()},
    )


def fits(words: Words, at: int) -> list[Fit]:
    """Every head that fits at token ``at``, the longest first."""
    by_word, by_slot = _by_first_word()
    heads = dict.fromkeys(by_word.get(words.key(at), ()))
    for slot, more in by_slot.items():
        if _slot(words, slot, at):
            heads.update(dict.fromkeys(more))
    found = [fit for head in heads if (fit := _fit(words, head, at))]
    return sorted(found, key=lambda fit: -fit.end)


def _fit(words: Words, head: Head, at: int) -> Fit | None:
    """Greedy from left to right, but an optional element gives way where the rest fails."""
    stack: list[tuple[int, int, dict[str, str]]] = [(0, at, {})]
    while stack:
        index, end, slots = stack.pop()
        if index == len(head.elements):
            return Fit(head, end, slots)
        element = head.elements[index]
        if element.optional:
            stack.append((index + 1, end, slots))
        for form in reversed(element.forms):
            if isinstance(form, str):
                if filled := _slot(words, form, end):
                    stack.append((index + 1, filled[0], {**slots, form: filled[1]}))
            elif tuple(words.keys[end : end + len(form)]) == form:
                stack.append((index + 1, end + len(form), slots))
    return None


def _slot(words: Words, slot: str, at: int) -> tuple[int, str] | None:
    if slot == "count":
        found = words.count(at)
        return (found[0], str(found[1])) if found else None
    for kind in _SLOTS.get(slot, (slot,)):
        if match := words.match(kind, at):
            return match
    return None

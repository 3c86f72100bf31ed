"""A plan → its text: every part on a line of its own, with what times and places mean beside.

Reads each condition back before it is written, so that the text means the very same plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from photocraft_local.agent.planner.plan import Ask, Pick, Plan, Relation, Wanted
from photocraft_local.agent.planner.script.headers import (
    ask_text,
    header_text,
    pick_key,
    unsaid,
)
from photocraft_local.agent.planner.script.lines import INDENT, as_words, listed, quoted
from photocraft_local.agent.planner.script.meanings import meaning_of
from photocraft_local.agent.planner.script.resolving import Reader, line_of

ANY = "any photo"  # of a block: no condition at all
HEAD = (
    "# What is asked for, one part a line; all of them must hold.",
    "# Change, add or remove lines; what begins with # is not read. '|' means or.",
)


def to_text(plan: Plan, reader: Reader) -> str:
    """Lines that ``from_text`` reads as this very plan, with the same ``reader``."""
    return "\n".join([*HEAD, *_plan(plan, reader)]) + "\n"


def _plan(plan: Plan, reader: Reader) -> Iterator[str]:
    if plan.ask != Ask():
        yield f"ask: {ask_text(plan.ask)}{as_words(plan.ask.words, ask_text(plan.ask))}"
    if plan.everything:
        yield "everything: yes"
    yield from _wanted(plan.wanted, reader)
    if plan.other is not None:
        yield from _block("other", plan.other, reader)
    for part in plan.blocked:
        yield f"cannot follow: {listed([part.words, part.reason])}"
    for part in plan.unused:
        yield f"not used: {listed([part.words, part.reason])}"
    if plan.namesakes:
        yield f"also places: {listed(plan.namesakes)}"
    for note in plan.notes:
        yield f"note: {quoted(note)}"


def _wanted(wanted: Wanted, reader: Reader) -> Iterator[str]:
    for look in wanted.looks:
        yield f"look: {listed(look.texts)}"
    for text in wanted.not_looks:
        yield f"not look: {quoted(text)}"
    if wanted.like:
        yield f"like: {listed(wanted.like)}"
    for condition in wanted.conditions:
        line = line_of(condition, reader)
        yield line
        meaning = meaning_of(condition)
        if meaning.casefold() not in line.casefold():
            yield f"# that is: {quoted(meaning)}"
    for relation in wanted.relations:
        yield from _relation(relation, reader)
    for number, part in enumerate(wanted.either):
        yield from _block("or" if number else "either", part, reader)
    for part in wanted.but_not:
        yield from _block("but not", part, reader)
    if wanted.pick:
        yield _pick(wanted.pick)


def _relation(relation: Relation, reader: Reader) -> Iterator[str]:
    options = list(unsaid(relation))
    if relation.words:
        options.append(("words", quoted(relation.words)))
    below = [f"{key}: {value}" for key, value in options]
    yield from _block(header_text(relation), relation.anchor, reader, below)


def _block(key: str, wanted: Wanted, reader: Reader, first: Iterable[str] = ()) -> Iterator[str]:
    lines = [*first, *_wanted(wanted, reader)]
    if lines:
        yield f"{key}:"
        yield from (f"{INDENT}{line}" for line in lines)
    else:
        yield f"{key}: {ANY}"


def _pick(pick: Pick) -> str:
    values = [str(pick.count), *([pick.place] if pick.place else [])]
    return f"{pick_key(pick)}: {listed(values)}{as_words(pick.words)}"

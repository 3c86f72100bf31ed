"""Proposed questions reviewed one by one in the terminal; each decision is kept at once.

Knows no library: what a photo is called, it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from photocraft_local.cli.console import Console
from photocraft_local.cli.rendering import count_text

if TYPE_CHECKING:
    from photocraft_local.evaluation.synthesis import Proposal

KEYS = "a accept, r reject, e other words, t other answer in words, Enter later, q stop"
_SHOWN = 8  # photos of an answer
_DECIDED = {"a": "accepted", "r": "rejected"}


def review(
    found: Sequence[Proposal],
    console: Console,
    read: Callable[[str], str],
    keep: Callable[[Sequence[Proposal]], object],
    name_of: Callable[[str], str],
) -> list[Proposal]:
    """Asks of each that is only proposed; ``read`` is ``input``, whose end ends the review."""
    made = list(found)
    waiting = [at for at, one in enumerate(made) if one.status == "proposed"]
    for number, at in enumerate(waiting, start=1):
        console.line("")
        console.line(f"{number}/{len(waiting)} {made[at].id}, {count_text(made[at].hops, 'hop')}")
        while True:
            _show(made[at], console, name_of)
            try:
                key = read(f"{KEYS}: ").strip().lower()
                changed = _changed(made[at], key, read)
            except EOFError:
                return made
            if key == "q":
                return made
            if changed != made[at]:
                made[at] = changed
                keep(made)
            if key == "" or key in _DECIDED:
                break
    return made


def _changed(one: Proposal, key: str, read: Callable[[str], str]) -> Proposal:
    if key in _DECIDED:
        return replace(one, status=_DECIDED[key])
    if key == "e":
        return replace(one, question=_words(read("question: ")) or one.question)
    if key == "t":
        return replace(one, text=_words(read("answer in words, empty for none: ")))
    return one


def _words(typed: str) -> str:
    """Bytes that are no UTF-8 reach Python as lone surrogates, which no file takes: a mark."""
    return typed.encode("utf-8", "replace").decode().strip()


def _show(one: Proposal, console: Console, name_of: Callable[[str], str]) -> None:
    console.line(f"  {one.question}")
    if one.text:
        console.line(f"  answer in words: {one.text}")
    console.line(f"  {count_text(len(one.photos), 'photo')}" + (f": {one.sheet}" * bool(one.sheet)))
    for uid in one.photos[:_SHOWN]:
        console.line(f"    {name_of(uid)}")
    if (more := len(one.photos) - _SHOWN) > 0:
        console.line(f"    and {more} more")

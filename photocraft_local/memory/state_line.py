"""The short line at the tail of each turn: what is open, which step is in hand, what changed.

S and the calls above it hold everything; this line keeps the newest of it in front of the model.
``+`` marks what the turn brought. Texts stand in quotes, so that none can pass for a part of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence

from photocraft_local.memory.text import shortened
from photocraft_local.memory.working import Change, Constraint, WorkingState

_STATED = 5  # conditions that are named, with two of a kind; one of a kind where none is new
_SETS, _OLD_SETS = 4, 2  # the same of sets
_WORDS, _GOAL = 40, 80  # characters
_NAME = re.compile(r"[A-Za-z]\w{0,31}", re.ASCII)


def state_line(state: WorkingState, change: Change, notes: Sequence[str] = ()) -> str:
    """E.g. ``open: time "June 2021"; +look "cake" | step 2 of 3 "the cake", one expected | sets:
    june=14, +cakes=1 | photos: 1 confirmed (+1), 0 rejected``, and behind it ``notes``."""
    parts = [*_conditions(state, set(change.conditions)), *_goal(state)]
    if state.sets:
        last = sorted(state.sets, key=lambda name: name in change.sets)
        sets = [f"{_plus(name, change.sets)}{_name(name)}={state.sets[name]}" for name in last]
        most = _SETS if change.sets else _OLD_SETS
        parts.append(f"sets: {', '.join(_newest(sets, most))}")
    if state.confirmed or state.rejected:
        yes = f"{len(state.confirmed)} confirmed{_more(change.confirmed)}"
        parts.append(f"photos: {yes}, {len(state.rejected)} rejected{_more(change.rejected)}")
    return " | ".join([*parts, *(f"note: {note}" for note in notes)])


def quoted(text: str, limit: int) -> str:
    return json.dumps(shortened(text, limit), ensure_ascii=False)


def _conditions(state: WorkingState, new: Collection[tuple[str, str]]) -> Iterator[str]:
    def told(items: Sequence[Constraint]) -> str:
        chosen = _of_each_kind(items, 2 if new else 1)
        words = [
            f"{_plus((one.kind, one.words), new)}{one.kind} {quoted(one.words, _WORDS)}"
            for one in chosen
        ]
        more = len(items) - len(chosen)
        return "; ".join([f"{more} earlier", *words] if more else words)

    still = [one for one in state.constraints if one.status == "open"]
    broken = [one for one in state.constraints if one.status == "violated"]
    none = "none" if state.constraints else "nothing stated"
    yield f"open: {told(still) or none}"
    if broken:
        yield f"violated: {told(broken)}"


def _of_each_kind(items: Sequence[Constraint], most: int) -> list[Constraint]:
    """The newest ones; many looks do not push out what was said of time and place."""
    left = dict.fromkeys((one.kind for one in items), most)
    chosen: list[Constraint] = []
    for one in reversed(items):
        if left[one.kind] and len(chosen) < _STATED:
            chosen.insert(0, one)
            left[one.kind] -= 1
    return chosen


def _goal(state: WorkingState) -> Iterator[str]:
    plan = state.plan
    if step := plan.step(plan.current):
        expected = f", {step.expect} expected" if step.expect else ""
        yield f"step {plan.current} of {len(plan.steps)} {quoted(step.goal, _GOAL)}{expected}"
    elif state.sub_goal:
        yield f"sub-goal: {quoted(state.sub_goal, _GOAL)}"
    if out := plan.numbered("ruled out"):
        yield f"ruled out: {'steps' if len(out) > 1 else 'step'} {', '.join(map(str, out))}"


def _plus(one: object, new: Collection[object]) -> str:
    return "+" if one in new else ""


def _more(count: int) -> str:
    return f" (+{count})" if count else ""


def _name(name: str) -> str:
    return name if _NAME.fullmatch(name) else quoted(name, _WORDS)


def _newest(told: list[str], most: int) -> list[str]:
    older = len(told) - most
    return [f"{older} earlier", *told[older:]] if older > 0 else told

"""When the agent is made to stop and think: pure functions of the steps and what they changed.

Triggers: an empty result, a repeated call, looks without progress, a contradiction, the answer in
sight. The words are ours; what comes from a model or a photo stands in quotes, escaped and short.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from photocraft_local.memory.digest import photo_ids
from photocraft_local.memory.episode import Reflection, Trigger, Verdict
from photocraft_local.memory.state_line import quoted
from photocraft_local.memory.text import prompt_json, shortened
from photocraft_local.memory.working import Change, WorkingState
from photocraft_local.records import Json, Step
from photocraft_local.tools.planning import LEFT_OUT, fits

VIEWS = 4  # looks in a row without progress
LONGEST = 240  # characters of one reflection
_MOST = 2  # after one step
_MOST_BEFORE = 4  # of an episode: "before the answer"
_WORDS, _CALL = 40, 90
_LOOKING = ("view_photos", "fetch_image", "zoom_in", "get_metadata", "compare_photos")
_FINDING = ("search_photos", "filter_photos", "around", "combine_sets", "compare_photos")
_AIMLESS = (*_LOOKING, "list_events", "lookup", "recall", "plan")
_NOT_AGAIN = ("plan", "submit_answer", "compress_context")  # they may well be called alike
_LEFT = {  # tool → what it would try, in words that hold for any tools
    "around": "photos around another one in time or place",
    "list_events": "the list of events",
    "recall": "what is remembered of earlier questions",
}


@dataclass(frozen=True, slots=True)
class Taken:
    """A step with what it changed, how it was judged, and the plan's step that was in hand."""

    step: Step
    change: Change
    verdict: Verdict
    branch: int = 0


def reflections(
    taken: Sequence[Taken], state: WorkingState, said: Sequence[Reflection] = ()
) -> list[Reflection]:
    """What is to be told after the newest of ``taken``, each only once in an episode; the most
    pressing first. ``state`` is the one after it."""
    found: list[tuple[Trigger, str]] = []
    found += [("contradiction", words) for words in _contradictions(taken, state)]
    found += [("repeated call", words) for words in _repeated(taken, state)]
    found += [("empty result", words) for words in _empty(taken, state)]
    found += [("no progress", words) for words in _no_progress(taken)]
    if sum(one.trigger == "before the answer" for one in said) < _MOST_BEFORE:
        found += [("before the answer", words) for words in _before_answer(taken, state)]
    known = {one.words for one in said}
    index = taken[-1].step.index
    new = [
        Reflection(index, trigger, shortened(words, LONGEST))
        for trigger, words in found
        if shortened(words, LONGEST) not in known
    ]
    return new[:_MOST]


def _contradictions(taken: Sequence[Taken], state: WorkingState) -> Iterator[str]:
    now = taken[-1]
    if now.change.broken:
        told = [f"{quoted(words, _WORDS)} ({n})" for words, n in now.change.broken[:3]]
        yield (
            f"the answer broke {', '.join(told)}; leave those photos out, or search anew from "
            "the step where that condition was lost"
        )
    if now.change.turned:
        uids = ", ".join(quoted(uid, _WORDS) for uid in now.change.turned[:4])
        yield f"confirmed before and rejected now: {uids}; find out which of the two is wrong"
    mark = now.step.call.arguments.get("mark") if now.change.planned else None
    if isinstance(mark, dict) and mark.get("status") == "done":
        number = int(mark["step"])
        step, counts = state.plan.step(number), _counts(taken, number)
        if step and counts and not fits(step.expect, counts[-1]):
            yield f"step {number} expected {step.expect}, its last result had {counts[-1]} photos"


def _counts(taken: Sequence[Taken], branch: int) -> list[int]:
    """Sizes of what was found while a step of the plan was in hand."""
    return [
        one.step.observation.data["count"]
        for one in taken
        if one.branch == branch and _is_find(one) and one.step.observation.ok
    ]


def _is_find(one: Taken) -> bool:
    return one.step.call.name in _FINDING and isinstance(
        one.step.observation.data.get("count"), int
    )


def _repeated(taken: Sequence[Taken], state: WorkingState) -> Iterator[str]:
    """The same call as before but for the name it saves under, though a compaction may have hidden
    that: with the same result, or in a branch that was ruled out since."""
    now = taken[-1].step
    if now.call.name in _NOT_AGAIN:
        return
    key = _key(now)
    for one in reversed(taken[:-1]):
        if one.step.call.name != now.call.name or _key(one.step) != key:
            continue
        branch = state.plan.step(one.branch)
        if branch and branch.status == "ruled out" and branch.why != LEFT_OUT:
            why = quoted(branch.why, _CALL)
            yield f"step {one.branch} of the plan, ruled out for {why}, made this call already"
        elif _result(one.step) == _result(now):
            yield f"the same as step {one.step.index}, with the same result; do something else"
        return


def _key(step: Step) -> str:
    given = {key: value for key, value in step.call.arguments.items() if key != "save_as"}
    return prompt_json(given)


def _result(step: Step) -> Json:
    seen = step.observation
    return seen.error, seen.data.get("count"), photo_ids(seen.data), [uid for uid, _ in seen.images]


def _empty(taken: Sequence[Taken], state: WorkingState) -> Iterator[str]:
    now = taken[-1]
    if now.verdict.outcome != "empty" or not _is_find(now):
        return
    given = shortened(_key(now.step), _CALL)
    finds = [one for one in taken if _is_find(one)]
    row = len(list(takewhile(lambda one: one.verdict.outcome == "empty", reversed(finds))))
    advice = "widen one condition, or use other words"
    if row > 1:
        number = state.plan.current
        back = f"; or rule out step {number} of the plan and go back" if number else ""
        left = [words for tool, words in _LEFT.items() if not _used(taken, tool)]
        advice = f"{row} in a row; not tried: {', '.join(left) or 'a wider time or place'}{back}"
    yield f"nothing for {now.step.call.name} {json.dumps(given, ensure_ascii=False)}; {advice}"


def _used(taken: Sequence[Taken], tool: str) -> bool:
    return any(one.step.call.name == tool for one in taken)


def _no_progress(taken: Sequence[Taken]) -> Iterator[str]:
    """At 4, 8, 16 … in a row."""
    idle = list(
        takewhile(
            lambda one: one.step.call.name in _AIMLESS and not one.change.found, reversed(taken)
        )
    )
    num = len(idle)
    if num >= VIEWS and num & (num - 1) == 0:
        yield (
            f"{num} steps in a row found nothing new; decide on what was seen, narrow the "
            "search, or go back"
        )


def _before_answer(taken: Sequence[Taken], state: WorkingState) -> Iterator[str]:
    """Once candidates were looked at, or the plan is at its end, or an answer was refused."""
    now = taken[-1]
    name, seen = now.step.call.name, now.step.observation
    ended = now.change.planned and state.plan.steps and not state.plan.current
    refused = name == "submit_answer" and not seen.ok
    if not (ended or refused or (name in _LOOKING and seen.ok)):
        return
    held = [one for one in state.constraints if one.status in ("open", "violated")]
    told = [f"{one.kind} {quoted(one.words, _WORDS)}" for one in held[:4]]
    if len(held) > len(told):
        told.append(f"{len(held) - len(told)} more")
    left = state.plan.numbered("open")
    if told:
        plan = f"; open steps of the plan: {', '.join(map(str, left))}" if left else ""
        yield f"before the answer: does each photo meet {', '.join(told)}{plan}?"

"""What a plan wants, in the words of episodic memory: context, steps in their order, target.

The steps stand in the order in which they are carried out. Knows no call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from photocraft_local.agent.planner.execute.wording import in_words, of_pictures, picked, related
from photocraft_local.agent.planner.plan import Plan, Wanted
from photocraft_local.agent.planner.script import in_words as sentence
from photocraft_local.memory.text import shortened
from photocraft_local.records import Intent
from photocraft_local.tools.planning import MAX_STEPS

_LONGEST = 200  # characters


def intent_of(plan: Plan) -> Intent:
    """The hidden context is all that says when, where and after what; the rest is looked for."""
    wanted = plan.wanted
    context = [one.words for one in wanted.conditions] + [*map(related, wanted.relations)]
    steps = [*_steps(wanted), *(_steps(plan.other) if plan.other else ())]
    return Intent(
        episode=shortened("; ".join(context), _LONGEST),
        breakdown=tuple(_unique(shortened(one, _LONGEST) for one in steps))[:MAX_STEPS],
        target=shortened(sentence(plan), _LONGEST),
    )


def _steps(wanted: Wanted) -> Iterator[str]:
    if wanted.conditions:
        yield "; ".join(one.words for one in wanted.conditions)
    for relation in wanted.relations:
        if not of_pictures(relation.anchor):
            yield from _steps(relation.anchor)
        yield related(relation)
    for part in wanted.either:
        yield from _steps(part)
    if wanted.like:
        yield f"looks like {', '.join(wanted.like)}"
    yield from (f"looks like {look}" for look in wanted.looks)
    yield from (f"does not look like '{text}'" for text in wanted.not_looks)
    yield from (f"but not ({in_words(part)})" for part in wanted.but_not)
    if wanted.pick:
        yield picked(wanted.pick)


def _unique(steps: Iterable[str]) -> Iterator[str]:
    yield from dict.fromkeys(steps)

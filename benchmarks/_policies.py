"""Five ways to keep a long episode inside a window, and three more; each as the prompts it sends.

All are given the same stable blocks, the same turns (call, result with its state line, pictures),
the same high mark and the same summaries. Messages in, messages out: no engine, no token is
counted here.

* ``none``: as ``compact_rewrite_aligned``, but the turn's number stands at the very front.
* ``sliding``: before each turn the oldest turns go until the prompt is below the high mark.
* ``blank_old_results``: all but the last 5 results give way to a stub, their pictures go.
* ``compact_rewrite``: past the high mark a request with a system text of its own, in front of the
  tools and the whole history, asks for a summary, which takes the place of all turns.
* ``compact_rewrite_without_tools``: the same, but the request leaves the tools out.
* ``compact_rewrite_aligned``: the same, but the request is appended to the prompt that is there.
* ``sliding_in_batches``: past the high mark turns go until the prompt is as short as after a
  compaction. Nobody writes down what went.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from photocraft_local.serving.chat_model import Message

KEPT_RESULTS = 5  # LMM-Searcher's
BLANK = "This result was left out to save room."

SUMMARISER = (
    "You condense the work of an agent that searches a person's photos with tools. You get the "
    "question and all that it has done so far. Your summary takes the place of that history, so "
    "that nothing else of it is left: write what the question wants, what was found with the ids "
    "of photos and the names of sets, what is being looked for now and how, and which attempts "
    "failed and must not be repeated."
)
REQUEST = (
    "The room for this conversation is used up. Summarise it now: the goal, the findings, the "
    "present sub-goal with the plan for it, and failures that must not be repeated."
)


@dataclass(frozen=True)
class Material:
    """``stable``: system, library card, question. ``turns[i]``: the messages that turn i leaves.
    ``summary(turn)``: the text that stands for all turns before that one, ``rewritten(turn)``
    the same facts as a model writes them anew each time."""

    stable: tuple[Message, ...]
    turns: tuple[tuple[Message, ...], ...]
    summary: Callable[[int], str]
    rewritten: Callable[[int], str]


@dataclass(frozen=True)
class Prompt:
    """``turn``: 0-based; a summary is asked for before the turn of that number."""

    kind: Literal["turn", "summary"]
    turn: int
    messages: list[Message]
    with_tools: bool = True


Full = Callable[[Sequence[Message]], bool]  # whether a prompt is past the high mark
Policy = Callable[[Material, Full], Iterator[Prompt]]


def sliding(material: Material, full: Full) -> Iterator[Prompt]:
    first = 0
    for turn in range(len(material.turns)):
        while first < turn and full(_kept(material, first, turn)):
            first += 1
        yield Prompt("turn", turn, _kept(material, first, turn))


def sliding_in_batches(
    material: Material, full: Full, low: Callable[[int], Full]
) -> Iterator[Prompt]:
    """``low(turn)`` tells of a prompt whether it is longer than one compacted before ``turn``."""
    first = 0
    for turn in range(len(material.turns)):
        if full(_kept(material, first, turn)):
            while first < turn and low(turn)(_kept(material, first, turn)):
                first += 1
        yield Prompt("turn", turn, _kept(material, first, turn))


def blank_old_results(material: Material, full: Full) -> Iterator[Prompt]:
    """Stubs alone do not keep every window: what is still too long loses its oldest turns."""
    first = 0
    for turn in range(len(material.turns)):
        while first < turn and full(_blanked(material, first, turn)):
            first += 1
        yield Prompt("turn", turn, _blanked(material, first, turn))


def compact_rewrite(material: Material, full: Full) -> Iterator[Prompt]:
    return _compacting(material, full, _apart)


def compact_rewrite_without_tools(material: Material, full: Full) -> Iterator[Prompt]:
    return _compacting(material, full, _bare)


def compact_rewrite_aligned(material: Material, full: Full) -> Iterator[Prompt]:
    return _compacting(material, full, _appended)


def none(material: Material, full: Full) -> Iterator[Prompt]:
    num = len(material.turns)
    for prompt in _compacting(material, full, _appended):
        system, *rest = prompt.messages
        front = f"Turn {prompt.turn + 1} of {num}.\n\n{system['content']}"
        yield Prompt(prompt.kind, prompt.turn, [{**system, "content": front}, *rest])


def _compacting(
    material: Material, full: Full, asked: Callable[[int, list[Message]], Prompt]
) -> Iterator[Prompt]:
    summary: tuple[Message, ...] = ()
    first = 0
    for turn in range(len(material.turns)):
        messages = _with(material, summary, first, turn)
        if first < turn and full(messages):
            yield asked(turn, messages)
            summary, first = ({"role": "user", "content": material.rewritten(turn)},), turn
            messages = _with(material, summary, first, turn)
        yield Prompt("turn", turn, messages)


def _appended(turn: int, messages: list[Message]) -> Prompt:
    return Prompt("summary", turn, [*messages, {"role": "user", "content": REQUEST}])


def _apart(turn: int, messages: list[Message]) -> Prompt:
    """As a client asks to which the tools were given once for all."""
    own = {"role": "system", "content": SUMMARISER}
    return Prompt("summary", turn, [own, *messages[1:], {"role": "user", "content": REQUEST}])


def _bare(turn: int, messages: list[Message]) -> Prompt:
    return replace(_apart(turn, messages), with_tools=False)


def _with(material: Material, summary: tuple[Message, ...], first: int, turn: int) -> list[Message]:
    return [*material.stable, *summary, *_flat(material.turns[first:turn])]


def _kept(material: Material, first: int, turn: int) -> list[Message]:
    return _with(material, (), first, turn)


def _blanked(material: Material, first: int, turn: int) -> list[Message]:
    messages = list(material.stable)
    for index in range(first, turn):
        one = material.turns[index]
        messages += one if index >= turn - KEPT_RESULTS else _stubs(one)
    return messages


def _stubs(messages: tuple[Message, ...]) -> Iterator[Message]:
    """The model's call and the stub; pictures go with the result that brought them."""
    for message in messages:
        if message["role"] == "tool":
            yield {**message, "content": BLANK}
        elif message["role"] == "assistant":
            yield message


def _flat(turns: Sequence[tuple[Message, ...]]) -> list[Message]:
    return [message for turn in turns for message in turn]

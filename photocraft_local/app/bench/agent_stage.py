"""Questions an hour, tokens a second, and how much of the prompts came from the cache.

Asked of a made library in a temporary folder, so that neither traces nor memory of the person's own
are touched. With a model, 1, 4 and 16 questions are under way at once; the rules are told as rules.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.asking import Question, ask, plan
from photocraft_local.app.at_once import Turns, Yielding, takes_many, together
from photocraft_local.app.backbones import chosen, make_backbone
from photocraft_local.app.bench.figures import Figure, not_measured
from photocraft_local.app.bench.material import small_album
from photocraft_local.app.episodes import Listeners
from photocraft_local.app.parts import Parts
from photocraft_local.errors import ModelError, PhotocraftError
from photocraft_local.records import Usage

if TYPE_CHECKING:
    from photocraft_local.app.backbones import Backbone
    from photocraft_local.serving.qwen.brain import Brain
    from photocraft_local.serving.qwen.completion import ChatRequest, Completion
    from photocraft_local.settings import Settings

AT_ONCE = (1, 4, 16)
TODAY = date(2022, 6, 15)
_PHOTOS = 36
_QUICK_TURNS = 3
_LOOKS = ("photos", "a dog", "a street", "people at a table", "a beach", "a red car")
_MONTHS = ("January", "March", "May", "July", "August", "September", "October", "December")


class _Lending(Parts):
    """Parts whose backbone is somebody else's, who ends it."""

    lent: Backbone | None = None

    def backbone(self) -> Backbone:
        return self.lent or super().backbone()


class _Timed(Yielding):
    """Adds up the seconds in which replies are waited for."""

    seconds = 0.0

    def chat(self, request: ChatRequest) -> Completion:
        with self._counted():
            return super().chat(request)

    def chat_all(
        self, requests: Sequence[ChatRequest], *, at_once: int
    ) -> list[Completion | ModelError]:
        with self._counted():
            return super().chat_all(requests, at_once=at_once)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - start


class _Lent:
    def __init__(self, brain: Brain) -> None:
        self._brain = brain

    def brain(self, progress: Callable[[str], None]) -> Brain:
        del progress
        return self._brain

    def close(self) -> None:
        """It goes on."""


def agent(
    settings: Settings, folder: Path, tell: Callable[[str], None], *, quick: bool
) -> Iterator[Figure]:
    """Raises nothing of the package's own: what cannot run is a figure without a value."""
    from photocraft_local.app.indexing import index

    own = replace(
        settings,
        library=folder / "library",
        memory_folder=folder / "memory",
        memory=False,
        runs=1,
        vector_store="auto",
        max_turns=min(settings.max_turns, _QUICK_TURNS) if quick else settings.max_turns,
    )
    parts = _Lending(own)
    try:
        index(parts, [small_album(folder / "album", _PHOTOS)], None)
        yield from _rules(own, quick=quick)
        yield from _model(parts, own, tell, quick=quick)
    except PhotocraftError as error:
        yield not_measured("agent", "questions", error)
    finally:
        parts.close()


def _rules(settings: Settings, *, quick: bool) -> Iterator[Figure]:
    planner = Parts(replace(settings, backbone="planner", weights=None, backbone_url=""))
    questions = _questions(5 if quick else 30)
    try:
        ask(planner, Question(questions[0]), Listeners(), TODAY)  # opens all parts
        start = time.perf_counter()
        for question in questions:
            ask(planner, Question(question), Listeners(), TODAY)
        asked = time.perf_counter()
        for question in questions:
            plan(planner, Question(question), TODAY)
        understood = time.perf_counter()
    finally:
        planner.close()
    hour = 3600 * len(questions)
    yield Figure(
        "agent", "rules, one question at a time", hour / (asked - start), "questions/h",
        hour / (understood - asked), "the same words understood, nothing searched",
        "the rules that stand in where no model is placed; says nothing of a model's speed",
    )  # fmt: skip


def _model(
    parts: _Lending, settings: Settings, tell: Callable[[str], None], *, quick: bool
) -> Iterator[Figure]:
    if chosen(settings) == "planner":
        why = "no model is set; give --weights FOLDER or --backbone-url URL"
        for number in AT_ONCE:
            yield Figure("agent", f"a model, {_at_once(number)}", why=why)
        return
    backbone = make_backbone(settings)
    try:
        yield from _at_each_number(parts, backbone.brain(tell), tell, quick=quick)
    finally:
        backbone.close()


def _at_each_number(
    parts: _Lending, brain: Brain, tell: Callable[[str], None], *, quick: bool
) -> Iterator[Figure]:
    first = _asked(parts, brain, _questions(1), 1)  # what all have in common is read once, here
    yield _first(first, brain)
    asked, alone = 1, None
    for number in AT_ONCE:
        if number > 1 and not takes_many(brain):
            why = "the model in this process reads one prompt at a time: the others would wait"
            yield Figure("agent", f"{brain.name}, {_at_once(number)}", why=why)
            continue
        count = number if quick else 2 * number
        tell(f"{brain.name}: {count} questions, {_at_once(number)}")
        questions = _questions(asked + count)[asked:]  # none twice: a cache would answer it
        asked += count
        made = _asked(parts, brain, questions, number)
        yield from _figures(made, f"{brain.name}, {_at_once(number)}", alone)
        alone = alone or made


@dataclass(frozen=True, slots=True)
class _Asked:
    """Questions that were asked, that many at once, and what came of them."""

    at_once: int
    most_turns: int
    seconds: float
    waited: float  # of them, for replies, all threads together
    usages: list[Usage]  # of those with an answer
    failed: list[str]

    @property
    def used(self) -> Usage:
        return sum(self.usages, Usage())

    def rates(self, seconds: float) -> tuple[float, float, float]:
        """Questions, tokens written and tokens read in a second, if all took so many."""
        counts = (len(self.usages), self.used.generated, self.used.prompt)
        first, second, third = (count / max(seconds, 1e-9) for count in counts)
        return first, second, third


def _asked(parts: _Lending, brain: Brain, questions: list[str], at_once: int) -> _Asked:
    """All questions, that many under way at once."""
    turns, usages, failed = Turns(), [], []
    chat = _Timed(brain.chat, turns)
    parts.lent = _Lent(replace(brain, chat=chat))
    waiting = list(questions)

    def work() -> None:
        while waiting:
            try:
                answer = ask(parts, Question(waiting.pop()), Listeners(), TODAY)
            except PhotocraftError as error:
                failed.append(error.message)
            else:
                usages.append(answer.usage or Usage())

    start = time.perf_counter()
    cancel: Callable[[], None] = getattr(brain.chat, "cancel", lambda: None)
    together([work] * min(at_once, len(questions)), turns, cancel)
    spent = time.perf_counter() - start
    return _Asked(at_once, parts.settings.max_turns, spent, chat.seconds, usages, failed)


def _first(made: _Asked, brain: Brain) -> Figure:
    name = f"{brain.name}, first question"
    if not made.usages:
        return Figure("agent", name, why=f"it was not answered: {made.failed[0]}")
    note = f"{made.used.prompt:,} tokens of prompts, {made.used.cached:,} of them from the cache"
    note += f"; {made.waited:.3g} s are the model's replies"
    return Figure("agent", name, made.seconds, "s", note=note)


def _figures(made: _Asked, name: str, alone: _Asked | None) -> Iterator[Figure]:
    """``alone``: what one question at a time came to, whose rates bound those of several."""
    if not made.usages:
        yield Figure("agent", name, why=f"no question was answered: {made.failed[0]}")
        return
    count = len(made.usages) + len(made.failed)
    note = f"{count} questions" if count > 1 else "1 question"
    note += f", at most {made.most_turns} turns each"
    note += f"; {len(made.failed)} without an answer" * bool(made.failed)
    shown = f"{made.used.prompt:,} tokens of prompts"
    bound, most = _bound(made, alone)
    rows = (("", "questions/h", 3600, note), (": written", "tokens/s", 1, ""),
            (": read", "tokens/s", 1, shown))  # fmt: skip
    rates = made.rates(made.seconds)
    for (what, unit, times, told), rate, one in zip(rows, rates, most, strict=True):
        ceiling = times * one or None
        yield Figure("agent", name + what, times * rate, unit, ceiling, bound, told)
    cached = 100 * made.used.cached / (made.used.prompt or 1)
    yield Figure("agent", f"{name}: from the cache", cached, "%", 100.0, "all of it", shown)


def _bound(made: _Asked, alone: _Asked | None) -> tuple[str, tuple[float, float, float]]:
    """In words, and as rates; of none where one at a time gave no rate."""
    if made.at_once == 1:
        return "the model's replies alone", made.rates(made.waited)
    if alone is None or not alone.usages:
        return "", (0.0, 0.0, 0.0)
    first, second, third = (made.at_once * rate for rate in alone.rates(alone.seconds))
    return f"{made.at_once} times the rate of one at a time", (first, second, third)


def _questions(count: int) -> list[str]:
    """Different ones, the same in each run."""
    every = [f"{look} in {month} 2021" for month, look in product(_MONTHS, _LOOKS)]
    return every[:count]


def _at_once(number: int) -> str:
    return "one at a time" if number == 1 else f"{number} at once"

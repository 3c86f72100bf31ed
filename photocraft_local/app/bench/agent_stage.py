"""Questions an hour, tokens a second, and how much of the prompts came from the cache.

Asked of a made library in a temporary folder, so that neither traces nor memory of the person's own
are touched. With a model, 1, 4 and 16 questions are under way at once; the rules are told as rules.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.asking import Question, ask
from photocraft_local.app.at_once import Turns, Yielding, takes_many, together
from photocraft_local.app.backbones import chosen, make_backbone
from photocraft_local.app.bench.figures import Figure, not_measured
from photocraft_local.app.bench.material import small_album
from photocraft_local.app.episodes import Listeners
from photocraft_local.app.parts import Parts
from photocraft_local.errors import PhotocraftError
from photocraft_local.records import Usage

if TYPE_CHECKING:
    from photocraft_local.app.backbones import Backbone
    from photocraft_local.serving.qwen.brain import Brain
    from photocraft_local.settings import Settings

AT_ONCE = (1, 4, 16)
TODAY = date(2022, 6, 15)
_PHOTOS = 36
_QUICK_TURNS = 3
_LOOKS = ("photos", "a dog", "a street", "people at a table", "a beach", "a red car")
_MONTHS = ("January", "March", "May", "July", "August")


class _Lending(Parts):
    """Parts whose backbone is somebody else's, who ends it."""

    lent: Backbone | None = None

    def backbone(self) -> Backbone:
        return self.lent or super().backbone()


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
        yield from _rules(parts, own, quick=quick)
        yield from _model(parts, own, tell, quick=quick)
    except PhotocraftError as error:
        yield not_measured("agent", "questions", error)
    finally:
        parts.close()


def _rules(parts: Parts, settings: Settings, *, quick: bool) -> Iterator[Figure]:
    planner = Parts(replace(settings, backbone="planner", weights=None, backbone_url=""))
    questions = _questions(5 if quick else 30)
    try:
        ask(planner, Question(questions[0]), Listeners(), TODAY)  # opens all parts
        start = time.perf_counter()
        for question in questions:
            ask(planner, Question(question), Listeners(), TODAY)
        spent = time.perf_counter() - start
    finally:
        planner.close()
    del parts
    yield Figure(
        "agent", "rules, one question at a time", 3600 * len(questions) / spent, "questions/h",
        note="the rules that stand in where no model is placed; says nothing of a model's speed",
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
        brain = backbone.brain(tell)
        asked, one_by_one = 0, None
        for number in AT_ONCE:
            if number > 1 and not takes_many(brain):
                why = "the model in this process reads one prompt at a time: the others would wait"
                yield Figure("agent", f"{brain.name}, {_at_once(number)}", why=why)
                continue
            count = number if quick else 2 * number
            tell(f"{brain.name}: {count} questions, {_at_once(number)}")
            questions = _questions(asked + count)[asked:]  # none twice: a cache would answer it
            asked += count
            figures = _asked(parts, brain, questions, number, one_by_one)
            one_by_one = one_by_one or figures[0].value
            yield from figures
    finally:
        backbone.close()


def _asked(
    parts: _Lending, brain: Brain, questions: list[str], at_once: int, one_by_one: float | None
) -> list[Figure]:
    """All questions, that many under way at once."""
    turns, usages, failed = Turns(), [], []
    parts.lent = _Lent(replace(brain, chat=Yielding(brain.chat, turns)))
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
    used = sum(usages, Usage())
    name = f"{brain.name}, {_at_once(at_once)}"
    if not usages:
        return [Figure("agent", name, why=f"no question was answered: {failed[0]}")]
    note = f"{len(questions)} questions, at most {parts.settings.max_turns} turns each"
    note += f"; {len(failed)} without an answer" * bool(failed)
    ceiling = at_once * one_by_one if one_by_one and at_once > 1 else None
    bound = f"{at_once} times the rate of one at a time" * bool(ceiling)
    rate = 3600 * len(usages) / spent
    told = Figure("agent", name, rate, "questions/h", ceiling, bound, note)
    prompt, shown = used.prompt or 1, f"{used.prompt:,} tokens of prompts"
    return [
        told,
        replace(told, name=f"{name}: written", value=used.generated / spent, unit="tokens/s",
                ceiling=None, bound="", note=""),
        replace(told, name=f"{name}: read", value=used.prompt / spent, unit="tokens/s",
                ceiling=None, bound="", note=shown),
        replace(told, name=f"{name}: from the cache", value=100 * used.cached / prompt, unit="%",
                ceiling=100.0, bound="all of it", note=shown),
    ]  # fmt: skip


def _questions(count: int) -> list[str]:
    """Different ones, the same in each run."""
    every = [f"{look} in {month} 2021" for month, look in product(_MONTHS, _LOOKS)]
    return every[:count]


def _at_once(number: int) -> str:
    return "one at a time" if number == 1 else f"{number} at once"

"""What a check of photos may take of a question's budget: never passed, and what is left undone is
told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.errors import ModelError
from photocraft_local.records import Usage
from photocraft_local.serving.judging import Condition, Left, Subject
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.qwen.judge import AT_ONCE, Judge
from photocraft_local.serving.qwen.odds import CHOICES
from photocraft_local.serving.tokens import PictureRule
from photocraft_local.serving.tool_calls import Limits

SHARED, PHOTO, SHEET = 300, 500, 2000  # tokens of a prompt: what all have, a photo, a sheet
DOG = [Condition("a dog")]
NUM = 100


@dataclass
class Eyes:
    """Says yes to each photo. A prefix cache holds the shared part from the second prompt on, where
    ``caches``. ``turns`` are what else it is asked."""

    caches: bool = True
    turns: list[str] = field(default_factory=list)
    asked: list[ChatRequest] = field(default_factory=list)

    def chat(self, request: ChatRequest) -> Completion:
        self.asked.append(request)
        if request.choices:
            cached = SHARED if self.caches and len(self.asked) > 1 else 0
            likely = {choice: -0.1 if choice.lower() == "yes" else -4.0 for choice in CHOICES}
            return Completion("Yes", usage=Usage(SHARED + PHOTO, cached, 1), logprobs=likely)
        if self.turns:
            return Completion(self.turns.pop(0), usage=Usage(900, 0, 20))
        return Completion('{"out": [], "why": ""}', usage=Usage(SHARED + SHEET, 0, 9))


def judge_of(eyes: Eyes) -> Judge:
    rule = PictureRule(28, 4 * 28**2, 256 * 28**2)
    return Judge(Brain("tiny", eyes, PictureStore(rule), Limits(), window=16384))


def subjects(num: int) -> list[Subject]:
    def pixels(shade: int) -> Any:
        return lambda: np.full((64, 96, 3), shade, dtype=np.uint8)

    return [Subject(f"p{shade}", pixels(shade)) for shade in range(num)]


@pytest.mark.parametrize("caches", [True, False])
@pytest.mark.parametrize("tokens", [0, 500, 801, 2500, 9000, 26_000, 60_000, 90_000, 10**6])
def test_no_more_tokens_go_than_are_left(tokens: int, caches: bool) -> None:
    eyes = Eyes(caches)
    judge = judge_of(eyes)
    if tokens < SHARED + PHOTO:  # the first prompt, whose length nobody counted, is one too many
        if not tokens:
            with pytest.raises(ModelError, match="left of the tokens"):
                judge.judge("", DOG, [], subjects(NUM), left=Left(tokens))
            assert not eyes.asked
        return
    seen = judge.judge("", DOG, [], subjects(NUM), left=Left(tokens))
    assert seen.usage.fresh <= tokens
    assert set(seen.probabilities) | set(seen.failed) == {one.uid for one in subjects(NUM)}
    assert not set(seen.probabilities) & set(seen.failed)
    assert list(seen.probabilities) == [one.uid for one in subjects(len(seen.probabilities))]
    assert all("left of the tokens" in why for why in seen.failed.values())
    most = (tokens - SHARED - PHOTO) // (SHARED + PHOTO + 1)
    assert len(seen.probabilities) >= min(NUM, most)
    assert bool(seen.failed) == (tokens < 60_000 or (tokens < 90_000 and not caches))
    if tokens == 10**6:
        assert not seen.whole.error


def test_what_is_known_already_costs_nothing() -> None:
    eyes = Eyes()
    judge = judge_of(eyes)
    first = judge.judge("", DOG, [], subjects(NUM))
    asked = len(eyes.asked)
    again = judge.judge("", DOG, [], subjects(NUM), left=Left(0))
    assert again.probabilities == first.probabilities
    assert len(eyes.asked) == asked
    assert "left of the tokens" in again.whole.error


def test_each_request_is_given_the_time_that_is_left_and_none_goes_after_it() -> None:
    eyes, ticks = Eyes(), count()
    seen = judge_of(eyes).judge(
        "", DOG, [], subjects(NUM), left=Left(None, lambda: 20 - next(ticks))
    )
    assert 0 < len(seen.probabilities) < NUM
    assert all("left of the time" in why for why in seen.failed.values())
    given = [request.seconds for request in eyes.asked]
    assert given == sorted(given, reverse=True)
    assert all(0 < seconds < 20 for seconds in given)
    assert len(set(given[1:])) == -(-(len(given) - 1) // AT_ONCE)
    assert "left of the time" in seen.whole.error


def call(name: str, **arguments: Any) -> str:
    return json.dumps({"thought": "So.", "call": {"name": name, "arguments": arguments}})


ALL = call("filter_photos", where="width > 0", save_as="all")
COMPARED = call("compare_photos", set="all", question="a dog?", save_as="dogs")
CLAIM = {"constraint": "dog", "seen": "a dog"}
SUBMITTED = call("submit_answer", set="all", evidence=[CLAIM])


@pytest.mark.parametrize("turns", [[ALL, COMPARED, SUBMITTED], [ALL, SUBMITTED]])
@pytest.mark.parametrize("most", [3000, 6000, 9000, 14_000, 10**6])
def test_a_question_with_checks_keeps_to_its_tokens_and_says_what_was_not_looked_at(
    small_library: Any,
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    turns: Sequence[str],
    most: int,
) -> None:
    eyes = Eyes(turns=[*turns, SUBMITTED, SUBMITTED])
    rule = PictureRule(28, 4 * 28**2, 256 * 28**2)
    brain = Brain("tiny", eyes, PictureStore(rule), Limits())
    monkeypatch.setattr(ServedBackbone, "brain", lambda *_: brain)
    settings = Settings(
        library=small_library(9), cache=shared_cache, encoder="null", memory=False,
        backbone_url="unix:/none", max_tokens=most, restarts=0,
    )  # fmt: skip
    with PhotoSearch(settings) as search:
        answer = search.ask("which photos have a dog?")
    assert answer.trajectory
    record = trajectory.load(answer.trajectory)
    turn = Usage(900, 0, 20).fresh  # the last one, of a backbone that measures nothing before it
    assert record.total_usage().fresh <= most + turn
    told = json.dumps([step.observation.data for step in record.steps])
    told += str([piece.value for photo in answer.photos for piece in photo.evidence])
    told += str([step.observation.error for step in record.steps])
    if most <= 6000 or most == 10**6:  # in between one check can be paid for, or a part of it
        assert ("left of the tokens" in told) == (most <= 6000)

"""Whole questions on real photos against a server that counts its prompts: the window is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="the served backbone needs the cpu or gpu extra")

from played_api import Handler, completion, fails, played

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory

WRITTEN = {
    "decisions": "By month.",
    "ruled_out": "None yet.",
    "sub_goal": "the next month",
    "next_action": "filter_photos",
}


def call(name: str, **arguments: object) -> str:
    return json.dumps({"thought": "So.", "call": {"name": name, "arguments": arguments}})


class Counting:
    """Takes ``rate`` tokens for a byte of text, and refuses what its window does not hold."""

    def __init__(self, window: int, rate: float, turns: int) -> None:
        self.window, self.rate, self.turns = window, rate, turns
        self.prompts: list[int] = []
        self.refused = self.summaries = self.num = 0

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        size = len(json.dumps(body["messages"], ensure_ascii=False).encode())
        tokens = int(size * self.rate)
        if tokens + body["max_tokens"] > self.window:
            self.refused += 1
            asked = f"your request has {tokens} input tokens"
            message = f"This model's maximum context length is {self.window} tokens. But {asked}."
            return fails(400, message)(handler, body)
        self.prompts.append(tokens)
        reply = completion(self.said(json.dumps(body["response_format"])))
        reply["usage"]["prompt_tokens"] = tokens
        return handler.send_json(200, reply)

    def said(self, schema: str) -> str:
        if '"write_summary"' in schema:
            self.summaries += 1
            return call("write_summary", **WRITTEN)
        if self.num >= self.turns or '"filter_photos"' not in schema:
            return call("submit_answer", photos=[], text="none", evidence=[])
        self.num += 1
        return call("filter_photos", where=f"width > {self.num}", save_as=f"wider_{self.num}")


@pytest.fixture(scope="module")
def library(small_library: Callable[[int], Path]) -> Path:
    return small_library(20)


@pytest.fixture
def asked(library: Path, shared_cache: Path, tmp_path: Path) -> Callable[..., Any]:
    """(answer, its trace) of a question to that server."""

    def ask(counting: Counting, told: int) -> tuple[Any, trajectory.Trajectory]:
        with played(always=counting, at=tmp_path / "s", max_model_len=told) as server:
            settings = Settings(
                library=library,
                cache=shared_cache,
                encoder="null",
                backbone_url=f"unix:{server.endpoint.socket}",
                max_turns=60,
            )
            with PhotoSearch(settings) as search:
                answer = search.ask("everything, month by month")
        assert answer.trajectory
        return answer, trajectory.load(answer.trajectory)

    return ask


@pytest.mark.parametrize("rate", [0.25, 0.4])
def test_turns_become_summaries_before_the_server_has_to_refuse(
    asked: Callable[..., Any], rate: float
) -> None:
    window = int(60_000 * rate)
    counting = Counting(window, rate, turns=40)
    _, trace = asked(counting, window)
    assert trace.status == "answered"
    assert len(trace.steps) == 41
    assert len(trace.compactions) > 1
    assert counting.summaries == len(trace.compactions)
    assert counting.refused == 0
    assert all(made.prose and made.usage.prompt for made in trace.compactions)
    assert all(0 < made.tokens_after < made.tokens_before for made in trace.compactions)


def test_a_server_that_states_too_long_a_window_is_believed_when_it_refuses(
    asked: Callable[..., Any],
) -> None:
    counting = Counting(16_000, 0.3, turns=40)
    answer, trace = asked(counting, 200_000)
    assert trace.status == "answered"
    assert counting.refused == 1  # it says how long its window is
    assert trace.attempts == []
    assert len(trace.steps) == 41
    assert trace.compactions[0].why.startswith("refused: ")
    assert all(made.prose for made in trace.compactions)
    assert trace.steps[-1].call.name == "submit_answer"
    assert len(answer) == 0


def test_a_server_without_room_for_the_tools_ends_in_an_honest_abstention(
    asked: Callable[..., Any],
) -> None:
    counting = Counting(2000, 0.3, turns=3)
    answer, trace = asked(counting, 2000)
    assert trace.status == "answered"
    assert trace.steps == []
    assert counting.prompts == []
    assert counting.refused <= 4
    assert "2000" in answer.reason

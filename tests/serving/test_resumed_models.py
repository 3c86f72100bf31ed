"""A model's question that goes on under other settings: the prompt and the tools are those that it
began with, the limits those of now."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from played_brain import GIVES_UP, call, installed

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import MAX_REFUSED
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.app.traces import newest

PLAN = call("plan", steps=[{"goal": "the lake"}], target="photos")
FINDS = [call("filter_photos", where=f"width > {number}") for number in range(6)]
GIVEN_UP = call("submit_answer", **GIVES_UP)
BAD = ["no call"] * MAX_REFUSED


@pytest.fixture
def gone_on(
    small_library: Callable[[int], Path], shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """gone_on(replies, more, before, after) → last request before, those after the cut, trace."""
    usual: dict[str, Any] = {"library": small_library(3), "cache": shared_cache, "encoder": "null"}
    usual |= {"backbone_url": "unix:/none", "memory": False}

    def run(
        replies: list[str],
        more: list[str],
        before: dict[str, Any],
        after: dict[str, Any],
        aged: Callable[[dict[str, Any]], None] = lambda trace: None,
    ) -> tuple[Any, Any, Trajectory]:
        cut = installed(monkeypatch, *replies, KeyboardInterrupt())
        with PhotoSearch(Settings(**usual | before)) as search, pytest.raises(KeyboardInterrupt):
            search.ask("a boat on the lake")
        path = newest(usual["library"] / "traces")
        data = json.loads(path.read_text("utf-8"))
        aged(data)
        path.write_text(json.dumps(data), "utf-8")
        rest = installed(monkeypatch, *more)
        with PhotoSearch(Settings(**usual | after)) as search:
            answer = search.resume()
        assert answer.trajectory
        return cut.requests[-1], rest.requests, trajectory.load(answer.trajectory)

    return run


@pytest.mark.parametrize(
    ("replies", "before", "after"),
    [
        ([PLAN, FINDS[0]], {}, {"episodic": False}),
        ([FINDS[0]], {"episodic": False}, {}),
        ([FINDS[0], FINDS[1]], {}, {"working": False}),
        ([FINDS[0], FINDS[1]], {"working": False}, {}),
        ([*FINDS[:3]], {"max_turns": 3}, {"max_turns": 3}),
        ([*FINDS[:3]], {"max_turns": 3}, {"max_turns": 30}),
        ([FINDS[0], *BAD, GIVEN_UP, FINDS[1]], {}, {"restarts": 0}),
        ([FINDS[0], *BAD], {}, {}),
    ],
)
def test_the_prompt_and_the_tools_are_those_that_it_began_with(
    gone_on: Any, replies: list[str], before: dict[str, Any], after: dict[str, Any]
) -> None:
    cut, rest, record = gone_on(replies, [GIVEN_UP] * 2, before, after | {"restarts": 0})
    assert rest[0].messages == cut.messages
    assert rest[0].schema == cut.schema
    assert record.status == "answered"


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_one_that_an_older_version_began_goes_on_with_the_tools_of_then(
    gone_on: Any, version: int
) -> None:
    later = [["plan", "pictures"], ["compactions", "cuts"], ["card", "hints"]]
    later += [["attempts", "last_turn", "seconds", "runs", "notes", "pooling"]]

    def aged(trace: dict[str, Any]) -> None:
        trace["version"] = version
        for key in (key for keys in later[version - 1 :] for key in keys):
            del trace[key]
        for name in ("episodic", "working", "summary", "max_tokens", "max_seconds", "restarts"):
            del trace["config"][name]

    begun = {"episodic": False}  # there was no such memory
    cut, rest, record = gone_on([FINDS[0], FINDS[1]], [FINDS[2], GIVEN_UP], begun, {}, aged)
    assert rest[0].schema == cut.schema
    assert rest[0].messages == cut.messages
    assert (record.status, len(record.steps)) == ("answered", 4)


@pytest.mark.parametrize(
    ("after", "limit"),
    [({"max_turns": 3}, "turns"), ({"max_tokens": 50}, "tokens"), ({"max_seconds": 1e-6}, "")],
)
def test_a_limit_that_is_passed_already_leaves_only_the_answer(
    gone_on: Any, after: dict[str, Any], limit: str
) -> None:
    _, rest, record = gone_on(FINDS[:5], [GIVEN_UP], {}, after)
    assert record.status == "answered"
    assert record.limit == (limit or "seconds")
    assert len(rest) == bool(limit)  # without any time left no model is asked
    assert len(record.steps) == 5 + bool(limit)

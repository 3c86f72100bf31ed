"""The rules state intent and plan for the record alone: no step, and nothing in the prompt."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from made_library import Made, World

from photocraft_local import PhotoSearch
from photocraft_local.agent.loop import Agent
from photocraft_local.agent.planner import Planner
from photocraft_local.cli.main import main
from photocraft_local.memory.memory import Memory
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.settings import Settings


@pytest.fixture(scope="module")
def library(small_library: Callable[[int], Path]) -> Path:
    return small_library(4)


def test_the_rules_state_intent_and_plan_without_a_step(
    library: Path, shared_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(**given: Any) -> Any:
        settings = Settings(
            library=library, cache=shared_cache, encoder="null", backbone="planner", **given
        )
        with PhotoSearch(settings) as search:
            steps = [len(search.ask(text).steps) for text in ("everything", "dogs not in 2021")]
            return steps, list(search.memory.list("episodes"))

    bare, none = asked(episodic=False)
    steps, records = asked()
    assert (none, steps) == ([], bare)
    every, dogs = records[-2:]
    assert not every.plan  # there is nothing to find first
    assert dogs.intent.breakdown == ("not in 2021", "looks like 'dogs'")
    assert dogs.intent.episode == "not in 2021"
    assert "dogs" in dogs.intent.target
    assert [one.goal for one in dogs.plan] == list(dogs.intent.breakdown)
    assert len(dogs.verdicts) == steps[-1]
    options = ["--library", str(library)]
    assert main(["trace", dogs.episode_id, *options]) == 0
    told = capsys.readouterr().out
    assert "goal 1      not in 2021 (" in told
    assert "context     not in 2021" in told
    assert main(["memory", "show", dogs.episode_id, *options]) == 0
    assert '"goal": "not in 2021"' in capsys.readouterr().out


def test_rules_have_done_their_plan_where_the_answer_holds(
    tmp_path: Path, shared_cache: Path
) -> None:
    settings = Settings(library=tmp_path, memory_folder=tmp_path)
    memory = Memory.open(settings)
    photos = World([Made(datetime(2021, 6, day, 12)) for day in (3, 4, 5)])
    with Gazetteer.open(shared_cache) as places:
        agent = Agent(Planner(places), photos.registry(memory=memory), memory, settings)
        assert len(agent.ask("the first photo of June 2021").uids) == 1
        agent.ask("photos of May 2021")
    assert memory.store is not None
    first, second = memory.store.list()
    assert [(step.goal, step.status) for step in first.plan] == [
        ("of June 2021", "done"),
        ("the first", "done"),
    ]
    assert [step.status for step in second.plan] == ["open"]
    assert second.verdicts[0].outcome == "empty"

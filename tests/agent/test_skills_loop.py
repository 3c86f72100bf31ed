"""Skills in the true loop: where the hints stand, what the trace says, who is counted for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_tools import Find, make_registry

from photocraft_local import PhotoSearch
from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import Agent
from photocraft_local.errors import ModelError
from photocraft_local.memory.memory import Memory
from photocraft_local.memory.skills import Skill, SkillStore
from photocraft_local.records import ToolCall
from photocraft_local.serving.scripted import Line, ScriptedModel
from photocraft_local.settings import Settings

FIND = ToolCall("find", {"text": "dog", "save_as": "dogs"})
NONE = ToolCall("submit_answer", {"photos": [], "reason": "none"})
SOME = ToolCall("submit_answer", {"photos": ["aaaaa"]})
QUESTION = "the day after the wedding"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(library=tmp_path / "library", cache=tmp_path / "cache", max_turns=3)


def asked(settings: Settings, *lines: Line, question: str = QUESTION) -> tuple[Any, Any]:
    """The trace and the prompts of one question in a process of its own."""
    memory, model = Memory.open(settings), ScriptedModel(lines)
    agent = Agent(model, make_registry(Find(), memory), memory, settings, library_card="9 photos")
    agent.ask(question)
    assert agent.last_trace is not None
    return trajectory.load(agent.last_trace), model.seen


def mine(settings: Settings) -> SkillStore:
    store = SkillStore.of(settings)
    store.add(Skill(skill_id="s-1", when="day after [thing]", sketch=("around(unit=day) as A",)))
    return store


def test_hints_stand_behind_the_question_the_same_bytes_in_each_turn(settings: Settings) -> None:
    mine(settings)
    trace, seen = asked(settings, FIND, NONE)
    contents = [str(message["content"]) for message in seen[0]]
    assert [len(seen[0]), len(seen[1])] == [4, 6]
    assert QUESTION in contents[2]
    assert contents[3].startswith("Hints from earlier questions")
    assert "around(unit=day) as A" in contents[3]
    assert "s-1" not in contents[3]
    assert json.dumps(seen[1][:4]) == json.dumps(seen[0])
    assert trace.hints[0]["skill_id"] == "s-1"
    assert trace.hints[0]["origin"] == "learned"
    assert all(hint["text"] in contents[3] for hint in trace.hints)


def test_the_blocks_before_the_hints_do_not_know_of_them(settings: Settings) -> None:
    off = Settings(library=settings.library, cache=settings.cache, skills=False)
    _, with_hints = asked(settings, NONE)
    _, without = asked(off, NONE)
    assert json.dumps(without[0]) == json.dumps(with_hints[0][:3])


def test_an_episode_that_goes_on_has_the_hints_that_it_began_with(settings: Settings) -> None:
    store = mine(settings)
    memory, model = Memory.open(settings), ScriptedModel([FIND, ModelError("gone")])
    agent = Agent(model, make_registry(Find(), memory), memory, settings)
    with pytest.raises(ModelError):
        agent.ask(QUESTION)
    assert agent.last_trace is not None
    store.forget("s-1")
    memory, again = Memory.open(settings), ScriptedModel([NONE])
    resumed = Agent(again, make_registry(Find(), memory), memory, settings)
    resumed.resume(agent.last_trace)
    assert json.dumps(again.seen[0]) == json.dumps(model.seen[1])


def test_hints_are_counted_by_how_the_episode_ends(settings: Settings) -> None:
    store = mine(settings)
    asked(settings, NONE)  # an empty answer may be right
    assert (store.show("s-1").wins, store.show("s-1").losses) == (0, 0)
    assert store.show("s-1").last_used
    asked(settings, SOME)  # photos without a check
    asked(settings, FIND, FIND, *["no call"] * 13)  # gave up, and once more
    assert (store.show("s-1").wins, store.show("s-1").losses) == (0, 2)


@pytest.fixture(scope="module")
def library(small_library: Callable[[int], Path]) -> Path:
    return small_library(3)


def test_the_rules_answer_alike_with_and_without(
    library: Path, shared_cache: Path, tmp_path: Path
) -> None:
    def answers(**given: Any) -> Any:
        settings = Settings(
            library=library, cache=shared_cache, encoder="null", backbone="planner", **given
        )
        with PhotoSearch(settings) as search:
            return [search.ask(text) for text in ("everything", "photos with red or blue")]

    on = answers(memory_folder=tmp_path / "mine")
    off = answers(memory=False)
    assert on[0].photos
    for one, other in zip(on, off, strict=True):
        assert [photo.photo.uid for photo in one.photos] == [p.photo.uid for p in other.photos]
        assert one.reason == other.reason
        assert [step.call for step in one.steps] == [step.call for step in other.steps]

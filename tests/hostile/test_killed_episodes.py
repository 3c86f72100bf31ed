"""SIGKILL at any moment of an episode: it goes on from its last saved step as if never killed."""

from __future__ import annotations

import json
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from killing import Count, in_child
from twins import TODAY, Twin, copy_of
from wanderer import Wanderer

from photocraft_local.agent.loop import Agent
from photocraft_local.agent.trajectory import load
from photocraft_local.app.episodes import library_card, tool_context
from photocraft_local.app.memories import memory_of
from photocraft_local.memory.skills import Skill, SkillStore
from photocraft_local.memory.store import MemoryStore
from photocraft_local.records import Answer
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.standard import standard_tools

KILLS = 24  # of each kind of episode
QUESTION = "the photos of late July 2021"
_OWN = ("episode_id", "started", "seconds", "status")  # of one run, not of what it did


@dataclass
class Run:
    """One library of its own, and what an episode over it came to."""

    twin: Twin
    stumbles: bool = False
    answer: Answer | None = None
    prompts: tuple[str, ...] = ()

    @property
    def traces(self) -> list[Path]:
        return sorted((self.twin.settings.library / "traces").glob("*.json"))

    def go(self, count: Count | None = None, resume: Path | None = None) -> None:
        model = Wanderer(stumbles=self.stumbles)
        with self.twin.open() as search:
            parts = search._parts
            memory = memory_of(parts)
            agent = Agent(
                model,
                Registry(standard_tools(), tool_context(parts, memory, TODAY, ())),
                memory,
                parts.settings,
                today=TODAY,
                library_card=library_card(parts),
                generation=parts.library().generation(),
                on_step=count.one_more_saved if count else None,
            )
            self.answer = agent.resume(resume) if resume else agent.ask(QUESTION)
        self.prompts = tuple(model.prompts)

    def told(self) -> dict[str, Any]:
        """The trace as it is in the end, without what is another one each time."""
        (trace,) = self.traces
        data = json.loads(trace.read_text("utf-8"))
        assert data["status"] == "answered"
        del data["config"]
        return {key: value for key, value in data.items() if key not in _OWN}

    def remembered(self) -> tuple[int, list[tuple[str, int]]]:
        """How many episodes, and each learned skill with its number of sources."""
        skills = SkillStore.of(self.twin.settings).list()
        learned = [(one.when, len(one.episodes)) for one in skills if one.origin == "learned"]
        return len(MemoryStore(self.twin.settings.library).list()), learned


def run_in(folder: Path, twin: Twin, *, stumbles: bool = False) -> Run:
    run = Run(copy_of(twin, folder), stumbles)
    skill = Skill(skill_id="s-1", when="[thing] [time]", advice="Look at July.", origin="written")
    SkillStore.of(run.twin.settings).add(skill)
    return run


@pytest.fixture(scope="module", params=[False, True], ids=["one attempt", "two attempts"])
def uncut(
    request: pytest.FixtureRequest, clean: Twin, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    run = run_in(tmp_path_factory.mktemp("uncut"), clean, stumbles=request.param)
    run.go()
    return run


def test_the_uncut_episode_has_all_that_can_be_cut(uncut: Run) -> None:
    trace = load(uncut.traces[0])
    assert uncut.answer is not None
    assert uncut.answer.uids
    assert trace.hints
    assert {step.call.name for step in trace.all_steps} > {"plan", "filter_photos", "list_events"}
    if uncut.stumbles:
        (failed,) = trace.attempts
        assert failed.post_mortem is not None
        assert failed.post_mortem.words
        assert failed.limit == "replies"
        assert failed.compactions
    else:
        assert len(trace.steps) >= 20
        assert [one["reason"] for one in trace.rejected].count("malformed call") == 2
        assert len(trace.compactions) == 3
        assert len({made.why.partition(":")[0] for made in trace.compactions}) > 1


def test_it_goes_on_wherever_it_is_killed(clean: Twin, uncut: Run, tmp_path: Path) -> None:
    def fresh(name: str) -> Run:
        return run_in(tmp_path / name, clean, stumbles=uncut.stumbles)

    whole, _ = in_child(fresh("whole").go, 0)
    assert whole.moments > 150
    killed = 0
    for number in range(KILLS):
        at = 1 + number * (whole.moments - 1) // (KILLS - 1)
        run = fresh(str(number))
        count, ended = in_child(run.go, at)
        killed += ended == signal.SIGKILL
        goes_on(run, uncut, count, at)
        shutil.rmtree(tmp_path / str(number))
    assert killed == KILLS


def goes_on(run: Run, uncut: Run, count: Count, at: int) -> None:
    """From the last saved step: the same prompts, byte for byte, the same answer, the same trace in
    the end; and the question is remembered once at most."""
    saved = load(run.traces[0]) if run.traces else None
    if saved is None:  # killed before the question was on disk
        assert count.saved == 0
        run.go()
    else:
        assert len(saved.all_steps) >= count.saved
        steps = [str(step.call) for step in load(uncut.traces[0]).all_steps]
        assert [str(step.call) for step in saved.all_steps] == steps[: len(saved.all_steps)]
        run.go(resume=run.traces[0])
    num = len(run.prompts)
    assert run.prompts == uncut.prompts[len(uncut.prompts) - num :], (at, num)
    assert run.answer == uncut.answer
    assert run.told() == uncut.told()
    episodes, skills = run.remembered()
    assert episodes <= 1
    assert all(sources <= 1 for _, sources in skills)

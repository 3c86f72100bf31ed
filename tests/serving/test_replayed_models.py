"""Episodes of a model replayed on the library as it is: attempts, plans, forced answers, looks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from played_brain import GIVES_UP, call, installed

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import MAX_REFUSED

REFUSED = ["no call"] * MAX_REFUSED


def plan(*goals: str) -> str:
    return call("plan", steps=[{"goal": goal} for goal in goals], target="photos")


@pytest.fixture
def asked(
    small_library: Callable[[int], Path], shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """asked(make) → the search and the trace of a question to ``make(uids)``'s replies."""
    settings = Settings(
        library=small_library(9), cache=shared_cache, encoder="null",
        backbone_url="unix:/none", memory=False,
    )  # fmt: skip

    def run(make: Callable[[list[str]], list[str]]) -> tuple[PhotoSearch, trajectory.Trajectory]:
        search = PhotoSearch(settings)
        installed(monkeypatch, *make([photo.uid for photo in search.list()]))
        answer = search.ask("a boat on the lake in summer")
        assert answer.trajectory
        return search, trajectory.load(answer.trajectory)

    return run


def test_each_attempt_has_its_own_plan_and_its_own_last_turn(asked: Any) -> None:
    def replies(uids: list[str]) -> list[str]:
        wide = [{"constraint": "wide", "where": "width > 0"}]
        first = [plan("the lake", "the boat"), call("filter_photos", where="width > 0")]
        second = [plan("the boat"), call("plan", mark={"step": 1, "status": "done"})]
        in_summer = call("submit_answer", photos=uids[:2], evidence=wide)  # the season is left out
        return [
            *first, *REFUSED, call("submit_answer", **GIVES_UP), *second, *REFUSED, in_summer,
        ]  # fmt: skip

    search, record = asked(replies)
    assert [len(one.steps) for one in (*record.attempts, record)] == [3, 3]
    assert record.answer
    assert len(record.answer.uids) == 2  # in a turn that is not the last it would be asked back
    told = search.traces.replay(record.episode_id)
    assert [one.outcome for one in told.steps] == ["same"] * 6


def test_how_pictures_were_laid_out_for_the_model_is_no_difference(asked: Any) -> None:
    def replies(uids: list[str]) -> list[str]:
        box = {"x": 10, "y": 20, "width": 90, "height": 80}
        return [
            call("view_photos", photos=uids[:2]),
            call("view_photos", photos=uids),
            call("view_photos", photos=uids[:7], layout="sheet"),
            call("fetch_image", uid=uids[0]),
            call("zoom_in", uid=uids[0], **box),
            call("submit_answer", **GIVES_UP),
        ]

    search, record = asked(replies)
    told = search.traces.replay(record.episode_id)
    assert [one.outcome for one in told.steps] == ["same"] * 6
    for step in record.steps[:2]:
        step.observation.data["photos"][0] = "another"
    told = search.traces.replay(str(record.save(search.settings.library.parent)))
    assert [one.outcome for one in told.steps[:3]] == ["differs", "differs", "same"]

"""The lines beside a trace while its episode runs: what a cut at any byte leaves of them."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from loop_lines import FIND, SUBMIT, finds, saved

from photocraft_local.agent import journal, trajectory
from photocraft_local.agent.attempts import Attempt, LastTurn
from photocraft_local.agent.trajectory import Kept, Trajectory
from photocraft_local.errors import StorageFull
from photocraft_local.memory.memory import Memory
from photocraft_local.memory.shortening import Cut
from photocraft_local.records import Observation, Step, ToolCall
from photocraft_local.serving.scripted import ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.registry import Registry


def step(number: int) -> Step:
    call = ToolCall("find", {"text": f"ein Hund, 犬 {number}\n\ud83d"})
    return Step(number, call, Observation("find", {"photos": ["aaaaa"] * 3}, brief="3 photos"))


def running(folder: Path, num: int = 4) -> tuple[Trajectory, list[dict[str, Any]]]:
    """An episode that was killed after ``num`` saves, and its JSON after each of them."""
    record = Trajectory(question="q", today=date(2024, 5, 6), backbone="b")
    kept, states = Kept(record, folder), []
    for number in range(1, num + 1):
        record.steps.append(step(number))
        if number == 2:
            record.cuts.append(Cut(2, 3, 0))
        if number == 3:
            record.last_turn = LastTurn("turns", "all used", "answer now", 3, 0)
        kept.save()
        states.append(json.loads(json.dumps(record.to_json())))
    return record, states


def test_a_step_adds_a_line_and_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    record, states = running(tmp_path, 1)
    path = record.path(tmp_path)
    before = path.read_bytes()
    assert not journal.path_of(path).exists()
    record, states = running(tmp_path)
    path = record.path(tmp_path)
    lines = journal.path_of(path).read_bytes().splitlines()
    assert json.loads(lines[0]) == {"attempt": 1}
    assert len(lines) == 4  # the first step is in the trace itself
    assert len(path.read_bytes()) == len(before)
    assert stat.S_IMODE(journal.path_of(path).stat().st_mode) == 0o600
    assert trajectory.load(path).to_json() == states[-1]


def test_a_cut_at_any_byte_leaves_the_saves_before_it(tmp_path: Path) -> None:
    record, states = running(tmp_path)
    path = record.path(tmp_path)
    raw = journal.path_of(path).read_bytes()
    ends = [at + 1 for at, byte in enumerate(raw) if byte == ord("\n")][1:]
    for length in range(len(raw) + 1):
        journal.path_of(path).write_bytes(raw[:length])
        whole = sum(end <= length for end in ends)
        assert trajectory.load(path).to_json() == states[whole]


def test_a_damaged_line_ends_it_and_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    record, states = running(tmp_path)
    path = record.path(tmp_path)
    lines = journal.path_of(path).read_bytes().split(b"\n")
    for damage in (b"", b"{}", b"[1]", b"\x00" * 9, lines[2][:-1], lines[3]):
        journal.path_of(path).write_bytes(b"\n".join([*lines[:2], damage, *lines[3:]]))
        assert trajectory.load(path).to_json() == states[1]
    assert caplog.text.count("is damaged in line 3") == 6


def test_a_crash_while_all_is_written_whole_doubles_nothing(tmp_path: Path) -> None:
    record, states = running(tmp_path)
    path = record.path(tmp_path)
    lines = journal.path_of(path).read_bytes()
    record.save(tmp_path)
    assert not journal.path_of(path).exists()
    journal.path_of(path).write_bytes(lines)  # killed before it was removed
    assert trajectory.load(path).to_json() == states[-1]


def test_lines_of_an_attempt_that_is_over_are_not_taken_for_the_next_one(tmp_path: Path) -> None:
    record, _ = running(tmp_path)
    path = record.path(tmp_path)
    lines = journal.path_of(path).read_bytes()
    record.begin_anew(Attempt(steps=record.steps))
    record.save(tmp_path)
    journal.path_of(path).write_bytes(lines)
    assert trajectory.load(path).steps == []
    assert len(trajectory.load(path).all_steps) == 4


def test_after_a_failed_line_the_next_one_stands_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, _ = running(tmp_path)
    kept = journal.Journal(record.path(tmp_path), 1)
    kept.append({"steps": [1, [{"n": 1}]]}, {})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fdatasync", full)
        with pytest.raises(StorageFull):
            kept.append({"steps": [2, [{"n": 2}]]}, {})
    kept.append({"steps": [2, [{"n": 3}]]}, {"seconds": 2})
    data = journal.merged({"steps": [0], "attempts": []}, record.path(tmp_path))
    assert data == {"steps": [0, {"n": 1}, {"n": 3}], "attempts": [], "seconds": 2}


def test_an_episode_cut_at_each_line_resumes_with_the_prompt_of_then(
    play: Callable[..., Any],
    new_registry: Callable[[], Registry],
    memory: Memory,
    settings: Settings,
) -> None:
    saving = ToolCall("find", {"text": "dog", "save_as": "dogs"})
    agent, model = play(FIND, "words", saving, *finds(2), SUBMIT)
    files: list[tuple[bytes, bytes]] = []

    def copied(_: Step) -> None:
        beside = journal.path_of(agent.last_trace)
        files.append(
            (agent.last_trace.read_bytes(), beside.read_bytes() if beside.exists() else b"")
        )

    agent.on_step = copied
    agent.ask("where is the dog?")
    assert not journal.path_of(agent.last_trace).exists()
    assert [state[0] for state in files[1:-1]] == [files[0][0]] * 3
    seen = [prompt for at, prompt in enumerate(model.seen) if at != 2]  # without the correction
    for number, (whole, beside) in enumerate(files[:-1], start=1):
        agent.last_trace.write_bytes(whole)
        journal.path_of(agent.last_trace).write_bytes(beside + b'{"cut": ')
        rest = ScriptedModel([SUBMIT])
        again = type(agent)(rest, new_registry(), memory, settings)
        assert again.resume(agent.last_trace).uids == ("aaaaa",)
        assert rest.seen[0] == seen[number]
        assert [one.index for one in saved(again).steps] == list(range(1, number + 2))


def test_forgetting_takes_the_lines_along(tmp_path: Path, settings: Settings) -> None:
    memory = Memory.open(settings)
    assert memory.store is not None
    record, _ = running(settings.library / "traces")
    record.steps[0] = step(1)
    other, _ = running(settings.library / "traces", 1)
    assert memory.store.traces()[0] == 2
    assert memory.store.naming("aaaaa") == {record.episode_id, other.episode_id}
    memory.store.forget_photo("aaaaa")
    assert list((settings.library / "traces").iterdir()) == []

"""Traces on disk: round trip, atomic replacement, privacy, damaged and newer files."""

from __future__ import annotations

import contextlib
import json
import stat
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from photocraft_local.agent import trajectory
from photocraft_local.agent.attempts import Attempt, LastTurn, PostMortem
from photocraft_local.agent.trajectory import Trajectory, json_schema, load, new_episode_id
from photocraft_local.app.traces import last_cut, newest
from photocraft_local.errors import AgentError, LibraryError
from photocraft_local.memory.compaction import Compaction, Prose
from photocraft_local.memory.shortening import Cut
from photocraft_local.records import Answer, Evidence, Observation, Step, ToolCall, Usage


def full() -> Trajectory:
    seen = Observation("find", {"count": 1}, images=(("aaaaa", b"\x89PNG"),), brief="1 photo")
    evidence = Evidence("in June", "month == 6", "2021-06-01", True, 2.5, 1.0, ("bbbbb",))
    return Trajectory(
        question='emoji 🐕, arabic كلب, "quotes", half \ud83d a pair',
        today=date(2024, 5, 6),
        backbone="planner",
        config={"max_turns": 3},
        card="2 photos",
        hints=[{"text": "look first", "source": "e1"}],
        steps=[Step(1, ToolCall("find", {"text": "x"}, "c1"), seen, "why", Usage(3, 2, 1))],
        rejected=[
            {
                "before_step": 1,
                "reason": "no call",
                "thought": "I see.",
                "call": None,
                "usage": asdict(Usage(9, 8, 1)),
                "correction": "make one call",
            }
        ],
        compactions=[Compaction(after_step=1, covered=1, why="full", prose=Prose("d", "", "", ""))],
        cuts=[Cut(1, 3, 0)],
        last_turn=LastTurn("turns", "all 3 turns are used", "answer now", 1, 1),
        attempts=[
            Attempt(
                steps=[Step(1, ToolCall("find", {"text": "y"}), seen)],
                cuts=[Cut(1, 3, 0)],
                last_turn=LastTurn("replies", "5 in a row", "answer now", 1, 0),
                post_mortem=PostMortem(
                    "no usable answer", "earlier: …", "cut", Usage(5, 4, 3), {"failed": "x"}, "so"
                ),
            )
        ],
        seconds=1.5,
        status="answered",
        answer=Answer(("aaaaa",), {"aaaaa": (evidence,)}, "one", "", ("June",), ("foo",)),
    )


def test_a_trace_comes_back_as_it_was_but_for_pixels(tmp_path: Path) -> None:
    record = full()
    back = load(record.save(tmp_path))
    assert back.answer == record.answer
    assert back.today == record.today
    assert back.steps[0].call == record.steps[0].call
    assert back.steps[0].usage == record.steps[0].usage
    assert back.steps[0].observation.images == (("aaaaa", b""),)
    assert "🐕, arabic كلب" in back.question
    assert back.rejected == record.rejected
    assert back.compactions == record.compactions
    assert back.cuts == record.cuts
    assert (back.card, back.hints) == (record.card, record.hints)
    assert (back.last_turn, back.seconds) == (record.last_turn, record.seconds)
    assert back.attempts[0].post_mortem == record.attempts[0].post_mortem
    assert back.to_json() == record.to_json()
    assert [step.call.arguments["text"] for step in back.all_steps] == ["y", "x"]
    assert back.total_usage() == Usage(3 + 9 + 5, 2 + 8 + 4, 1 + 1 + 3)


def test_the_file_states_schema_version_and_how_it_was_made(tmp_path: Path) -> None:
    data = json.loads(full().save(tmp_path).read_text("utf-8"))
    assert data["schema"] == trajectory.SCHEMA
    assert data["version"] == trajectory.VERSION
    assert data["config"] == {"max_turns": 3}
    assert {"package_version", "backbone", "library_generation", "question"} <= set(data)


def test_the_published_schema_holds_for_it_and_for_nothing_less() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    valid = jsonschema.Draft202012Validator(json_schema())
    data = json.loads(json.dumps(full().to_json()))
    valid.validate(data)
    assert json_schema()["properties"]["version"]["const"] == trajectory.VERSION
    for key in data:
        assert not valid.is_valid({name: value for name, value in data.items() if name != key})
    assert not valid.is_valid({**data, "more": 1})


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_older_traces_are_read_and_written_in_the_form_of_now(tmp_path: Path, version: int) -> None:
    data = full().to_json() | {"version": version}
    later = [["attempts", "last_turn", "seconds"], ["card", "hints"]]
    later += [["compactions", "cuts"], ["plan", "pictures"]]
    for keys in later[: 5 - version]:
        for key in keys:
            del data[key]
    for key in ("correction",) if version == 4 else ("thought", "usage", "correction"):
        del data["rejected"][0][key]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(data), "utf-8")
    record = load(path)
    assert (record.hints is None) == (version < 4)
    assert (record.attempts, record.last_turn, record.seconds) == ([], None, 0)
    jsonschema.validate(json.loads(json.dumps(record.to_json())), json_schema())


def test_traces_are_private_and_leave_no_scraps(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    record = full()
    for _ in range(3):
        path = record.save(folder)
    assert [item.name for item in folder.iterdir()] == [path.name]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_failed_save_keeps_the_older_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = full()
    path = record.save(tmp_path)
    before = path.read_bytes()
    record.status = "failed"

    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(LibraryError, match="no space left"):
        record.save(tmp_path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"schema": "other"}', "null"])
def test_a_damaged_trace_is_an_error_that_names_it(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, "utf-8")
    with pytest.raises(AgentError, match=r"x\.json cannot be read"):
        load(path)


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value inside."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        yield (*way, key)
        if isinstance(part, dict | list):
            yield from places(part, (*way, key))


@pytest.mark.parametrize("other", ["null", "[]", "{}", "7", '"x"', "[7]", "NaN", "[" * 50_000])
def test_a_value_of_another_kind_anywhere_is_read_or_named(tmp_path: Path, other: str) -> None:
    path = tmp_path / "x.json"
    whole = json.dumps(full().to_json())
    for way in places(json.loads(whole)):
        data = part = json.loads(whole)
        for key in way[:-1]:
            part = part[key]
        part[way[-1]] = "HERE"
        path.write_text(json.dumps(data).replace('"HERE"', other), "utf-8")
        with contextlib.suppress(AgentError):
            load(path)


def test_every_cut_of_a_trace_is_refused(tmp_path: Path) -> None:
    whole = full().save(tmp_path).read_bytes().rstrip()
    path = tmp_path / "cut.json"
    for length in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(AgentError):
            load(path)


def test_a_newer_trace_is_refused_with_the_way_out(tmp_path: Path) -> None:
    data = full().to_json() | {"version": trajectory.VERSION + 1}
    path = tmp_path / "new.json"
    path.write_text(json.dumps(data), "utf-8")
    with pytest.raises(AgentError, match="newer version") as caught:
        load(path)
    assert "upgrade" in caught.value.hint


def test_a_trace_that_is_not_there_is_an_agent_error(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="there is no trace"):
        load(tmp_path / "none.json")


def test_episode_ids_sort_by_time_and_differ_within_a_second() -> None:
    early = new_episode_id(datetime(2024, 1, 1, tzinfo=UTC))
    late = new_episode_id(datetime(2024, 1, 2, tzinfo=UTC))
    assert early < late
    assert len({new_episode_id() for _ in range(50)}) == 50
    second = datetime(2024, 1, 1, 23, 59, 59, tzinfo=UTC)
    within = [new_episode_id(second + timedelta(microseconds=at)) for at in range(0, 10**6, 500)]
    assert within == sorted(within)
    assert within[-1] < new_episode_id(second + timedelta(seconds=1))


def test_of_two_questions_in_one_second_the_newer_is_the_latest(tmp_path: Path) -> None:
    second = datetime(2024, 1, 1, tzinfo=UTC)
    ids = [new_episode_id(second + timedelta(milliseconds=at)) for at in range(9)]
    for status in ("answered", "interrupted"):
        for episode_id in reversed(ids):
            record = replace(full(), episode_id=episode_id, status=status)
            for number in (1, 2):  # the runs of a question come before it
                replace(record, episode_id=f"{episode_id}-{number}").save(tmp_path)
            record.save(tmp_path)
    assert newest(tmp_path).stem == last_cut(tmp_path).stem == ids[-1]


@pytest.mark.parametrize("group", ["20261130-190757-5f4ebd", new_episode_id()])
def test_the_question_of_a_run_is_known_by_its_id_old_or_new(group: str) -> None:
    assert [trajectory.group_of(name) for name in (f"{group}-12", group)] == [group, ""]

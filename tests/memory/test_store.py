"""Finished episodes on disk: list, recall, forget, export; damage never stops a search."""

from __future__ import annotations

import json
import logging
import multiprocessing
from pathlib import Path

import pytest

from photocraft_local.errors import UsageError
from photocraft_local.memory.episode import EpisodeRecord, PlanStep
from photocraft_local.memory.memory import Memory
from photocraft_local.memory.recall import likeness, words_of
from photocraft_local.memory.store import MemoryStore
from photocraft_local.settings import Settings


def episode(number: int, question: str, *uids: str, accepted: bool = True) -> EpisodeRecord:
    return EpisodeRecord(
        episode_id=f"e{number}",
        started="2024-01-01T00:00:00",
        question=question,
        backbone="planner",
        tools=("filter_photos", "submit_answer"),
        uids=uids,
        accepted=accepted and bool(uids),
    )


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    store = MemoryStore(tmp_path)
    store.add(episode(1, "the brown dog at the lake", "aaaaa", "bbbbb"))
    store.add(episode(2, "cats in June 2021", "ccccc"))
    return store


def test_episodes_are_listed_shown_and_survive_reopening(
    store: MemoryStore, tmp_path: Path
) -> None:
    again = MemoryStore(tmp_path)
    assert [record.episode_id for record in again.list()] == ["e1", "e2"]
    assert again.show("e2").question == "cats in June 2021"


def test_an_unknown_episode_is_a_usage_error(store: MemoryStore) -> None:
    for action in (store.show, store.forget):
        with pytest.raises(UsageError, match="no episode 'e9'"):
            action("e9")


def test_an_empty_memory_is_empty(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "none")
    assert list(store.list()) == []
    assert list(store.recall("dog")) == []
    assert store.forget_all() == 0


def test_recall_ranks_by_shared_words_and_may_be_empty(store: MemoryStore) -> None:
    store.add(episode(3, "the dog at the lake in winter"))
    assert [record.episode_id for record in store.recall("dog lake brown")] == ["e1", "e3"]
    assert list(store.recall("airplane")) == []
    assert list(store.recall("the of in")) == []


def test_forgetting_an_episode_removes_its_trace(store: MemoryStore, tmp_path: Path) -> None:
    trace = tmp_path / "traces" / "e1.json"
    trace.parent.mkdir()
    trace.write_text("{}", "utf-8")
    store.forget("e1")
    assert [record.episode_id for record in store.list()] == ["e2"]
    assert not trace.exists()


def test_forgetting_a_photo_removes_all_that_names_it(store: MemoryStore, tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    named = {
        "in.json": '{"uid": "aaaaa"}',
        "crop.json": '["aaaaa.c1"]',
        "longer.json": '["aaaaab"]',
        "not.json": '["ccccc"]',
    }
    for name, text in named.items():
        (traces / name).write_text(text, "utf-8")
    assert store.forget_photo("aaaaa") == 3
    assert [record.episode_id for record in store.list()] == ["e2"]
    assert sorted(path.name for path in traces.iterdir()) == ["longer.json", "not.json"]
    left = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b'"aaaaa"' not in left
    assert store.forget_photo("aaaaa") == 0


def test_forget_all_leaves_nothing(store: MemoryStore) -> None:
    assert store.forget_all() == 2
    assert list(store.list()) == []


def test_a_torn_line_costs_one_episode_and_says_so(
    store: MemoryStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "memory" / "episodes.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])  # as a crash in the last write leaves it
    with caplog.at_level(logging.WARNING):
        assert [record.episode_id for record in store.list()] == ["e1"]
    assert "line 2 is damaged" in caplog.text
    store.add(episode(3, "after the crash"))
    assert [record.episode_id for record in store.list()] == ["e1", "e3"]


@pytest.mark.parametrize("junk", [b"\xff\xfe\x00garbage\n", b"null\n", b"[]\n", b'{"version":1}\n'])
def test_junk_in_the_file_never_stops_it(
    store: MemoryStore, tmp_path: Path, junk: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "memory" / "episodes.jsonl"
    file.write_bytes(junk + file.read_bytes())
    assert len(store.list()) == 2
    assert "damaged" in caplog.text


def test_lines_of_older_versions_are_read(store: MemoryStore, tmp_path: Path) -> None:
    data = episode(3, "a walk", "ddddd").to_json()
    del data["reflections"]
    data["plan"] = [{"goal": "the walk", "status": "ruled out"}]
    with (tmp_path / "memory" / "episodes.jsonl").open("a", encoding="ascii") as file:
        file.write(json.dumps({"version": 1, **data}) + "\n")
    record = store.show("e3")
    assert record.plan == (PlanStep("the walk", "ruled out"),)
    assert record.reflections == ()
    store.replace(record)
    assert store.show("e3") == record


def test_lines_of_a_newer_version_are_left_alone(
    store: MemoryStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "memory" / "episodes.jsonl"
    newer = json.dumps({"version": 99, "what": "ever"})
    file.write_text(file.read_text("utf-8") + newer + "\n", "utf-8")
    assert len(store.list()) == 2
    assert "newer version" in caplog.text
    store.forget("e1")
    assert newer in file.read_text("utf-8")


def test_a_memory_that_has_grown_large_lets_its_older_half_go(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("photocraft_local.memory.store.MAX_BYTES", 2500)
    for number in range(3, 40):
        store.add(episode(number, "question"))
    numbers = [int(record.episode_id[1:]) for record in store.list()]
    assert numbers == list(range(numbers[0], 40))
    assert 1 < len(numbers) < 20


def test_a_memory_that_cannot_be_read_is_empty_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "memory" / "episodes.jsonl").mkdir(parents=True)
    assert list(MemoryStore(tmp_path).list()) == []
    assert "cannot be read" in caplog.text


def test_export_writes_one_readable_file_an_episode(store: MemoryStore, tmp_path: Path) -> None:
    files = store.export(tmp_path / "out")
    assert [path.name for path in files] == ["e1.md", "e2.md"]
    text = files[0].read_text("utf-8")
    assert "    the brown dog at the lake" in text
    assert "    - aaaaa\n    - bbbbb" in text


def _add_many(folder: Path, first: int) -> None:
    store = MemoryStore(folder)
    for number in range(first, first + 25):
        store.add(episode(number, "question"))


def test_two_processes_add_at_once_without_loss(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add_many, args=(tmp_path, n * 100)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert len({record.episode_id for record in MemoryStore(tmp_path).list()}) == 50


def test_switched_off_it_keeps_and_recalls_nothing(tmp_path: Path) -> None:
    memory = Memory.open(Settings(library=tmp_path, memory=False))
    assert memory.store is None
    assert memory.recall("dog") == []
    assert memory.hints.for_question("dog") == ()
    assert list(tmp_path.iterdir()) == []


def test_likeness_is_of_words_that_carry_meaning() -> None:
    assert words_of("Show me the photos of a Dog") == {"dog"}
    assert likeness("dog beach", "dog beach") == 1.0
    assert likeness("dog beach", "dog lake") == pytest.approx(1 / 3)
    assert likeness("", "dog") == 0.0

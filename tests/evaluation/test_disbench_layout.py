"""DISBench's files are read as published; what is bad in them is named, counted and skipped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import made_disbench
import pytest

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.dataset import given_metadata
from photocraft_local.evaluation.disbench.layout import load
from photocraft_local.evaluation.problems import Problems

USER = made_disbench.USERS[0]


@pytest.fixture
def folder(shared: Path, tmp_path: Path) -> Path:
    return made_disbench.made(shared, tmp_path / "disbench", num_users=2)


def test_the_published_layout(folder: Path) -> None:
    dataset = load(folder)
    assert len(dataset.questions) == 10
    assert {question.kind for question in dataset.questions} == {"intra-event", "inter-event"}
    assert not dataset.problems.counts
    album = dataset.albums[USER]
    facts = {Path(os.fsdecode(path)).stem: given for path, given in album.given.items()}
    first, no_time, no_place = facts["7000000000"], facts["7000000003"], facts["7000000005"]
    assert first.taken is not None
    assert first.taken.local == datetime(2012, 5, 4, 9, 30)
    assert first.address == "Rua Augusta, Santa Maria Maior, Lisbon, Portugal"
    assert no_time.taken is None
    assert no_time.location is not None
    assert no_place.location is None
    assert no_place.address.startswith("Rue de Rivoli")
    assert "7000000010" not in facts  # a photo without a line
    assert facts["7000000011"].taken is None  # a line whose metadata are null
    assert len(album.pictures) == 12


def test_the_splits(folder: Path) -> None:
    intra, inter = load(folder, split="intra"), load(folder, split="inter")
    assert {one.kind for one in intra.questions} == {"intra-event"}
    assert {one.kind for one in inter.questions} == {"inter-event"}
    assert len(intra.questions) + len(inter.questions) == 10
    assert intra.fingerprint == load(folder).fingerprint


def query(folder: Path, **changes: Any) -> None:
    first = json.loads((folder / "queries.jsonl").read_text().splitlines()[0])
    with (folder / "queries.jsonl").open("a") as file:
        file.write(json.dumps({**first, "query_id": "new", **changes}) + "\n")


def line(folder: Path, raw: bytes) -> None:
    append(folder / "metadata" / f"{USER}.jsonl", raw + b"\n")


def append(path: Path, raw: bytes) -> None:
    with path.open("ab") as file:
        file.write(raw)


def photo_line(photo_id: str, **metadata: Any) -> bytes:
    return json.dumps({"photo_id": photo_id, "metadata": metadata}).encode()


FAULTS: dict[str, tuple[Callable[[Path], object], str, int]] = {
    "missing image": (lambda f: line(f, photo_line("999")), "missing-image", 10),
    "gold without image": (
        lambda f: (f / "images" / USER / "7000000000.jpg").unlink(), "unknown-answer", 8),
    "duplicate query": (lambda f: query(f, query_id="0-may"), "duplicate-id", 10),
    "duplicate photo": (lambda f: line(f, photo_line("7000000001")), "duplicate-id", 10),
    "answer of no photo": (lambda f: query(f, answer=["nowhere"]), "unknown-answer", 10),
    "latin-1 query": (
        lambda f: append(f / "queries.jsonl", b'{"query": "caf\xe9"}\n'),
        "wrong-encoding", 10),
    "latin-1 metadata": (lambda f: line(f, b'{"photo_id": "caf\xe9"}'), "wrong-encoding", 10),
    "empty metadata": (
        lambda f: (f / "metadata" / f"{USER}.jsonl").write_bytes(b""), "empty-file", 10),
    "empty image": (
        lambda f: (f / "images" / USER / "7000000009.jpg").write_bytes(b""), "empty-file", 10),
    "no metadata file": (
        lambda f: (f / "metadata" / f"{USER}.jsonl").unlink(), "missing-file", 10),
    "no JSON": (lambda f: line(f, b"{'photo_id': 1}"), "bad-line", 10),
    "no object": (lambda f: line(f, b"[1]"), "bad-line", 10),
    "no photo id": (lambda f: line(f, b'{"metadata": {}}'), "bad-line", 10),
    "metadata of a kind": (lambda f: line(f, b'{"photo_id": "1", "metadata": 3}'), "bad-line", 10),
    "unknown kind": (lambda f: query(f, event_type="else"), "bad-line", 10),
    "answer of a kind": (lambda f: query(f, answer="7000000001"), "bad-line", 10),
    "user in another folder": (lambda f: query(f, user_id="../elsewhere"), "bad-line", 10),
    "user without photos": (lambda f: query(f, user_id="nobody"), "missing-user", 10),
    "time of a kind": (
        lambda f: line(f, photo_line("7000000010", taken_time="yesterday")), "bad-value", 10),
    "position of no place": (
        lambda f: line(f, photo_line("7000000010", latitude=91, longitude=3)), "bad-value", 10),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_bad_is_named_and_the_rest_goes_on(folder: Path, name: str) -> None:
    spoil, kind, left = FAULTS[name]
    spoil(folder)
    dataset = load(folder)
    assert dataset.problems.counts[kind] >= 1
    assert any(problem.kind == kind and problem.where for problem in dataset.problems.named)
    assert len(dataset.questions) == left
    with pytest.raises(EvaluationError, match=r"bad data set: \S+: "):
        load(folder, strict=True)


def test_what_is_no_data_set(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no DISBench folder"):
        load(tmp_path)
    (folder / "queries.jsonl").write_bytes(b"")
    with pytest.raises(EvaluationError, match=r"no question that can be asked.*empty-file"):
        load(folder)


def test_a_byte_order_mark_is_no_fault(folder: Path) -> None:
    path = folder / "queries.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(load(folder, strict=True).questions) == 10


@pytest.mark.parametrize("value", [True, [], "x", float("nan"), float("inf"), {}])
def test_no_value_of_a_position_is_taken_for_another(value: Any) -> None:
    problems = Problems()
    given = given_metadata("u/1", {"latitude": value, "longitude": 3.0}, problems)
    assert given.location is None
    assert problems.counts["bad-value"] >= 1


def test_a_number_that_no_float_holds_is_named() -> None:
    problems = Problems()
    facts = {"latitude": 10**400, "longitude": 2.0, "time": "2021-06-01 10:00:00"}
    given = given_metadata("u/p", facts, problems)
    assert given.location is None
    assert given.taken is not None
    assert problems.counts == {"bad-value": 2}

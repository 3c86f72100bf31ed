"""What leaves the program for a person or for training: no text of a photo steers a terminal, ends
a line, or stands as a mark in an export."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attack_texts import ATTACKS, CONTROL, attack
from obedient import Obedient
from PIL import Image
from qwen_tokens import control_tokens
from twins import Twin, ask_model

from photocraft_local.cli.main import main
from photocraft_local.memory.markdown import from_markdown
from photocraft_local.memory.store import MemoryStore
from photocraft_local.serving.tool_calls import Form

NIKON = "the photos of 2021 that a Nikon took"
STEERING = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
Command = Callable[..., str]


@pytest.fixture
def command(
    hostile: Twin, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """The real command on the hostile library: its two streams, which steer nothing."""
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(hostile.settings.cache))
    monkeypatch.setenv("PHOTOCRAFT_ENCODER", "null")
    monkeypatch.setenv("PHOTOCRAFT_MEMORY_FOLDER", str(hostile.settings.memory_folder))

    def run(*words: str | Path) -> str:
        capsys.readouterr()
        main(["--library", str(hostile.settings.library), *map(str, words)])
        done = capsys.readouterr()
        for stream in (done.out, done.err):
            assert not {c for c in stream if unicodedata.category(c) in STEERING and c != "\n"}
            stream.encode("utf-8")
        return str(done.out)

    return run


def test_lists_and_searches_stay_one_line_a_photo(hostile: Twin, command: Command) -> None:
    with hostile.open() as search:
        num = len(list(search.list()))
    assert len(command("list").splitlines()) == num
    for line in command("list", "--json").splitlines():
        assert set(json.loads(line)) >= {"uid", "paths"}
    command("search", "red", "--top", "90")
    command("knowledge", "list")
    command("status")
    for number, name in enumerate(ATTACKS):
        said = attack(name, hostile.target).replace("\0", "")
        command("ask", said)
        others = (("search",), ("show",), ("memory", "show"), ("places", "add"))
        command(*others[number % len(others)], said)
    command("places", "list")


def test_each_photo_is_shown_safely(hostile: Twin, command: Command) -> None:
    with hostile.open() as search:
        uids = [photo.uid for photo in search.list()]
    for uid in uids:
        assert uid in command("show", uid)
        assert json.loads(command("show", uid, "--json"))["uid"] == uid


def test_answers_traces_and_sheets_are_safe(
    hostile: Twin, command: Command, tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.png"
    question = "photos taken with a Nikon"
    command("ask", question, "--explain", "--sheet", sheet)
    with Image.open(sheet) as drawn:
        drawn.load()
        assert min(drawn.size) > 100
    assert json.loads(command("ask", question, "--json").splitlines()[-1])
    command("ask", "which cameras did I use in 2021?")
    command("trace", "latest", "--sheet", tmp_path / "trace.png")
    command("trace")
    command("replay", "latest")
    for line in command("memory", "list", "--only", "episodes").splitlines():
        command("memory", "show", line.split()[0])


def test_exported_memories_come_back_the_same(hostile: Twin, tmp_path: Path) -> None:
    ask_model(hostile, Obedient(Form.JSON), NIKON)
    store = MemoryStore(hostile.settings.library)
    records = store.list()
    files = store.export(tmp_path)
    for record, file in zip(records, files, strict=True):
        assert from_markdown(file.read_text("utf-8"), file.name) == record


@pytest.fixture(scope="module")
def episodes(hostile: Twin, clean: Twin) -> list[tuple[Twin, str]]:
    """The same question to both."""
    return [
        (twin, ask_model(twin, Obedient(Form.JSON), NIKON, skills=False).trace.episode_id)
        for twin in (hostile, clean)
    ]


@pytest.mark.parametrize("form", ["chatml", "sharegpt", "jsonl"])
@pytest.mark.parametrize("redact", [False, True])
def test_an_export_holds_no_mark_of_a_photo(
    episodes: list[tuple[Twin, str]], form: Any, redact: bool
) -> None:
    pytest.importorskip("tokenizers", reason="tokens need the cpu or gpu extra")
    told = []
    for twin, episode_id in episodes:
        with twin.open() as search:
            rows = list(search.traces.export([episode_id], form, redact=redact))
        assert rows
        if form == "jsonl":
            continue
        pieces = [turn for row in rows for turn in row.get("messages") or row["conversations"]]
        told.append([marks_of(turn.get("content", turn.get("value"))) for turn in pieces])
        if form == "sharegpt":
            places = sum(turn["value"].count("<image>") for turn in pieces)
            assert places == sum(len(row["images"]) for row in rows)
            assert not [t for t in pieces if "<video>" in t["value"] or "<audio>" in t["value"]]
    if form != "jsonl":
        assert told[0] == told[1]


def marks_of(content: Any) -> list[str]:
    text = content if isinstance(content, str) else str([p.get("text") for p in content])
    return control_tokens(text) if any(mark in text for mark in CONTROL) else []

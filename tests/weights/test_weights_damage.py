"""Every kind of damage to a placed folder is named, with a list of hashes and without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from checkpoints import Run

from photocraft_local.app.weight_sums import SUMS_FILE


def damage_bit(folder: Path) -> None:
    path = folder / "model-00002-of-00002.safetensors"
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)


def cut_short(folder: Path) -> None:
    path = folder / "model-00002-of-00002.safetensors"
    path.write_bytes(path.read_bytes()[:-1])


def cut_in_the_header(folder: Path) -> None:
    path = folder / "model-00002-of-00002.safetensors"
    path.write_bytes(path.read_bytes()[:20])


def cut_in_the_length(folder: Path) -> None:
    (folder / "model-00002-of-00002.safetensors").write_bytes(b"\x07\0")


def no_header(folder: Path) -> None:
    (folder / "model-00002-of-00002.safetensors").write_bytes(b"<html>" * 1000)


def leave_a_pointer(folder: Path) -> None:
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 8064\n"
    (folder / "model-00002-of-00002.safetensors").write_text(text)


def odd_header(folder: Path) -> None:
    text = b'{"a": {"data_offsets": "none"}}'
    path = folder / "model-00002-of-00002.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text)


def grow(folder: Path) -> None:
    with (folder / "model-00002-of-00002.safetensors").open("ab") as file:
        file.write(b"\0" * 100)


def lose(folder: Path) -> None:
    (folder / "model-00002-of-00002.safetensors").unlink()


def lose_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def break_json(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": ')


def empty_index(folder: Path) -> None:
    (folder / "model.safetensors.index.json").write_text("[]")


SHARD = "model-00002-of-00002.safetensors"
SEEN_WITHOUT_HASHES = [
    (cut_short, SHARD, "truncated"),
    (cut_in_the_header, SHARD, "truncated"),
    (cut_in_the_length, SHARD, "truncated"),
    (no_header, SHARD, "damaged"),
    (leave_a_pointer, SHARD, "missing"),
    (odd_header, SHARD, "damaged"),
    (grow, SHARD, "damaged"),
    (lose, SHARD, "missing"),
    (lose_config, "config.json", "missing"),
    (break_json, "config.json", "damaged"),
    (empty_index, "model.safetensors.index.json", "damaged"),
]


@pytest.mark.parametrize(
    ("harm", "file", "kind"), [*SEEN_WITHOUT_HASHES, (damage_bit, SHARD, "damaged")]
)
def test_what_is_broken_is_named(
    run: Run, folder: Path, harm: Callable[[Path], None], file: str, kind: str
) -> None:
    run("weights", "manifest", folder)
    harm(folder)
    done = run("weights", "verify", folder)
    assert done.code == 1
    assert f"{kind.upper()}  {file}: " in done.out
    assert "NOT WHOLE" in done.out
    form = run("weights", "verify", folder, "--json").json()
    assert [(fault["file"], fault["kind"]) for fault in form["faults"]] == [(file, kind)]


@pytest.mark.parametrize(("harm", "file", "kind"), SEEN_WITHOUT_HASHES)
def test_a_broken_download_is_seen_without_a_list_and_gets_none(
    run: Run, folder: Path, harm: Callable[[Path], None], file: str, kind: str
) -> None:
    harm(folder)
    form = run("weights", "verify", folder, "--json").json()
    assert [(fault["file"], fault["kind"]) for fault in form["faults"]] == [(file, kind)]
    done = run("weights", "manifest", folder)
    assert done.code == 2
    assert f"{file} is {kind}" in done.err
    assert not (folder / SUMS_FILE).exists()


def test_a_file_that_no_list_names_is_named_if_an_engine_would_read_it(
    run: Run, folder: Path
) -> None:
    run("weights", "manifest", folder)
    (folder / "notes").write_text("mine")
    assert run("weights", "verify", folder).code == 0
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    done = run("weights", "verify", folder)
    assert done.code == 1
    assert "UNLISTED  chat_template.jinja" in done.out


@pytest.mark.parametrize(
    "line",
    [
        f"{'0' * 64}  ../../etc/passwd",
        f"{'0' * 64}  /etc/passwd",
        f"{'0' * 63}  config.json",
        "not a list",
    ],
)
def test_a_list_that_is_none_is_refused(run: Run, folder: Path, line: str) -> None:
    (folder / SUMS_FILE).write_text(line + "\n")
    done = run("weights", "verify", folder)
    assert done.code == 2
    assert "SHA256SUMS, line 1" in done.err
    assert "hint: " in done.err


def test_an_empty_list_proves_nothing(run: Run, folder: Path) -> None:
    (folder / SUMS_FILE).write_text("")
    assert run("weights", "verify", folder).code == 2

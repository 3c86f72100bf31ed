"""``photocraft weights``: rows of weights.md, hashes of a placed folder, every kind of damage."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from photocraft_local.app import weights
from photocraft_local.app.weight_sums import SUMS_FILE, UNFINISHED_FILE
from photocraft_local.cli.main import main
from photocraft_local.errors import UsageError


class Done(NamedTuple):
    """A finished command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def one(*words: str | Path) -> Done:
        code = main([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return one


def safetensors(path: Path, **tensors: np.ndarray) -> None:
    """A file of that format, written by hand: the reader must not be its own witness."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, tensor in tensors.items():
        ends = [at, at + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": ends}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = b"".join(tensor.tobytes() for tensor in tensors.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two shards with their index, as published checkpoints have them."""
    root = tmp_path / "Qwen3-VL-0B"
    root.mkdir()
    numbers = np.arange(2000, dtype=np.float32)
    safetensors(root / "model-00001-of-00002.safetensors", a=numbers, b=numbers[:10])
    safetensors(root / "model-00002-of-00002.safetensors", c=numbers[::-1])
    parts = {"a": 1, "b": 1, "c": 2}
    index = {name: f"model-0000{part}-of-00002.safetensors" for name, part in parts.items()}
    (root / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    (root / "config.json").write_text('{"model_type": "qwen3_vl"}')
    (root / "README.md").write_text("# a model")
    (root / ".cache").mkdir()
    (root / ".cache" / "lock").write_text("of a download tool")
    return root


def sums(folder: Path) -> dict[str, str]:
    lines = (folder / SUMS_FILE).read_text("utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


# --- the rows ---


def test_the_twin_and_the_page_hold_the_same_rows_and_the_arithmetic_holds(root: Path) -> None:
    table = root / "scripts" / "weights_table"
    done = subprocess.run(
        [sys.executable, str(table), "--check"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    page = (root / "weights.md").read_text("utf-8")
    lines = {m[1]: m[0] for m in re.finditer(r"^\| `(Qwen/[^`]+)` \|.*$", page, re.MULTILINE)}
    assert list(lines) == [row.id for row in weights.rows()]
    for row in weights.rows():
        said = [row.licence, row.dtype, f"{row.parameters:,}", f"{row.bytes:,}"]
        said += [f"`{row.revision}`" if row.revision else "unverified", f"{row.gpu_gib} GiB"]
        assert [text for text in said if text not in lines[row.id]] == [], row.id


def test_a_changed_number_is_noticed(root: Path, tmp_path: Path) -> None:
    for name in ("scripts/weights_table", "photocraft_local/app/data/weights.toml", "weights.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    page = tmp_path / "weights.md"
    page.write_text(
        page.read_text("utf-8").replace("| 17,534,247,392", "| 17,534,247,393"), "utf-8"
    )
    command = [sys.executable, str(tmp_path / "scripts/weights_table")]
    done = subprocess.run([*command, "--check"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "weights.md: differs\n")
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert page.read_bytes() == (root / "weights.md").read_bytes()


def test_every_row_can_be_used_and_hides_no_doubt() -> None:
    fields = set(weights.WeightsRow.__slots__)
    for row in weights.rows():
        assert set(row.unverified) <= fields
        assert ("revision" in row.unverified) == (row.revision == "")
        assert re.fullmatch(r"[0-9a-f]{40}|", row.revision)
        assert row.bytes < row.gpu_gib << 30
        assert row.role == {"weights": "backbone", "encoder": "encoder"}[row.settings]
    wanted = ["2.5-VL-3B", "2.5-VL-7B", "2.5-VL-32B", "2.5-VL-72B", "3-VL-2B", "3-VL-4B"]
    wanted += ["3-VL-8B", "3-VL-32B", "3-VL-30B-A3B", "3-VL-235B-A22B", "3-VL-Embedding-8B"]
    ids = " ".join(row.id for row in weights.rows())
    assert [name for name in wanted if f"Qwen/Qwen{name}" not in ids] == []


def test_list_prints_every_row(run: Run) -> None:
    done = run("weights", "list")
    assert done.code == 0
    assert len(done.out.splitlines()) == len(weights.rows())
    first = json.loads(run("weights", "list", "--json").out.splitlines()[0])
    assert first["id"] == weights.rows()[0].id
    assert first["unverified"]


# --- a folder that is whole ---


def test_a_manifest_is_what_sha256sum_reads_and_verify_confirms(run: Run, folder: Path) -> None:
    made = run("weights", "manifest", folder)
    assert made.code == 0
    assert "5 files" in made.out
    listed = sums(folder)
    assert len(listed) == 5
    for name, digest in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert not (folder / UNFINISHED_FILE).exists()
    if shutil.which("sha256sum"):
        check = ["sha256sum", "--check", "--strict", SUMS_FILE]
        subprocess.run(check, cwd=folder, check=True, capture_output=True)
    done = run("weights", "verify", folder)
    assert done.code == 0
    assert done.out.startswith("whole: ")
    form = run("weights", "verify", folder, "--json").json()
    assert (form["state"], form["files"], form["faults"]) == ("whole", 5, [])


def test_a_list_that_sha256sum_wrote_is_read(run: Run, folder: Path) -> None:
    (folder / "back\\slash.json").write_text("{}")
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    done = subprocess.run(["sha256sum", "--", *names], cwd=folder, capture_output=True, check=True)
    (folder / SUMS_FILE).write_bytes(done.stdout)
    assert run("weights", "verify", folder).code == 0


@pytest.mark.parametrize("name", [b"new\nline.json", b"back\\n.json", b"not-utf-8-\xff.json"])
def test_strange_names_are_listed_and_compared(run: Run, folder: Path, name: bytes) -> None:
    path = Path(folder, os.fsdecode(name))
    path.write_text("{}")
    assert run("weights", "manifest", folder).code == 0
    check = ["sha256sum", "--check", "--strict", SUMS_FILE]
    subprocess.run(check, cwd=folder, check=True, capture_output=True)
    assert run("weights", "verify", folder).code == 0
    path.write_text("[]")
    done = run("weights", "verify", folder)
    assert done.code == 1
    assert "DAMAGED" in done.out
    assert all(letter.isprintable() or letter == "\n" for letter in done.out)


def test_without_a_list_nothing_is_called_whole(run: Run, folder: Path) -> None:
    done = run("weights", "verify", folder)
    assert done.code == 1
    assert done.out.startswith("NOT PROVEN")
    assert "no hash was compared" in done.err
    assert run("weights", "verify", folder, "--json").json()["state"] == "unproven"


# --- damage ---


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


# --- wrong words ---


def test_what_is_no_folder_of_weights_is_one_error(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for wrong, said in (
        (tmp_path / "gone", "is not there"),
        (folder / "config.json", "is a file"),
        (tmp_path / "empty", "holds no weights"),
    ):
        for action in ("verify", "manifest"):
            done = run("weights", action, wrong)
            assert done.code == 2
            assert said in done.err
            assert done.err.count("\n") == 2
            assert done.out == ""


@pytest.mark.parametrize(
    "words",
    [["verify"], ["verify", "x", "--all"], ["manifest"], ["manifest", "--all"], ["list", "x"], []],
)
def test_words_that_do_not_fit_are_refused(run: Run, words: list[str]) -> None:
    done = run("weights", *words)
    assert done.code == 2
    assert done.err.startswith("error: ")


def test_all_means_the_folders_that_the_settings_name(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("weights", "verify", "--all")
    assert done.code == 2
    assert "no setting names a folder" in done.err
    monkeypatch.setenv("PHOTOCRAFT_ENCODER", str(folder))
    run("weights", "manifest", folder)
    done = run("weights", "verify", "--all")
    assert done.code == 0
    assert str(folder) in done.out


# --- stopped on the way ---


def test_a_stopped_manifest_goes_on_and_reads_nothing_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = weights.write_sums.__globals__["sha256_of"]

    def counted(path: Path, tell: Callable[[int], None]) -> str:
        if len(read) == 3:
            raise KeyboardInterrupt
        read.append(path.name)
        return str(whole(path, tell))

    monkeypatch.setitem(weights.write_sums.__globals__, "sha256_of", counted)
    with pytest.raises(KeyboardInterrupt):
        weights.write_manifest(folder)
    assert not (folder / SUMS_FILE).exists()
    with (folder / UNFINISHED_FILE).open("ab") as file:
        file.write(b"0123 cut in the mid")  # as a full disk or a lost drive leaves it
    changed = folder / read[0]
    changed.write_text(changed.read_text() + " ")  # must be read again
    first = read[:]
    read.clear()
    assert weights.write_manifest(folder).good
    assert read[0] == first[0]
    assert set(read[1:]).isdisjoint(first)
    assert weights.verify(folder).good
    assert not (folder / UNFINISHED_FILE).exists()


def test_an_old_list_stays_until_the_new_one_is_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights.write_manifest(folder)
    before = (folder / SUMS_FILE).read_bytes()
    names = weights.write_sums.__globals__

    def full(path: Path, tell: Callable[[int], None]) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(names, "sha256_of", full)
    with pytest.raises(UsageError, match="No space left"):
        weights.write_manifest(folder)
    assert (folder / SUMS_FILE).read_bytes() == before


def test_ctrl_c_leaves_no_half_list_and_the_next_run_ends_well(folder: Path) -> None:
    with (folder / "big.txt").open("wb") as file:
        file.truncate(8 << 30)  # holes: seconds to hash, no room on disk
    command = [sys.executable, "-m", "photocraft_local", "weights", "manifest", str(folder)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (folder / UNFINISHED_FILE).exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "interrupted" in said
    assert not (folder / SUMS_FILE).exists()
    (folder / "big.txt").write_text("small")
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    assert weights.verify(folder).good


def test_progress_counts_bytes_to_the_end(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    weights.write_manifest(folder, lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1] == weights.verify(folder).bytes
    seen.clear()
    weights.verify(folder, lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]

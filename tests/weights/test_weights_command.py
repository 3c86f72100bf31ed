"""``photocraft weights``: rows of weights.md, hashes of a placed folder, words that do not fit."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkpoints import Run, sums

from photocraft_local.app import weights
from photocraft_local.app.weight_sums import SUMS_FILE, UNFINISHED_FILE

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

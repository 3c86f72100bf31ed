"""A list of hashes that is stopped on its way: none half done, nothing read twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from photocraft_local.app import weights
from photocraft_local.app.weight_sums import SUMS_FILE, UNFINISHED_FILE
from photocraft_local.errors import UsageError


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

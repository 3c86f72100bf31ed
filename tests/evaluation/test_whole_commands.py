"""``eval`` commands killed half-way and started again, and several questions at once: the same rows
as a run from end to end, for each kind of data. DISBench's stands in test_disbench_runs.py."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import made_photobench

from photocraft_local.evaluation.results import RunFolder

COMMON = ("--encoder", "null", "--backbone", "planner")


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "photocraft_local", "eval", *words, *COMMON]


def killed(words: Sequence[str], cache: Path, row: str) -> None:
    """When the line of the question that begins with ``row`` is on stderr."""
    environment = {**os.environ, "PHOTOCRAFT_CACHE": str(cache)}
    with subprocess.Popen(
        words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stderr
        while not process.stderr.readline().startswith(row):
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)


def ended(words: Sequence[str], cache: Path) -> str:
    environment = {**os.environ, "PHOTOCRAFT_CACHE": str(cache)}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    return done.stderr


def rows_of(run: Path) -> bytes:
    folder = RunFolder.load(run)
    assert all((run / row.trace).is_file() for row in folder.sorted_rows() if row.trace)
    return (run / "results.jsonl").read_bytes()


def test_photobench(shared: Path, shared_cache: Path, tmp_path: Path) -> None:
    data = made_photobench.made(shared, tmp_path / "data")
    words = command("photobench", str(data), "--libraries", str(tmp_path / "lib"), "--runs", "2")
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    killed([*words, "--out", str(cut)], shared_cache, "2/4")
    assert 2 <= len(RunFolder.load(cut).rows) < 4
    assert ended([*words, "--out", str(cut)], shared_cache).count(" (answered)") <= 2
    ended([*words, "--out", str(whole), "--concurrency", "8"], shared_cache)
    assert rows_of(cut) == rows_of(whole)
    less = command("ablation", str(data), "--libraries", str(tmp_path / "lib"))
    only = ("--only", "no-verify,runs-2,no-skills", "--out", str(tmp_path / "less"))
    ended([*less, *only], shared_cache)
    for name in ("full", "no-verify", "runs-2", "no-skills"):  # rules need none of these
        assert rows_of(tmp_path / "less" / name) == rows_of(whole)


def test_histories(shared: Path, shared_cache: Path, tmp_path: Path) -> None:
    photos = str(shared / "data" / "captioned")
    dials = ("--photos", photos, "--size", "200", "--questions", "12", "--agents", "backbone")
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    words = command("histories", str(cut), *dials)
    killed(words, shared_cache, "5/12")
    run = cut / "runs" / "backbone"
    assert 5 <= len(RunFolder.load(run).rows) < 12
    assert ended(words, shared_cache).count(" (answered)") <= 7
    (cut / "runs" / "backbone").rename(whole)
    ended([*words, "--concurrency", "8"], shared_cache)
    assert rows_of(cut / "runs" / "backbone") == rows_of(whole)
    assert all(row.trace for row in RunFolder.load(whole).sorted_rows())

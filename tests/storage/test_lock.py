"""One writer at a time; who holds the lock is told; a dead holder holds nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from photocraft_local.errors import LibraryLocked
from photocraft_local.storage.lock import WriteLock

_HOLDER = """
import sys, time
from pathlib import Path
from photocraft_local.storage.lock import WriteLock
with WriteLock(Path(sys.argv[1])).hold(5):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@contextmanager
def holder(path: Path, seconds: float) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _HOLDER, str(path), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_second_process_is_told_who_holds_it(tmp_path: Path) -> None:
    with holder(tmp_path / "lock", 60) as process:
        start = time.monotonic()
        with pytest.raises(LibraryLocked) as caught, WriteLock(tmp_path / "lock").hold(0.3):
            pass
        waited = time.monotonic() - start
    assert 0.3 <= waited < 60  # the holder keeps it that long
    assert f"process {process.pid} " in caught.value.message
    assert "from photocraft_local.storage.lock import" in caught.value.message


def test_the_second_process_waits_for_its_turn(tmp_path: Path) -> None:
    with holder(tmp_path / "lock", 0.4), WriteLock(tmp_path / "lock").hold(30):
        pass


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    with holder(tmp_path / "lock", 60) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with WriteLock(tmp_path / "lock").hold(0):
            pass


def test_it_may_be_taken_again_by_the_same_thread(tmp_path: Path) -> None:
    lock = WriteLock(tmp_path / "lock")
    with lock.hold(0):
        with lock.hold(0):
            pass
        with pytest.raises(LibraryLocked), WriteLock(tmp_path / "lock").hold(0):
            pass
    with WriteLock(tmp_path / "lock").hold(0):
        pass

"""The write lock of a folder: an flock that dies with its process and says who holds it.

Readers need no lock. Knows nothing of what is written.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from photocraft_local.errors import LibraryLocked
from photocraft_local.storage.faults import mapped

_POLL_SECONDS = 0.05


class WriteLock:
    """Held by one process at a time; a thread that holds it may take it again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def hold(self, wait_seconds: float) -> Iterator[None]:
        """Wait at most ``wait_seconds``, then raise LibraryLocked naming the holder."""
        with self._threads:
            descriptor = None if self._depth else self._take(wait_seconds)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if descriptor is not None:
                    os.close(descriptor)

    def holder(self) -> dict[str, object]:
        """``pid`` and ``command`` as the last holder wrote them; empty if unknown."""
        try:
            found = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _take(self, wait_seconds: float) -> int:
        deadline = time.monotonic() + wait_seconds
        with mapped(self.path):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            while not _try_lock(descriptor):
                if time.monotonic() >= deadline:
                    raise self._locked(wait_seconds)
                time.sleep(_POLL_SECONDS)
            self._sign(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _sign(self, descriptor: int) -> None:
        """Write who holds it. The lock itself does not need the note, so a full disk is no bar."""
        note = json.dumps({"pid": os.getpid(), "command": _command()}).encode()
        try:
            os.pwrite(descriptor, note, 0)
            os.ftruncate(descriptor, len(note))
        except OSError:
            return

    def _locked(self, wait_seconds: float) -> LibraryLocked:
        holder = self.holder()
        who = f"process {holder.get('pid', 'unknown')} ({holder.get('command', 'unknown')})"
        return LibraryLocked(
            f"the library {self.path.parent} is being written by {who}; "
            f"waited {wait_seconds:g} s for it",
            hint="let it finish and run the command again, or wait longer: "
            "PHOTOCRAFT_LOCK_WAIT_SECONDS",
        )


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _command() -> str:
    return " ".join(sys.orig_argv)[:500]

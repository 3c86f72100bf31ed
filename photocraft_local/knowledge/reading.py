"""Reads files by a process of its own (worker.py), which is started again after a file broke it.

Knows no format.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from photocraft_local.errors import MissingExtraError, PageError
from photocraft_local.knowledge.pages import Page, in_ascii
from photocraft_local.storage.faults import mapped

CPU_SECONDS = 60.0  # that one file may take
_KILLED = {
    signal.SIGPROF: ("too-slow", "reading it takes too long"),
    signal.SIGKILL: ("too-large", "reading it was stopped by the system, for want of memory"),
}


class Reading:
    """A context manager. What pages bring along lies in ``scratch`` until the next page is read."""

    def __init__(
        self, scratch: Path, *, max_pixels: int = 300_000_000, cpu_seconds: float = CPU_SECONDS
    ) -> None:
        self._scratch, self._max_pixels, self._cpu_seconds = scratch, max_pixels, cpu_seconds
        self._worker: subprocess.Popen[str] | None = None

    def __enter__(self) -> Reading:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def read(self, path: Path, root: Path) -> Page:
        """``root``: pictures inside it may be used. Raises PageError, MissingExtraError, and
        LibraryError where the scratch folder cannot be made."""
        with mapped(self._scratch):
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch.mkdir(mode=0o700, parents=True)
        asked = {
            "path": in_ascii(os.fsencode(path)),
            "root": in_ascii(os.fsencode(root)),
            "scratch": str(self._scratch),
            "max_pixels": self._max_pixels,
            "cpu_seconds": self._cpu_seconds,
        }
        reply = self._ask(json.dumps(asked))
        if "missing" in reply:
            raise MissingExtraError(*reply["missing"])
        if "unusable" in reply:
            raise PageError(*reply["unusable"])
        return Page.from_json(reply["page"])

    def _ask(self, line: str) -> dict[str, Any]:
        worker = self._started()
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            worker.stdin.write(line + "\n")
            worker.stdin.flush()
            reply = worker.stdout.readline()
        except BrokenPipeError:
            reply = ""
        if reply.endswith("\n"):
            answer: dict[str, Any] = json.loads(reply)
            return answer
        code = worker.wait()
        self._stop()
        raise PageError(*_KILLED.get(-code, ("damaged", f"it broke its reader (code {code})")))  # type: ignore[call-overload]

    def _started(self) -> subprocess.Popen[str]:
        if self._worker is None or self._worker.poll() is not None:
            self._stop()
            self._worker = subprocess.Popen(
                [sys.executable, "-P", "-m", "photocraft_local.knowledge.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # each would claim address space
                encoding="utf-8",
            )
        return self._worker

    def _stop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        for pipe in (worker.stdin, worker.stdout):
            if pipe is not None:
                pipe.close()
        worker.kill()
        worker.wait()

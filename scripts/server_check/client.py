"""The asking process as its parent sees it: started, asked, killed; and the server that it runs.

Finds the server by its record, as any photocraft would, and reads its counters.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from photocraft_local.serving.vllm import health, processes
from photocraft_local.serving.vllm.place import ServerPlace
from photocraft_local.serving.vllm.processes import Process
from photocraft_local.serving.vllm.record import ServerRecord

_ASKER = Path(__file__).with_name("asker.py")
_BEAT = 0.05
COUNTER = re.compile(r"^vllm:(\w+)(?:\{[^}]*\})? ([\d.e+-]+)$", re.MULTILINE)
KINDS = ("keeper", "server", "engine", "group")


class Asker:
    """The process of asker.py; ``stages`` are what its server's starts told so far."""

    def __init__(self, library: Path, environment: dict[str, str], errors: Path) -> None:
        self.stages: list[str] = []
        self._results: queue.Queue[list[dict[str, Any]]] = queue.Queue()
        with errors.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(_ASKER), str(library)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                text=True,
            )
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def starts(self) -> int:
        """Of servers, as far as a first token was asked for."""
        return self.stages.count("asking for a first token")

    def runs(self) -> bool:
        return self._process.poll() is None

    def ask(self, number: int) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()

    def busy(self) -> bool:
        """The questions are not over."""
        return self.runs() and self._results.empty()

    def episodes(self, seconds: float) -> list[dict[str, Any]]:
        """Of the last ``ask``; empty if they did not end in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (self.runs() or not self._results.empty()):
            try:
                return self._results.get(timeout=1)
            except queue.Empty:
                continue
        return []

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self, seconds: float = 60) -> int:
        """In good order; killed if it takes longer."""
        assert self._process.stdin
        self._process.stdin.close()
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            told = json.loads(line)
            if "stage" in told:
                self.stages.append(told["stage"])
            else:
                self._results.put(told["episodes"])


def counters(record: ServerRecord) -> dict[str, float]:
    """The engine's own, by name; those with several label sets are added up."""
    with health.open_client(record.endpoint, 30) as client:
        return added_up(client.get("/metrics").text)


def added_up(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in COUNTER.findall(text):
        found[name] = found.get(name, 0) + float(value)
    return found


def running_requests(place: ServerPlace) -> tuple[ServerRecord | None, int]:
    """The server that is recorded, if it works, and how many requests it computes now."""
    record = ServerRecord.read(place.record)
    if record is None or not record.is_served() or health.obstacle(record.endpoint):
        return None, 0
    try:
        return record, int(counters(record).get("num_requests_running", 0))
    except Exception:  # noqa: BLE001  # it is about to come, or to go
        return None, 0


def busy_server(
    place: ServerPlace, goes_on: Callable[[], bool], seconds: float
) -> ServerRecord | None:
    """Waits until a request is in the midst of being computed. None if that never was."""
    deadline = time.monotonic() + seconds
    while goes_on() and time.monotonic() < deadline:
        record, running = running_requests(place)
        if record and running:
            return record
        time.sleep(_BEAT)
    return None


def victims(record: ServerRecord, kind: str) -> list[int]:
    """The processes to kill."""
    group = processes.group_of(record.server)
    engine = [pid for pid in group if pid != record.server.pid and _is_engine(pid)]
    return {
        "server": [record.server.pid],
        "engine": engine,
        "group": group,
        "keeper": [record.keeper.pid],
    }[kind]


def kill(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def is_gone(server: Process, seconds: float) -> bool:
    return processes.wait_until(lambda: not processes.group_of(server), seconds)


def left_over(place: ServerPlace) -> list[str]:
    """Files of a running server."""
    return [name for name in ("socket", "server.json") if (place.folder / name).exists()]


def _is_engine(pid: int) -> bool:
    words = processes.words_of(pid)
    return words.startswith("VLLM") or ("multiprocessing" in words and "tracker" not in words)

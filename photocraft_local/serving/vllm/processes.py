"""Is a process that was written down still the one that runs under its number? And ending it.

Numbers are given again, so a process is known by number, start time, and the run of the machine
that both belong to. Knows no server.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.serving.vllm.keeper import TIDIER, command_line, started

_BEAT = 0.05
_ZOMBIES = ("Z", "X")


@dataclass(frozen=True, slots=True)
class Process:
    """``started``: ticks since the machine's start, from /proc; 0 matches no process."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process:
        return cls(pid, started(pid))

    def runs(self) -> bool:
        return bool(self.started) and started(self.pid) == self.started and not _is_dead(self.pid)


def words_of(pid: int) -> str:
    """The command line of a process as it is now; "" if it is gone."""
    return command_line(pid)


def this_run() -> str:
    """Of the machine since it was started, and of the container that this runs in."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {os.stat('/proc/self/ns/pid').st_ino}"  # noqa: PTH116
    except OSError:
        return "unknown"


def group_of(leader: Process) -> list[int]:
    """Living members of the group that ``leader`` began, itself included; also if it is dead."""
    members = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            state, group, began = fields[0], int(fields[2]), int(fields[19])
        except (OSError, ValueError, IndexError):
            continue
        if group == leader.pid and began >= leader.started and state not in _ZOMBIES:
            members.append(int(folder.name))
    return members


def end_group(leader: Process, grace: float, is_ours: Callable[[str], bool]) -> None:
    """Ask the leader to stop, wait, then kill what is left of its group.

    Only members whose command line ``is_ours``; none if the leader's number was given again.
    """
    if started(leader.pid) not in (0, leader.started):
        return

    def left() -> list[int]:
        return [pid for pid in group_of(leader) if is_ours(words_of(pid))]

    if leader.pid in left():
        _send(leader.pid, signal.SIGTERM)
        wait_until(lambda: not left(), grace)
    for pid in left():
        if TIDIER not in words_of(pid):  # it frees what the others shared, and goes after them
            _send(pid, signal.SIGKILL)
    wait_until(lambda: not left(), 3.0)
    for pid in left():
        _send(pid, signal.SIGKILL)
    wait_until(lambda: not left(), 5.0)


def end(process: Process, grace: float) -> None:
    """Ask one process to stop; kill it if it does not."""
    if process.runs():
        _send(process.pid, signal.SIGTERM)
        if not wait_until(lambda: not process.runs(), grace):
            _send(process.pid, signal.SIGKILL)
            wait_until(lambda: not process.runs(), 5.0)


def wait_until(done: Callable[[], bool], seconds: float) -> bool:
    """False if it was not so within ``seconds``."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_BEAT)
    return True


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _is_dead(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return True
    fields = text.rpartition(")")[2].split()
    return not fields or fields[0] in _ZOMBIES  # empty: it went while it was read

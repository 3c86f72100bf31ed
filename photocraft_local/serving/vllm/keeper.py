"""Runs beside a model server and ends it when its owner goes, however that went.

A program of its own, on the standard library alone: it gets a job as one line of JSON on stdin
and lives as long as stdin stays open. It starts the server in a process group of its own, notes
both processes in the record, and leaves neither process, socket nor record behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_BEAT = 0.25  # seconds between two looks
_TIDYING = 3.0  # seconds that Python's helper has to free what the killed ones shared
TIDIER = "resource_tracker"
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    job = json.loads(sys.stdin.buffer.readline())
    os.umask(0o077)
    os.makedirs(job["scratch"], exist_ok=True)  # noqa: PTH103
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda sign, _frame: stopping.append(sign))
    _adopt()
    server = _start(job)
    try:
        _note(job, server.pid)
        _wait(server, job, stopping)
    finally:
        _end(server, job["grace"])
        for name in ("socket", "record"):
            if job[name]:
                Path(job[name]).unlink(missing_ok=True)
        shutil.rmtree(job["scratch"], ignore_errors=True)
    code = server.returncode
    return code if code >= 0 else 128 - code


def _start(job: dict[str, Any]) -> subprocess.Popen[bytes]:
    libc = ctypes.CDLL(None)
    with open(job["log"], "ab", buffering=0) as log:  # noqa: PTH123
        os.dup2(log.fileno(), 2)  # what goes wrong in here is told there, too
        return subprocess.Popen(  # noqa: S603  # the derived command, no shell
            job["argv"],
            env=job["env"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=job["folder"],
            start_new_session=True,
            # If this program is killed, the server is asked to stop by the kernel.
            preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM),
        )


def _note(job: dict[str, Any], server: int) -> None:
    record = job["facts"] | {
        "keeper": {"pid": os.getpid(), "started": started(os.getpid())},
        "server": {"pid": server, "started": started(server)},
    }
    part = Path(job["record"] + ".part")
    part.write_text(json.dumps(record), "utf-8")
    part.replace(job["record"])


def _wait(server: subprocess.Popen[bytes], job: dict[str, Any], stopping: list[int]) -> None:
    """Until the server ends, stdin is closed, or somebody asks to stop."""
    while server.poll() is None and not stopping:
        with contextlib.suppress(InterruptedError):
            ready, _, _ = select.select([0], [], [], _BEAT)
            if ready and not os.read(0, 4096):
                return
        _lock_socket(job["socket"])


def _lock_socket(path: str) -> None:
    """vLLM leaves it 0700 under our umask; nobody executes a socket."""
    with contextlib.suppress(OSError):
        if path and stat.S_IMODE(os.lstat(path).st_mode) != 0o600:
            os.chmod(path, 0o600)  # noqa: PTH101


def _end(server: subprocess.Popen[bytes], grace: float) -> None:
    """The server by its own rules, then whatever of its group is left."""
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(grace)
    _kill_all_but_the_tidier(server.pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()
    with contextlib.suppress(ChildProcessError):  # nobody is left
        while True:  # its children are ours by now, see _adopt
            os.waitpid(-server.pid, 0)


def _kill_all_but_the_tidier(group: int) -> None:
    """It frees shared memory and semaphores, and goes when the others have."""
    deadline = time.monotonic() + _TIDYING
    while (left := members(group)) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if TIDIER not in command_line(pid):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _adopt() -> None:
    """Whoever loses its parent below this program becomes its child, so that it is reaped."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def members(group: int) -> list[int]:
    """Living processes of the group."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{name}/stat").read_text("utf-8", "replace")
            fields = text.rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] not in ("Z", "X"):
                found.append(int(name))
    return found


def command_line(pid: int) -> str:
    """ "" if it is gone."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return words.replace(b"\0", b" ").decode("utf-8", "replace").strip()


def started(pid: int) -> int:
    """When the process began, in ticks since the machine did; 0 if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    sys.exit(main())

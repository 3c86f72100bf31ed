"""The real ``vllm serve`` as photocraft starts it, behind an air gap, killed in mid-episode.

One run of ``scripts/gpu_check_vllm.sh`` on the CPU for many proofs, since each start of the server
takes a minute: whole episodes on real photos, kill -9 of server, engine and client, what is left,
pictures, refusals. It runs where only the loopback is, and strace writes down each network call.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ALONE = (("unshare", "--net", "--"), ("unshare", "--map-root-user", "--net", "--"))
CHECKED = {
    "photos are indexed",
    "the device that was asked for",
    "episodes go on after kill -9 of the server",
    "nothing of the killed server is left",
    "episodes go on after kill -9 of the engine",
    "nothing of the killed engine is left",
    "socket of mode 0600",
    "a large picture is brought into the limits",
    "the same picture by its name alone comes from the caches",
    "no picture is read from file elsewhere",
    "no picture is read from http elsewhere",
    "20 pictures in one request",
    "constrained replies are valid calls",
    "choices have their probabilities",
    "kill -9 of the client in mid-episode leaves no server",
    "and neither socket nor record",
    "its trace is whole, to be resumed",
    "the next command resumes it",
    "and leaves nothing either",
    "nothing that was asked is in the log",
}
_KEPT_VARIABLES = ("PATH", "LANG", "LC_", "LD_")


@dataclass(frozen=True)
class Ran:
    """``trace`` is None where there is no strace, ``alone`` False where no namespace is given."""

    report: dict[str, Any]
    said: str
    home: Path
    scratch: Path
    trace: Path | None
    alone: bool


def alone() -> tuple[str, ...]:
    """Words before a command that then runs in a network namespace of its own; () if refused."""
    for words in ALONE:
        if shutil.which(words[0]):
            done = subprocess.run([*words, "true"], capture_output=True)
            if done.returncode == 0:
                return words
    return ()


@pytest.fixture(scope="module")
def ran(
    checkpoint: Callable[..., Path],
    root: Path,
    shared: Path,
    shared_cache: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Ran:
    folder = tmp_path_factory.mktemp("real")
    home, scratch, trace = folder / "home", folder / "tmp", folder / "trace"
    home.mkdir()
    scratch.mkdir()
    gap = alone()
    calls = ("-f", "-qq", "-s", "0", "-e", "signal=none", "--seccomp-bpf", "-o", str(trace))
    watched = ("strace", "-e", "trace=%network,io_uring_setup", *calls)
    watched = watched if gap and shutil.which("strace") else ()
    up = (sys.executable, str(root / "scripts/server_check/gap.py")) if gap else ()
    own = {name: text for name, text in os.environ.items() if name.startswith(_KEPT_VARIABLES)}
    own |= {"HOME": str(home), "TMPDIR": str(scratch), "PHOTOCRAFT_PYTHON": sys.executable}
    own["OMP_NUM_THREADS"] = "1"  # tiny products: threads that wait for one another cost more
    check: tuple[str | Path, ...] = (
        root / "scripts/gpu_check_vllm.sh",
        *("--device", "cpu", *["--alone"] * bool(gap)),
        *("--weights", checkpoint("qwen3-vl")),
        *("--photos", shared / "data/captioned/coco"),
        *("--work", folder / "w"),
        *("--keep-caches", shared_cache / "engine" / "server"),
    )
    done = subprocess.run(
        [*gap, *watched, *up, *check], env=own, capture_output=True, text=True, timeout=1500
    )
    lines = done.stdout.splitlines()
    assert lines, done.stderr[-3000:]
    return Ran(
        json.loads(lines[-1]),
        done.stderr,
        home,
        scratch,
        trace if watched else None,
        bool(gap),
    )


@pytest.mark.timeout(1800)
def test_episodes_outlive_their_server_and_nothing_outlives_the_client(ran: Ran) -> None:
    found = {entry["check"]: entry["ok"] for entry in ran.report["checks"]}
    assert [name for name, good in found.items() if good is False] == [], ran.said[-5000:]
    assert {name for name in CHECKED if found.get(name) is not True} == set()
    assert ran.report["ok"]


def test_the_home_stays_empty_and_no_socket_is_left(ran: Ran) -> None:
    assert [*ran.home.rglob("*")] == []
    left = [p for top in (ran.scratch, ran.scratch.parent / "w") for p in top.rglob("*")]
    assert [p for p in left if stat.S_ISSOCK(p.lstat().st_mode)] == []


def test_it_ran_where_only_the_loopback_is(ran: Ran) -> None:
    if not ran.alone:
        pytest.skip("NOT PERMITTED: `unshare --net` is refused, the air gap is not proven here")
    found = {entry["check"]: entry for entry in ran.report["checks"]}
    assert found["only the loopback is there"]["ok"]


def test_its_system_calls_reach_unix_sockets_netlink_and_loopback_and_nothing_else(
    ran: Ran,
) -> None:
    if ran.trace is None:
        why = "the namespace alone proves that nothing else could be reached"
        pytest.skip(f"STRACE ABSENT: no system calls were written down; {why}")
    from server_check.gap import Trace

    with ran.trace.open(errors="replace") as lines:
        trace = Trace.read(lines)
    assert trace.strangers == []
    assert trace.addresses <= {"127.0.0.1", "::1"}
    assert "127.0.0.1" in trace.addresses  # the processes of the engine find one another there
    assert any(f"{ran.trace.parent}/w/cache/server" in path for path in trace.paths)
    assert min(trace.calls[name] for name in ("socket", "connect", "bind")) > 10
    assert len(trace.processes) > 20

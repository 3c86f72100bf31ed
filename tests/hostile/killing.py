"""Kills a process at its n-th dangerous moment: a turn, a tool's run, any touch of a file.

A write is cut in the middle. What the process had done until then is left in shared memory.
"""

from __future__ import annotations

import mmap
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from photocraft_local.agent.loop import Agent
from photocraft_local.tools.registry import Registry

_TOUCHES = ("fsync", "fdatasync", "ftruncate", "unlink", "rename", "replace")


class Count:
    """Numbers that outlive the process that wrote them: ``moments`` so far, steps ``saved``."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 16)

    @property
    def moments(self) -> int:
        return int.from_bytes(self._shared[:8], "little")

    @property
    def saved(self) -> int:
        return int.from_bytes(self._shared[8:], "little")

    def one_more_moment(self) -> int:
        now = self.moments + 1
        self._shared[:8] = now.to_bytes(8, "little")
        return now

    def one_more_saved(self, _: object = None) -> None:
        self._shared[8:] = (self.saved + 1).to_bytes(8, "little")


def in_child(work: Callable[[Count], None], at: int) -> tuple[Count, int]:
    """Runs ``work`` in a forked process that is killed at moment ``at`` (0: never); what it had
    done, and the signal that ended it."""
    count = Count()
    child = os.fork()
    if child == 0:
        try:
            _arm(count, at)
            work(count)
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0
    return count, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def _arm(count: Count, at: int) -> None:
    def moment() -> bool:
        return count.one_more_moment() == at

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def around(owner: Any, name: str) -> None:
        plain = getattr(owner, name)

        def before_and_after(*given: Any, **named: Any) -> Any:
            if moment():
                die()
            done = plain(*given, **named)
            if moment():
                die()
            return done

        setattr(owner, name, before_and_after)

    write = os.write

    def cut(file: int, data: Any) -> int:
        if moment():
            write(file, bytes(data)[: len(data) // 2])
            die()
        return write(file, data)

    for name in _TOUCHES:
        around(os, name)
    for name in ("unlink", "replace"):
        around(Path, name)
    around(Registry, "call")
    around(Agent, "_query")
    os.write = cut

"""What tests of running servers look at: processes that are gone, files that are left."""

from __future__ import annotations

import socket

from photocraft_local.serving.vllm import processes
from photocraft_local.settings import Settings


def gone(process: processes.Process, seconds: float = 60) -> bool:
    """The process and all of its group."""
    return processes.wait_until(lambda: not processes.group_of(process), seconds)


def leftovers(settings: Settings) -> list[str]:
    """Files of running servers."""
    names = [path.name for path in (settings.cache / "server").rglob("*")]
    return [name for name in names if name in ("socket", "server.json", "tmp")]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

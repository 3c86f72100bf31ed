"""Keeps a model server running until it is told to stop: `photocraft serve-model`.

A server that crashes is started again; one that keeps crashing is given up.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from photocraft_local.errors import UsageError
from photocraft_local.serving.endpoint import without_secret
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.deriving import weights_folder
from photocraft_local.serving.vllm.server import ManagedServer
from photocraft_local.settings import Settings

_BEAT = 0.5  # seconds between two looks
_CRASHES = 3
_WITHIN = 600.0  # seconds


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that has given a token."""

    endpoint: str
    model: str
    window: int
    process: int
    log: str


def serve(
    settings: Settings,
    stop: threading.Event,
    on_stage: Callable[[str], None],
    on_ready: Callable[[Serving], None],
) -> None:
    """Until ``stop`` is set. ``on_ready`` is told of each start.

    After a crash a question that runs may start the server first, and end it with itself: it is
    stood by until then. Raises UsageError if another photocraft serves the same weights,
    ModelError if the folder is not whole, or the server does not start or has crashed three
    times within ten minutes.
    """
    if settings.backbone_url:
        url = without_secret(settings.backbone_url)
        raise UsageError(
            f"backbone_url is set to {url}: that server is used, none is started",
            hint="leave backbone_url out to have photocraft serve the model itself",
        )
    Checkpoint.read(weights_folder(settings))  # before a folder is made for its server
    crashes: deque[float] = deque(maxlen=_CRASHES)
    with ManagedServer(settings) as server:
        _start(server, on_stage)
        while True:
            on_ready(_serving(server))
            owned = server.owned
            while server.runs() and not stop.wait(_BEAT):
                pass
            if stop.is_set():
                return
            if owned:
                _mourn(server, crashes, on_stage)
            server.start(on_stage)


def _start(server: ManagedServer, on_stage: Callable[[str], None]) -> None:
    server.start(on_stage)
    if not server.owned:
        process = server.process.pid
        endpoint = server.endpoint
        server.stop()
        raise UsageError(
            f"the model is served already, by process {process} at {endpoint}",
            hint="questions use it as it is; end the other photocraft to serve it from here",
        )


def _mourn(server: ManagedServer, crashes: deque[float], on_stage: Callable[[str], None]) -> None:
    """Tells of a crash; one too many is raised."""
    gone = server.failure()
    crashes.append(time.monotonic())
    if len(crashes) == _CRASHES and crashes[-1] - crashes[0] < _WITHIN:
        raise gone
    on_stage(f"{gone.message}; starting it again")


def _serving(server: ManagedServer) -> Serving:
    return Serving(
        str(server.endpoint),
        server.model,
        server.limits.window,
        server.process.pid,
        str(server.place.log),
    )

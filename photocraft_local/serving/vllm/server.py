"""The model server of this machine: found, started, asked whether it lives, started again, ended.

A server that another photocraft runs for the same weights is used, and left alone at the end.
Knows processes and addresses, not what is asked of the model.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self

from photocraft_local.errors import ModelError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm import health, keeper
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.command import Limits, ServeCommand, limits_of_stranger
from photocraft_local.serving.vllm.deriving import derive, environment_of, local_endpoint, place_of
from photocraft_local.serving.vllm.place import ServerPlace, remove_stale_socket
from photocraft_local.serving.vllm.processes import Process
from photocraft_local.serving.vllm.record import GRACE, ServerRecord, end_orphans, facts
from photocraft_local.serving.vllm.startup import LogFollower, failure
from photocraft_local.settings import Settings

Told = Callable[[str], None]
_BEAT = 0.2  # seconds between two looks at a start
_FIRST_TOKEN_SECONDS = 180.0  # the first one may have to wait for kernels that are compiled
_TOKEN_SECONDS = 60.0


def _nobody(_: str) -> None:
    pass


class ModelServer(Protocol):
    """What a client of a model needs of its server."""

    @property
    def endpoint(self) -> Endpoint: ...

    @property
    def model(self) -> str: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def media(self) -> Path | None:
        """A folder from which the server reads pictures by ``file://``; None: send them whole."""
        ...

    def ensure(self, progress: Told = _nobody) -> Endpoint:
        """It runs and has answered once; starts it if need be. Safe from many threads."""
        ...

    def recover(self, progress: Told = _nobody) -> Endpoint:
        """After a request failed or hung: it works again when this returns. Safe from many
        threads; those that come while it is started again wait for it."""
        ...

    def check(self, seconds: float | None = None) -> None:
        """Raises ModelError unless the model gives a token."""
        ...

    def stop(self) -> None: ...


def make_server(settings: Settings) -> ModelServer:
    """The person's own server if ``backbone_url`` is set, else a managed one. Starts nothing."""
    if endpoint := local_endpoint(settings):
        return OutsideServer(settings, endpoint)
    return ManagedServer(settings)


class OutsideServer:
    """A server that the person runs: asked, never started and never ended."""

    media: Path | None = None

    def __init__(self, settings: Settings, endpoint: Endpoint) -> None:
        self._settings = settings
        self.endpoint = endpoint
        self._served: health.Served | None = None

    @property
    def model(self) -> str:
        return self._known().model

    @property
    def limits(self) -> Limits:
        weights = self._settings.weights
        checkpoint = Checkpoint.read(weights) if weights else None
        return limits_of_stranger(checkpoint, self._known().window)

    def ensure(self, progress: Told = _nobody) -> Endpoint:
        del progress
        self._known()
        return self.endpoint

    def recover(self, progress: Told = _nobody) -> Endpoint:
        """It cannot be started from here; perhaps it is back."""
        del progress
        self.check()
        return self.endpoint

    def check(self, seconds: float | None = None) -> None:
        self._served = health.check(self.endpoint, seconds or _TOKEN_SECONDS)

    def stop(self) -> None:
        pass

    def _known(self) -> health.Served:
        if self._served is None:
            self.check()
        assert self._served is not None
        return self._served


class ManagedServer:
    """A ``vllm serve`` of our own, in a process that ends with this one.

    It may be owned (started here) or shared (another photocraft's, which is used while it lasts).
    """

    model = "photocraft"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.RLock()
        self._keeper: subprocess.Popen[bytes] | None = None
        self._record: ServerRecord | None = None
        self.command: ServeCommand | None = None  # of the server that was started here

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def endpoint(self) -> Endpoint:
        """Raises ModelError before the first ``ensure``."""
        return self._known().endpoint

    @property
    def limits(self) -> Limits:
        return self._known().limits

    @property
    def media(self) -> Path | None:
        return self.place.media

    @property
    def place(self) -> ServerPlace:
        return place_of(self._settings)

    @property
    def process(self) -> Process:
        """The server's own; its group has the same number."""
        return self._known().server

    @property
    def owned(self) -> bool:
        """Started here, so that it ends with this process."""
        return self._keeper is not None

    def ensure(self, progress: Told = _nobody) -> Endpoint:
        with self._lock:
            if not self.runs():
                self.start(progress)
            return self.endpoint

    def runs(self) -> bool:
        """The process is there; ``check`` says whether it works."""
        if self._keeper is not None and self._keeper.poll() is not None:
            return False
        return self._record is not None and self._record.is_served()

    def start(self, progress: Told = _nobody) -> Endpoint:
        """Uses the one that runs, or starts one, and waits until it has given a token.

        ``progress`` is told each stage. Raises the errors of ``derive``, and ModelError with the
        cause if the server ends or takes longer than the setting allows.
        """
        with self._lock:
            self._forget()
            place, seconds = self.place, self._settings.server_start_seconds
            waited = False

            def on_wait() -> None:
                nonlocal waited
                if not waited:
                    progress("another photocraft is starting the server")
                waited = True

            with place.locked(seconds, on_wait):
                for orphan in end_orphans(place.folder.parent):
                    progress(f"ended a server that was left behind (process {orphan.server.pid})")
                self._record = ServerRecord.read(place.record)
                if self._record is None:
                    self._launch(place, progress)
                else:
                    progress("using the server that runs already")
                    self.check()
            return self.endpoint

    def recover(self, progress: Told = _nobody) -> Endpoint:
        """A token, from the one that runs or from a new one.

        Raises ModelError if the one that runs belongs to another photocraft and hangs.
        """
        with self._lock:
            if self.runs():
                try:
                    self.check()
                except ModelError:
                    if self.runs() and not self.owned:
                        raise  # another photocraft's: it can be asked again, not ended
                else:
                    return self.endpoint
            self.stop()
            return self.start(progress)

    def check(self, seconds: float | None = None) -> None:
        health.check(self.endpoint, seconds or _TOKEN_SECONDS)

    def failure(self) -> ModelError:
        """Why the server that ran is gone, from its log."""
        code = self._keeper.poll() if self._keeper else None
        return failure(self.place.log, code, "serving")

    def stop(self) -> None:
        """Ends what was started here and waits for it; a shared server stays."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        held, self._keeper, self._record = self._keeper, None, None
        if held is None:
            return
        assert held.stdin is not None
        held.stdin.close()  # the keeper lives as long as this is open
        try:
            held.wait(2 * GRACE)
        except subprocess.TimeoutExpired:
            held.kill()
            held.wait()

    def _known(self) -> ServerRecord:
        if self._record is None:
            raise ModelError("the model server is not started", hint="call ensure() first")
        return self._record

    def _launch(self, place: ServerPlace, progress: Told) -> None:
        progress("checking weights and memory")
        command = self.command = derive(self._settings)
        if path := command.endpoint.socket:
            remove_stale_socket(path)
        place.rotate_logs()
        self._keeper = _start_keeper(command, place)
        try:
            self._await(place, progress)
        except BaseException:
            self._forget()
            raise

    def _await(self, place: ServerPlace, progress: Told) -> None:
        deadline = time.monotonic() + self._settings.server_start_seconds
        follower = LogFollower(place.log)
        progress(follower.stage)
        listening = False
        while not listening:
            for stage in follower.read():
                progress(stage)
            self._check_start(place, follower, deadline)
            time.sleep(_BEAT)
            listening = self._record is not None and health.listens(self._record.endpoint)
        progress("asking for a first token")
        self.check(_FIRST_TOKEN_SECONDS)

    def _check_start(self, place: ServerPlace, follower: LogFollower, deadline: float) -> None:
        assert self._keeper is not None
        code = self._keeper.poll()
        if code is not None:
            raise failure(place.log, code, follower.stage)
        if time.monotonic() > deadline:
            raise ModelError(
                f"the model server was not ready after {self._settings.server_start_seconds:g} s;"
                f" it was last {follower.stage}",
                hint=f"a slow disk needs a longer server_start_seconds; log: {place.log}",
            )
        self._record = self._record or ServerRecord.read(place.record)


def _start_keeper(command: ServeCommand, place: ServerPlace) -> subprocess.Popen[bytes]:
    job = {
        "argv": command.argv,
        "env": environment_of(command, place),
        "folder": str(place.folder),
        "log": str(place.log),
        "record": str(place.record),
        "socket": str(command.endpoint.socket or ""),
        "grace": GRACE,
        "facts": facts(
            Process.of(os.getpid()), command.checkpoint.folder, command.endpoint, command.limits
        ),
    }
    try:
        started = subprocess.Popen(  # noqa: S603  # our own program, under this Python
            [sys.executable, "-I", keeper.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the owner, which then ends it in good order
        )
    except OSError as exc:
        raise ModelError(
            f"no process can be started: {exc.strerror}", hint="end other programs and try again"
        ) from exc
    assert started.stdin is not None
    started.stdin.write(json.dumps(job).encode() + b"\n")
    started.stdin.flush()
    return started


__all__ = ["ManagedServer", "ModelServer", "OutsideServer", "make_server"]

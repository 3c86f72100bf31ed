"""The model server of this machine: found, started, asked whether it lives, started again, ended.

A server that another photocraft runs for the same weights is used, and left alone at the end.
Knows processes and addresses, not what is asked of the model.
"""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path
from typing import Self

from photocraft_local.errors import ModelError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm import health
from photocraft_local.serving.vllm.command import ServeCommand, version_note
from photocraft_local.serving.vllm.deriving import (
    derive,
    local_endpoint,
    place_of,
    weights_folder,
)
from photocraft_local.serving.vllm.folder import stamp_of
from photocraft_local.serving.vllm.launch import start_keeper
from photocraft_local.serving.vllm.limits import Limits
from photocraft_local.serving.vllm.outside import OutsideServer
from photocraft_local.serving.vllm.place import ServerPlace, remove_stale_socket
from photocraft_local.serving.vllm.processes import Process
from photocraft_local.serving.vllm.record import GRACE, ServerRecord, end_orphans
from photocraft_local.serving.vllm.seam import TOKEN_SECONDS, ModelServer, Told, nobody
from photocraft_local.serving.vllm.startup import LogFollower, failure
from photocraft_local.settings import Settings

_BEAT = 0.2  # seconds between two looks at a start
_FIRST_TOKEN_SECONDS = 180.0  # the first one may have to wait for kernels that are compiled


def make_server(settings: Settings) -> ModelServer:
    """The person's own server if ``backbone_url`` is set, else a managed one. Starts nothing."""
    if endpoint := local_endpoint(settings):
        return OutsideServer(settings, endpoint)
    return ManagedServer(settings)


class ManagedServer:
    """A ``vllm serve`` of our own, in a process that ends with this one.

    It may be owned (started here) or shared (another photocraft's, which is used while it lasts).
    """

    model = "photocraft"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.RLock()
        self._stopped = threading.Event()  # seen by a start that runs in another thread
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

    def ensure(self, progress: Told = nobody) -> Endpoint:
        self._stopped.clear()
        with self._lock:
            if not self.runs():
                self._start(progress)
            return self.endpoint

    def runs(self) -> bool:
        """The process is there; ``check`` says whether it works."""
        if self._keeper is not None and self._keeper.poll() is not None:
            return False
        return self._record is not None and self._record.is_served()

    def start(self, progress: Told = nobody) -> Endpoint:
        """Uses the one that runs, or starts one, and waits until it has given a token.

        ``progress`` is told each stage. Raises the errors of ``derive``, and ModelError with the
        cause if the server ends or takes longer than the setting allows.
        """
        self._stopped.clear()
        with self._lock:
            return self._start(progress)

    def recover(self, progress: Told = nobody) -> Endpoint:
        """A token, from the one that runs or from a new one.

        Raises ModelError if the one that runs belongs to another photocraft and hangs, or if
        this one was stopped meanwhile.
        """
        with self._lock:
            self._check_wanted()
            if self.runs():
                try:
                    self._await_end_or_token()
                except ModelError:
                    if self.runs() and not self.owned:
                        raise  # another photocraft's: it can be asked again, not ended
                else:
                    return self.endpoint
            return self._start(progress)

    def check(self, seconds: float | None = None) -> None:
        health.check(self.endpoint, seconds or TOKEN_SECONDS)

    def failure(self) -> ModelError:
        """Why the server that ran is gone, from its log."""
        code = self._keeper.poll() if self._keeper else None
        return failure(self.place.log, code, "serving")

    def stop(self) -> None:
        """Ends what was started here and waits for it; a shared server stays.

        A start that another thread is at ends as well, with a ModelError there.
        """
        self._stopped.set()
        if keeper := self._keeper:
            _let_go(keeper)
        with self._lock:
            self._forget()

    def _start(self, progress: Told) -> Endpoint:
        self._forget()
        place, seconds = self.place, self._settings.server_start_seconds
        waited = False

        def on_wait() -> None:
            nonlocal waited
            self._check_wanted()
            if not waited:
                progress("another photocraft is starting the server")
            waited = True

        with place.locked(seconds, on_wait):
            self._check_wanted()
            for orphan in end_orphans(place.folder.parent):
                progress(f"ended a server that was left behind (process {orphan.server.pid})")
            self._record = ServerRecord.read(place.record)
            if self._record is None:
                self._launch(place, progress)
                return self.endpoint
            self._check_unchanged(self._record)
        progress("using the server that runs already")
        try:
            self._await_end_or_token()
        except ModelError:
            if self.runs():
                raise
            return self._start(progress)  # it went while it was looked at
        return self.endpoint

    def _check_unchanged(self, record: ServerRecord) -> None:
        """Another model in the same folder counts tokens and pictures otherwise."""
        folder = weights_folder(self._settings)
        if record.stamp not in ("", stamp_of(folder)):
            self._record = None
            raise ModelError(
                f"the weights in {folder} were changed since their server was started",
                hint=f"end the photocraft that serves them (process {record.owner.pid}), and ask"
                " again",
            )

    def _look(self) -> None:
        """``check``, given up as soon as the process is gone: one that goes down may keep the
        connection open for as long as it is waited for."""
        failed: list[Exception] = []

        def ask() -> None:
            try:
                self.check()
            except Exception as error:  # noqa: BLE001  # raised below, where it is waited for
                failed.append(error)

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        while asking.is_alive():
            asking.join(_BEAT)
            if asking.is_alive() and not self.runs():
                raise ModelError("the model server went down", hint="ask again")
        if failed:
            raise failed[0]

    def _check_wanted(self) -> None:
        if self._stopped.is_set():
            raise ModelError("the model server was stopped", hint="ask again")

    def _await_end_or_token(self) -> None:
        """A server whose engine died fails all it is asked and is gone some seconds later; its
        owner is another photocraft's where it is shared, so that is waited for."""
        deadline = time.monotonic() + (0 if self.owned else GRACE)
        while True:
            try:
                return self._look()
            except ModelError:
                if time.monotonic() > deadline or not self.runs():
                    raise
                self._check_wanted()
                time.sleep(_BEAT)

    def _forget(self) -> None:
        held, self._keeper, self._record = self._keeper, None, None
        if held is None:
            return
        _let_go(held)
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
        if note := version_note(command.program):
            progress(note)
        if path := command.endpoint.socket:
            remove_stale_socket(path)
        place.drop_scratch()
        place.rotate_logs()
        self._keeper = start_keeper(command, place, GRACE)
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
            self._check_wanted()
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


def _let_go(keeper: subprocess.Popen[bytes]) -> None:
    """It lives as long as its stdin is open."""
    assert keeper.stdin is not None
    keeper.stdin.close()


__all__ = ["ManagedServer", "ModelServer", "OutsideServer", "make_server"]

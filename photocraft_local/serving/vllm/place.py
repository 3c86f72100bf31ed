"""The files of one managed server: its folder, socket, log, record and lock.

One folder for each folder of weights, below the cache. Where that path is too long for a Unix
socket, the socket stands in a short folder that only this user may enter.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.errors import ModelError, UsageError
from photocraft_local.serving.endpoint import LONGEST_SOCKET_PATH, Endpoint
from photocraft_local.storage.atomic import write_atomically
from photocraft_local.storage.faults import mapped

_KEPT_LOGS = 5
_SOCKET_BELOW = 37  # bytes of "/" and the name that vLLM gives a socket between its processes


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """``folder`` is made at once, mode 0700."""

    folder: Path

    @classmethod
    def of(cls, cache: Path, weights: Path) -> ServerPlace:
        """Raises LibraryError if the cache cannot be written."""
        name = hashlib.sha256(os.fsencode(weights.resolve())).hexdigest()[:12]
        place = cls(cache / "server" / name)
        with mapped(place.folder):
            place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.folder.chmod(0o700)
            place.media.mkdir(mode=0o700, exist_ok=True)
        return place

    @property
    def record(self) -> Path:
        return self.folder / "server.json"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def media(self) -> Path:
        """The one folder from which the server reads pictures."""
        return self.folder / "media"

    @property
    def caches(self) -> Path:
        """Compiled kernels and the like, shared by all servers."""
        return self.folder.parent / "caches"

    @property
    def scratch(self) -> Path:
        """The server's temporary files, sockets between its processes among them; goes with it."""
        path = self.folder / "tmp"
        if len(bytes(path)) + _SOCKET_BELOW <= LONGEST_SOCKET_PATH:
            return path
        return _short_folder() / f"{self.folder.name}.tmp"

    def drop_scratch(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)

    def endpoint(self, port: int) -> Endpoint:
        """A socket for port 0, else loopback with a secret; the same after every restart.

        Raises UsageError if it cannot be.
        """
        if port:
            check_port(port)
            return Endpoint(f"http://127.0.0.1:{port}", token=self._secret())
        path = self.folder / "socket"
        if len(bytes(path)) > LONGEST_SOCKET_PATH:
            path = _short_folder() / f"{self.folder.name}.sock"
        return Endpoint.at_socket(path)

    def _secret(self) -> str:
        path = self.folder / "secret"
        with mapped(path):
            if not path.exists():
                write_atomically(path, secrets.token_urlsafe(32).encode())
            return path.read_text("ascii")

    def rotate_logs(self) -> None:
        """The last start's log becomes server.log.1, and so on; a few are kept."""
        with mapped(self.log):
            for number in range(_KEPT_LOGS - 1, 0, -1):
                older = self.log.with_name(f"{self.log.name}.{number}")
                newer = self.log.with_name(f"{self.log.name}.{number - 1}")
                newer = newer if number > 1 else self.log
                if newer.exists():
                    newer.replace(older)
            os.close(os.open(self.log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))

    @contextmanager
    def locked(self, seconds: float, on_wait: Callable[[], None]) -> Iterator[None]:
        """One start at a time. Raises ModelError if another one holds it for too long."""
        with mapped(self.folder):
            file = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._take(file, seconds, on_wait)
            yield
        finally:
            os.close(file)

    def _take(self, file: int, seconds: float, on_wait: Callable[[], None]) -> None:
        deadline = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise ModelError(
                        f"another photocraft has been starting the model server for {seconds:g} s",
                        hint=f"see {self.log}; end the other one, or wait longer:"
                        " server_start_seconds",
                    ) from None
                on_wait()
                time.sleep(0.1)
            else:
                return


def check_port(port: int) -> None:
    """Raises UsageError if something listens on this loopback port, or it may not be used."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as exc:
            if exc.errno == errno.EADDRINUSE:
                raise UsageError(
                    f"port {port} is in use by another program",
                    hint="set server_port to another number, or to 0 for a socket; a model server"
                    f" of your own is used with backbone_url = http://127.0.0.1:{port}",
                ) from exc
            raise UsageError(
                f"port {port} cannot be used: {exc.strerror}", hint="set server_port to another"
            ) from exc


def remove_stale_socket(path: Path) -> None:
    """Raises ModelError if a program still listens there, or if it is no socket at all."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ModelError(f"{path} is in the way of the server's socket", hint="move it elsewhere")
    if listens(path):
        raise ModelError(
            f"a program that photocraft did not record listens at {path}",
            hint=f"end it, or use it: backbone_url = unix:{path}",
        )
    path.unlink(missing_ok=True)


def listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


def _short_folder() -> Path:
    """Private, short, and the same for every process of this user."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    for base in filter(None, (runtime, tempfile.gettempdir(), "/tmp")):  # noqa: S108
        folder = Path(base) / f"photocraft-{os.getuid()}"
        if folder.is_absolute() and len(bytes(folder)) + 20 <= LONGEST_SOCKET_PATH:
            return _private(folder)
    raise UsageError(
        "no folder with a path short enough for a socket was found",
        hint="set XDG_RUNTIME_DIR to a short path, or server_port to a number",
    )


def _private(folder: Path) -> Path:
    """Made, or found to be a folder of this user alone: others may write in its parent."""
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        pass
    except OSError as exc:
        raise UsageError(
            f"the folder {folder} for the socket cannot be made: {exc.strerror}",
            hint="set XDG_RUNTIME_DIR to a folder of yours, or server_port to a number",
        ) from exc
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise UsageError(
            f"{folder} is not a folder of yours alone, so no socket is put there",
            hint="remove it, or set XDG_RUNTIME_DIR to a folder of yours",
        )
    return folder

"""Where a model server listens: a Unix socket or a loopback address, and nothing else.

Whatever names another machine is refused, names that a resolver could send elsewhere included.
Opens nothing; knows no server.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from photocraft_local.errors import UsageError

LONGEST_SOCKET_PATH = 107  # bytes; the kernel's own limit for a Unix socket
_FORMS = "http://127.0.0.1:8000, http://[::1]:8000 or unix:/run/user/1000/model.sock"
_SOCKET_BASE = "http://localhost"  # only the Host header of requests over a socket


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``socket`` is set for a Unix socket. ``url`` is the base of every request path, without a
    slash at its end: ``endpoint.url + "/v1/models"``. ``token`` goes with each request; it is
    never part of ``str()``."""

    url: str
    socket: Path | None = None
    token: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """From ``http://127.0.0.1:PORT``, ``http://localhost:PORT``, ``unix:/PATH`` or ``/PATH``.

        An ending ``/v1`` is taken off. Raises UsageError for all that could leave this machine.
        """
        text = text.strip()
        if text.startswith(("/", "unix:")):
            path = text.removeprefix("unix:")
            return cls.at_socket(Path(re.sub("^//(?=/)", "", path)))
        return cls(_loopback_url(text))

    @classmethod
    def at_socket(cls, path: Path) -> Endpoint:
        """Raises UsageError if the path is relative or longer than the kernel takes."""
        if not path.is_absolute():
            raise UsageError(
                f"the socket path {str(path)!r} is not absolute", hint=f"give one of {_FORMS}"
            )
        if (length := len(bytes(path))) > LONGEST_SOCKET_PATH:
            raise UsageError(
                f"the socket path {path} has {length} bytes, a Unix socket takes at most"
                f" {LONGEST_SOCKET_PATH}",
                hint="place the socket in a folder with a shorter path",
            )
        return cls(_SOCKET_BASE, path)

    def headers(self) -> dict[str, str]:
        """What every request carries."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def __str__(self) -> str:
        return f"unix:{self.socket}" if self.socket else self.url


def without_secret(url: str) -> str:
    """For messages: a name and a password that stand before the host are left out."""
    return re.sub(r"//[^/]*@", "//…@", url)


def _loopback_url(text: str) -> str:
    said = without_secret(text)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as exc:
        raise UsageError(f"backbone URL {said!r}: {exc}", hint=f"give one of {_FORMS}") from exc
    if parts.scheme != "http" or not host or parts.query or parts.fragment:
        raise UsageError(
            f"backbone URL {said!r} is not a plain http address", hint=f"give one of {_FORMS}"
        )
    if parts.username is not None or parts.path.rstrip("/") not in ("", "/v1"):
        raise UsageError(
            f"backbone URL {said!r} has more than host and port", hint=f"give one of {_FORMS}"
        )
    # A name would be looked up, and the answer decides where the pictures go.
    address = "127.0.0.1" if host == "localhost" else host
    if not _is_loopback(address):
        raise UsageError(
            f"backbone URL {said!r} is not on this machine, and photos never leave it",
            hint=f"give one of {_FORMS}",
        )
    if port is None:
        raise UsageError(f"backbone URL {said!r} has no port", hint=f"give one of {_FORMS}")
    shown = f"[{address}]" if ":" in address else address
    return f"http://{shown}:{port}"


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

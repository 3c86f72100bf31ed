"""Which addresses vectors may be sent to: this machine's own, and hosts that a setting names.

Opens nothing. A vector tells much of what a photo shows, so another machine is refused unless the
person has listed it, and then it is spoken to by https alone.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from photocraft_local.errors import UsageError

PREFIX = "qdrant:"
_FORM = "qdrant:http://127.0.0.1:6333, or qdrant:https://HOST:6333 with HOST in vector_hosts"


def permitted(setting: str, hosts: str) -> str:
    """The URL of ``vector_store = "qdrant:URL"``; ``hosts`` is the setting ``vector_hosts``.

    Raises UsageError for whatever is not on this machine and not in ``hosts``.
    """
    url = setting.removeprefix(PREFIX)
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").casefold(), parts.port or 6333
    except ValueError as exc:
        raise UsageError(f"vector_store: {exc}", hint=f"give {_FORM}") from exc
    more = parts.username is not None or parts.path.rstrip("/") or parts.query or parts.fragment
    behind = parts.netloc.rpartition("]")[2] if "[" in parts.netloc else ""
    strange = behind.rstrip("0123456789") not in ("", ":")  # words behind an IPv6 address
    if parts.scheme not in ("http", "https") or not host or more or strange:
        raise UsageError(
            "vector_store is not the plain address of a Qdrant server", hint=f"give {_FORM}"
        )
    address = "127.0.0.1" if host == "localhost" else host  # a resolver could send it elsewhere
    shown = f"[{address}]" if ":" in address else address
    if not _is_loopback(address):
        listed = {name.strip().casefold() for name in hosts.split(",")} - {""}
        # Without its brackets an IPv6 address with a port reads as another address.
        if not {host, shown, f"{shown}:{port}"} & listed:
            raise UsageError(
                f"the vector store at {host!r} is not on this machine, and vector_hosts does not"
                " name it: nothing was sent",
                hint=f"to let this machine have your vectors, set vector_hosts = '{host}'",
            )
        if parts.scheme != "https":
            raise UsageError(
                f"vectors would cross the network to {host!r} in the clear",
                hint="use https, or a tunnel to a port of this machine",
            )
    return f"{parts.scheme}://{shown}:{port}"


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

"""The air gap of a run: a network namespace with the loopback alone, and its system calls.

Reads what strace writes (``-f``, network calls) and names each line that is neither a Unix socket,
nor netlink, nor 127.0.0.1 or ::1; a line that it does not understand is named, too. Traces nothing
itself. As a program it runs a command with the loopback up: python gap.py COMMAND…
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
import struct
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

CALLS = "%network,io_uring_setup"  # a ring could carry network calls that no trace shows
# The one ring that is let pass: libuv, in uvloop, makes it for its epoll and cannot be told not to.
_EPOLLS = re.compile(
    r"io_uring_setup\(256, +<unfinished|"
    r"(io_uring_setup\(256, |<\.\.\. io_uring_setup resumed>)\{flags=(0|0x10000)\b"
)
FAMILIES = {"AF_UNIX", "AF_NETLINK", "AF_INET", "AF_INET6", "AF_UNSPEC"}
HERE = {"127.0.0.1", "::1"}
# They state what a socket is, or whom the kernel heard; nobody is reached by them.
_ASKING = {"getsockname", "getsockopt", "setsockopt"}
_WILDCARDS = {"0.0.0.0", "::"}
_LINE = re.compile(r"(?:\[pid +)?(\d+)\]? +(.*)")
_CALL = re.compile(r"(\w+)\(")
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>")
_NOISE = re.compile(r"(---|\+\+\+) .*|\?\?\?\?.*|<detached \.\.\.>.*")
_FAMILY = re.compile(r"\b([AP]F_\w+)")
_NUMBERED = re.compile(r"sa_family=(?!AF_)(\S+?)[,}]|socket(?:pair)?\((0x\w+|\d+)")
_ADDRESS = re.compile(r'inet_addr\("([^"]*)"\)|inet_pton\(AF_INET6, "([^"]*)"')
_PATH = re.compile(r'sun_path=(@?"[^"]*")')
_IFF_UP, _SIOCGIFFLAGS, _SIOCSIFFLAGS = 1, 0x8913, 0x8914


@dataclass
class Trace:
    """``strangers``: lines that show anything else. ``families`` and ``calls`` are counted."""

    calls: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    addresses: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    processes: set[int] = field(default_factory=set)
    strangers: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, lines: Iterable[str]) -> Trace:
        trace = cls()
        for line in lines:
            if line.strip() and not trace._fits(line.strip()):
                trace.strangers.append(line.strip())
        return trace

    def _fits(self, line: str) -> bool:
        found = _LINE.fullmatch(line)
        if not found:
            return False
        self.processes.add(int(found[1]))
        rest = found[2]
        if _NOISE.fullmatch(rest):
            return True
        name = _CALL.match(rest) or _RESUMED.match(rest)
        if not name:
            return False
        if rest[0] != "<":
            self.calls[name[1]] += 1
        return self._is_here(name[1], rest)

    def _is_here(self, call: str, text: str) -> bool:
        families = set(_FAMILY.findall(text))
        self.families.update(families)
        self.paths.update(_PATH.findall(text))
        addresses = {one or other for one, other in _ADDRESS.findall(text)}
        if call not in _ASKING:
            self.addresses |= addresses
        else:
            addresses -= _WILDCARDS
        raw = call == "socket" and "AF_INET" in text and "SOCK_RAW" in text
        ring = call == "io_uring_setup" and " = -1 " not in text and not _EPOLLS.match(text)
        return (
            families <= FAMILIES
            and addresses <= HERE
            and not _NUMBERED.search(text)
            and not raw
            and not ring
        )


def interfaces() -> list[str]:
    lines = Path("/proc/self/net/dev").read_text("ascii").splitlines()[2:]
    return [line.split(":")[0].strip() for line in lines]


def routes() -> list[str]:
    """The interfaces over which anything could be sent."""
    old = Path("/proc/self/net/route").read_text("ascii").splitlines()[1:]
    new = Path("/proc/self/net/ipv6_route")
    lines = new.read_text("ascii").splitlines() if new.exists() else []
    return sorted({line.split()[0] for line in old} | {line.split()[-1] for line in lines})


def loopback_up() -> None:
    """As ``ip link set lo up``, where there is no ``ip``."""
    with socket.socket() as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))[1]
        if not flags & _IFF_UP:
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def main() -> None:
    loopback_up()
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()

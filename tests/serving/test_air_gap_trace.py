"""The reader of system-call traces can fail: whatever could leave the machine is named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def gap(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    monkeypatch.syspath_prepend(str(root / "scripts"))
    from server_check import gap

    yield gap
    for name in [name for name in sys.modules if name.startswith("server_check")]:
        del sys.modules[name]


FINE = """\
101 socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 3
101 connect(3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT (No such file)
101 bind(4, {sa_family=AF_UNIX, sun_path=@"abstract"}, 12) = 0
101 socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_ROUTE) = 5
101 bind(5, {sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 0
101 sendto(5, [{nlmsg_len=20, nlmsg_type=RTM_GETADDR}, {ifa_family=AF_UNSPEC}], 20, 0, \
{sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 20
102 socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 6
102 bind(6, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("127.0.0.1")}, 16) = 0
102 getsockname(7, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("0.0.0.0")}, [16]) = 0
102 connect(8, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), \
inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28 <unfinished ...>
103 accept4(6, <unfinished ...>
102 <... connect resumed>) = 0
103 <... accept4 resumed>{sa_family=AF_INET, sin_port=htons(5), sin_addr=inet_addr("127.0.0.1")}, \
[128 => 16], SOCK_CLOEXEC) = 9
103 recvfrom(9, ""..., 4096, 0, NULL, NULL) = 12
103 sendmsg(3, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=""..., iov_len=1}]}, 0) = 1
103 socketpair(AF_UNIX, SOCK_STREAM, 0, [10, 11]) = 0
103 setsockopt(6, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
103 io_uring_setup(4, 0x7f) = -1 EPERM (Operation not permitted)
103 io_uring_setup(256, {flags=0x10000 /* IORING_SETUP_??? */, sq_thread_cpu=0}) = 4
103 io_uring_setup(256,  <unfinished ...>
103 <... io_uring_setup resumed>{flags=0x10000 /* IORING_SETUP_??? */, sq_thread_cpu=0}) = 4
103 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER} ---
101 +++ killed by SIGKILL +++
102 +++ exited with 0 +++
"""
STRANGE = """\
104 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.2")}, 16) = 0
104 connect(3, {sa_family=AF_INET, sin_addr=inet_addr("1.1.1.1")} <unfinished ...>
104 sendto(3, ""..., 9, 0, {sa_family=AF_INET, sin_addr=inet_addr("9.9.9.9")}, 16) = 9
104 bind(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("0.0.0.0")}, 16) = 0
104 bind(3, {sa_family=AF_INET6, sin6_port=htons(0), inet_pton(AF_INET6, "::", &sin6_addr)}, 28) = 0
104 connect(3, {sa_family=AF_INET6, inet_pton(AF_INET6, "2606:4700::1111", &sin6_addr)}, 28) = -1
104 connect(3, {sa_family=AF_INET, sin_addr=inet_addr("127.0.0.2")}, 16) = 0
104 sendmsg(3, {msg_name={sa_family=AF_INET, sin_addr=inet_addr("8.8.8.8")}, msg_namelen=16}, 0) = 1
104 <... recvfrom resumed>""..., 9, 0, {sa_family=AF_INET, sin_addr=inet_addr("8.8.8.8")}, 16) = 9
104 getpeername(3, {sa_family=AF_INET, sin_addr=inet_addr("192.168.0.1")}, [16]) = 0
104 socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) = 3
104 socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)) = 3
104 socket(AF_BLUETOOTH, SOCK_STREAM, 0) = 3
104 socket(0x2c, SOCK_STREAM, 0) = 3
104 connect(3, {sa_family=0x28, sa_data="..."}, 16) = 0
104 connect(3, {sa_family=AF_VSOCK, svm_cid=2, svm_port=1}, 16) = 0
104 io_uring_setup(64, {flags=0, sq_thread_cpu=0}) = 12
104 io_uring_setup(256, {flags=IORING_SETUP_SQPOLL, sq_thread_cpu=0}) = 12
104 io_uring_setup(64,  <unfinished ...>
104 <... io_uring_setup resumed>{flags=IORING_SETUP_SQPOLL, sq_thread_cpu=0}) = 4
104 something else entirely
a line of another program
"""


def test_what_stays_here_is_fine(gap: object) -> None:
    trace = gap.Trace.read(FINE.splitlines())  # type: ignore[attr-defined]
    assert trace.strangers == []
    assert trace.addresses == {"127.0.0.1", "::1"}
    assert trace.paths == {'"/var/run/nscd/socket"', '@"abstract"'}
    assert trace.processes == {101, 102, 103}
    assert (trace.calls["bind"], trace.calls["connect"]) == (3, 2)
    assert set(trace.families) == {"AF_UNIX", "AF_NETLINK", "AF_UNSPEC", "AF_INET", "AF_INET6"}


@pytest.mark.parametrize("line", STRANGE.splitlines())
def test_each_line_that_shows_anything_else_is_named(gap: object, line: str) -> None:
    lines = [*FINE.splitlines(), line]
    assert gap.Trace.read(lines).strangers == [line]  # type: ignore[attr-defined]

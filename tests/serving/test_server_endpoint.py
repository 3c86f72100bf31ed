"""A server's address: loopback or a socket, and nothing that could be another machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.errors import UsageError
from photocraft_local.serving.endpoint import LONGEST_SOCKET_PATH, Endpoint


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000"),
        ("http://localhost:1234/v1", "http://127.0.0.1:1234"),
        ("HTTP://LOCALHOST:1234", "http://127.0.0.1:1234"),
        ("http://127.9.9.9:80", "http://127.9.9.9:80"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_loopback_addresses_are_taken(text: str, url: str) -> None:
    endpoint = Endpoint.parse(text)
    assert (endpoint.url, endpoint.socket, str(endpoint)) == (url, None, url)


@pytest.mark.parametrize("text", ["/run/x.sock", "unix:/run/x.sock", "unix:///run/x.sock"])
def test_sockets_are_taken(text: str) -> None:
    endpoint = Endpoint.parse(text)
    assert endpoint.socket == Path("/run/x.sock")
    assert Endpoint.parse(str(endpoint)) == endpoint


@pytest.mark.parametrize(
    "text",
    [
        "http://10.0.0.1:8000",
        "http://0.0.0.0:8000",
        "http://192.168.1.2:8000/v1",
        "http://example.org:8000",
        "http://localhost.example.org:8000",
        "http://127.0.0.1.example.org:8000",
        "http://127.0.0.1@example.org:8000",
        "http://user:word@127.0.0.1:8000",
        "http://[::]:8000",
        "http://[fe80::1]:8000",
        "http://[::ffff:8.8.8.8]:8000",
        "http://2130706433:8000",
        "http://0x7f.1:8000",
        "https://127.0.0.1:8000",
        "ftp://127.0.0.1:21",
        "http://127.0.0.1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:8000/proxy?to=http://example.org",
        "http://127.0.0.1:8000/elsewhere",
        "127.0.0.1:8000",
        "unix:relative.sock",
        "",
    ],
)
def test_anything_else_is_refused_in_one_line_with_the_way_out(text: str) -> None:
    with pytest.raises(UsageError) as info:
        Endpoint.parse(text)
    assert "\n" not in info.value.message
    assert "127.0.0.1" in info.value.hint


@given(st.ip_addresses(v=4).filter(lambda a: not a.is_loopback), st.integers(1, 65535))
def test_no_other_address_passes(address: object, port: int) -> None:
    with pytest.raises(UsageError, match="not on this machine"):
        Endpoint.parse(f"http://{address}:{port}")


def test_a_socket_path_may_be_as_long_as_the_kernel_takes_it() -> None:
    longest = Path("/", "ä" * 10, "x" * (LONGEST_SOCKET_PATH - 22))
    assert len(bytes(longest)) == LONGEST_SOCKET_PATH
    assert Endpoint.at_socket(longest).socket == longest
    with pytest.raises(UsageError, match="108 bytes"):
        Endpoint.at_socket(longest.with_name(longest.name + "x"))


def test_the_token_goes_with_requests_and_is_never_shown() -> None:
    endpoint = Endpoint("http://127.0.0.1:8000", token="s3cret")
    assert endpoint.headers() == {"Authorization": "Bearer s3cret"}
    assert "s3cret" not in f"{endpoint} {endpoint!r}"
    assert Endpoint("http://127.0.0.1:8000").headers() == {}

"""``--backbone-url``: another machine is refused, what is no model server is told apart."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")

from played_api import Handler, Meter, Turn, answers, fails, num_pictures, played

Photocraft = Any  # conftest.py's Run


@pytest.fixture(scope="module")
def library(photocraft: Photocraft, small_library: Callable[[int], Path]) -> Iterator[Path]:
    """A library that every test must leave as it was."""
    path = small_library(3)
    before = photocraft("list", "--json", "--library", path).out
    yield path
    assert photocraft("list", "--json", "--library", path).out == before
    assert not list(path.rglob("traces/*"))


NOT_HERE = {
    "http://10.0.0.1:8000": "not on this machine",
    "http://[fe80::1]:8000": "not on this machine",
    "http://localhost.example.org:8000": "not on this machine",
    "http://me:secret@127.0.0.1:8000": "more than host and port",
    "http://secret@example.org:8000": "more than host and port",
    "https://127.0.0.1:8000": "not a plain http address",
    "http://127.0.0.1": "has no port",
    "http://127.0.0.1:8000/v1/chat/completions": "more than host and port",
    "unix:model.sock": "is not absolute",
    f"unix:/{'x' * 120}": "a Unix socket takes at most 107",
}


@pytest.mark.parametrize("url", NOT_HERE)
def test_an_address_elsewhere_is_refused_before_anything_is_asked(
    photocraft: Photocraft, library: Path, url: str
) -> None:
    done = photocraft("ask", "dogs", "--library", library, "--backbone-url", url)
    assert (done.code, done.out) == (2, "")
    assert NOT_HERE[url] in done.error
    assert "secret" not in done.err


def test_no_command_shows_a_password(photocraft: Photocraft, tmp_path: Path) -> None:
    env = {"PHOTOCRAFT_BACKBONE_URL": "http://me:secret@127.0.0.1:9"}
    for words in (
        ("serve-model",),
        ("doctor",),
        ("doctor", "--json"),
        ("ask", "dogs", "--backbone", "transformers"),
    ):
        done = photocraft(*words, "--library", tmp_path, env=env)
        assert done.code != 0
        assert "secret" not in done.out + done.err


def page(text: str, kind: str = "text/html", code: int = 200) -> Turn:
    def turn(handler: Handler, body: dict[str, Any]) -> None:
        handler.send_response(code)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(text)))
        if code == 302:
            handler.send_header("Location", "http://10.0.0.1/")
        handler.end_headers()
        handler.wfile.write(text.encode())

    return turn


def blind(handler: Handler, body: dict[str, Any]) -> None:
    refusal = fails(400, "tiny is not a multimodal model")
    (refusal if num_pictures(body) else Meter())(handler, body)


CHATS: dict[str, tuple[Turn, str, str]] = {
    "a web page": (page("<html>hello"), "no JSON for /v1/chat/completions", "OpenAI chat API"),
    "nothing": (page(""), "no JSON for /v1/chat/completions", "OpenAI chat API"),
    "a redirect": (page("", code=302), "code 302", "log"),
    "no chat": (page("nope", "text/plain", 404), "code 404", "log"),
    "another API": (answers(200, {"response": "hello"}), "a reply without choices", "OpenAI"),
    "a key": (answers(401, {"error": "Unauthorized"}), "code 401", "serve the model without one"),
    "a dead engine": (fails(500, "EngineDeadError"), "EngineDeadError", "its own log"),
    "a model without eyes": (blind, "takes no pictures: 400 tiny is not", "Qwen-VL"),
}


EVERYWHERE = ("a web page", "a key", "a model without eyes")  # one check serves all commands


@pytest.mark.parametrize("name", CHATS)
def test_a_server_that_does_not_chat_as_it_should(
    photocraft: Photocraft, library: Path, name: str
) -> None:
    turn, said, way = CHATS[name]
    with played(meter=turn, always=turn) as server:
        url = str(server.endpoint)
        done = photocraft("ask", "dogs", "--library", library, "--backbone-url", url)
        told = _doctor(photocraft, url) if name in EVERYWHERE else said
    assert (done.code, done.out) == (6, ""), done.err
    assert url in done.error
    assert said in done.error
    assert way in done.error
    assert said in told


def _doctor(photocraft: Photocraft, url: str) -> str:
    done = photocraft("doctor", "--json", "--backbone-url", url)
    (row,) = [row for row in done.json_lines() if row["check"] == "model server"]
    assert (done.code, row["state"]) == (1, "fault")
    return str(row["detail"])


@contextmanager
def answering(data: bytes) -> Iterator[str]:
    """What answers everything with these bytes, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def run() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(0.2)
                    try:
                        connection.recv(65536)
                        connection.sendall(data)
                    except OSError:
                        pass

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
MODELS: dict[str, tuple[bytes, str]] = {
    "no HTTP": (b"SSH-2.0-OpenSSH_9.6\r\n", "no HTTP reply"),
    "nothing at all": (b"", "no HTTP reply"),
    "half a list": (HEAD + b'99\r\n\r\n{"data": [{', "no HTTP reply"),
    "a list of nothing": (HEAD + b'12\r\n\r\n{"data": []}', "no list of models"),
    "another list": (HEAD + b'18\r\n\r\n{"models": ["a"]}\n', "no list of models"),
    "an error": (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "code 404 for /v1/models"),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_no_model_server_at_all(photocraft: Photocraft, library: Path, name: str) -> None:
    data, said = MODELS[name]
    with answering(data) as url:
        done = photocraft("ask", "dogs", "--library", library, "--backbone-url", url)
    assert (done.code, done.out) == (6, ""), done.err
    assert said in done.error
    assert "is it the model server's port?" in done.error


def dead(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


SOCKETS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "absent": (lambda path: None, "No such file", "start it"),
    "dead": (dead, "Connection refused", "start it"),
    "a file": (lambda path: path.write_text(""), "that is no socket", "--uds"),
    "a folder": (lambda path: path.mkdir(), "that is no socket", "--uds"),
}


@pytest.mark.parametrize("name", SOCKETS)
def test_a_socket_at_which_nobody_listens(
    photocraft: Photocraft, library: Path, tmp_path: Path, name: str
) -> None:
    make, said, way = SOCKETS[name]
    path = tmp_path / "s"
    make(path)
    done = photocraft("ask", "dogs", "--library", library, "--backbone-url", f"unix:{path}")
    assert (done.code, done.out) == (6, ""), done.err
    assert f"unix:{path}: {said}" in done.error
    assert way in done.error


def test_a_port_at_which_nobody_listens(photocraft: Photocraft, library: Path) -> None:
    for url in ("http://127.0.0.1:9", "http://[::1]:9"):
        done = photocraft("ask", "dogs", "--library", library, "--backbone-url", url)
        assert done.code == 6
        assert f"no model server answers at {url}" in done.error

"""A server of vLLM's chat API that plays what a test tells it, over a Unix socket or loopback.

It keeps each request; a turn is a reply, a status with a body, raw bytes, or a mishap.
"""

from __future__ import annotations

import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from photocraft_local.serving.endpoint import Endpoint

Turn = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PlayedServer

    def setup(self) -> None:
        super().setup()
        self.server.connections.append(self.connection)

    def do_GET(self) -> None:
        self.send_json(200, {"object": "list", "data": [{"id": "tiny", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.seen.append(body)
            self.server.headers.append(dict(self.headers))
            turn = self.server.turns.pop(0) if self.server.turns else self.server.always
        turn(self, body)

    def send_json(self, status: int, value: object) -> None:
        self.send_body(status, json.dumps(value).encode())

    def send_body(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def address_string(self) -> str:
        return "a test"

    def log_message(self, format: str, *args: object) -> None:
        pass


class PlayedServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, turns: tuple[Turn, ...], always: Turn, path: Path | None) -> None:
        self.turns, self.always = list(turns), always
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections: list[socket.socket] = []
        self.lock = threading.Lock()
        self.over = threading.Event()
        if path is None:
            super().__init__(("127.0.0.1", 0), Handler)
            self.endpoint = Endpoint.parse(f"http://127.0.0.1:{self.server_address[1]}")
            return
        self.address_family = socket.AF_UNIX
        self.allow_reuse_address = False
        super().__init__(str(path), Handler)  # type: ignore[arg-type]
        self.endpoint = Endpoint.at_socket(path)


@contextmanager
def played(
    *turns: Turn, always: Turn | None = None, at: Path | None = None
) -> Iterator[PlayedServer]:
    """Runs until the block ends; ``always`` answers once the ``turns`` are over."""
    server = PlayedServer(turns, always or says("ok"), at)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        for connection in server.connections:  # idle ones too, as when a process dies
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        thread.join()
        server.server_close()
        if at:
            at.unlink(missing_ok=True)


def completion(text: str | None, finish: str = "stop", **message: object) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {
            "prompt_tokens": 90,
            "completion_tokens": 7,
            "total_tokens": 97,
            "prompt_tokens_details": {"cached_tokens": 64},
        },
    }


def says(text: str | None, finish: str = "stop", **message: object) -> Turn:
    return lambda handler, body: handler.send_json(200, completion(text, finish, **message))


def answers(status: int, body: object) -> Turn:
    """A status with JSON, or with a text as it is."""
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return lambda handler, _: handler.send_body(status, raw)


def fails(status: int, message: str) -> Turn:
    return answers(status, {"error": {"message": message, "type": "BadRequestError"}})


def hangs(handler: Handler, body: dict[str, Any]) -> None:
    """No reply until the server is stopped."""
    handler.server.over.wait(300)
    handler.hang_up()


def hangs_up(handler: Handler, body: dict[str, Any]) -> None:
    handler.hang_up()


def breaks_off(handler: Handler, body: dict[str, Any]) -> None:
    """Half of a reply that was announced whole."""
    raw = json.dumps(completion("a long reply")).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw[: len(raw) // 2])
    handler.wfile.flush()
    handler.hang_up()


def drips(handler: Handler, body: dict[str, Any]) -> None:
    """A byte now and then, so that a limit on each read alone would never end."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    try:
        while not handler.server.over.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()
    except OSError:
        handler.close_connection = True


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)

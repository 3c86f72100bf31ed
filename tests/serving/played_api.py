"""A server of vLLM's chat API that plays what a test tells it, over a Unix socket or loopback.

It keeps each request; a turn is a reply, a status with a body, raw bytes, or a mishap. What asks
only whether it lives, and what it makes of a picture, is answered by a meter and takes no turn.
"""

from __future__ import annotations

import base64
import io
import json
import re
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from PIL import Image

from photocraft_local.imaging.geometry import smart_resize
from photocraft_local.serving.endpoint import Endpoint

Turn = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PlayedServer

    def setup(self) -> None:
        super().setup()
        self.server.connections.append(self.connection)

    def do_GET(self) -> None:
        if self.path in self.server.pages:
            return self.send_body(200, self.server.pages[self.path].encode())
        model = {"id": "tiny", "object": "model"} | self.server.about
        return self.send_json(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.seen.append(body)
            self.server.headers.append(dict(self.headers))
            if is_question_of_health(body):
                turn = self.server.meter
            else:
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

    def __init__(
        self,
        turns: tuple[Turn, ...],
        always: Turn,
        path: Path | None,
        meter: Turn,
        about: dict[str, Any],
    ) -> None:
        self.turns, self.always, self.meter, self.about = list(turns), always, meter, about
        self.pages: dict[str, str] = {}  # what GET gives beside the list of models
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
    *turns: Turn,
    always: Turn | None = None,
    at: Path | None = None,
    meter: Turn | None = None,
    **about: Any,
) -> Iterator[PlayedServer]:
    """Runs until the block ends; ``always`` answers once the ``turns`` are over. ``about`` is what
    it says of its model beside its window."""
    about = {"max_model_len": 65536} | about
    server = PlayedServer(turns, always or says("ok"), at, meter or Meter(), about)
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


def is_question_of_health(body: dict[str, Any]) -> bool:
    content = body.get("messages", [{"content": ""}])[-1]["content"]
    return isinstance(content, list) and content[-1] == {"type": "text", "text": "."}


def num_pictures(body: dict[str, Any]) -> int:
    """Of a whole prompt, those that are only named included."""
    contents = [one["content"] for one in body["messages"]]
    lists = [content for content in contents if isinstance(content, list)]
    return sum(part["type"] == "image_url" for content in lists for part in content)


class Meter:
    """Counts pictures as vLLM does for a family with tokens of ``factor`` pixels a side."""

    def __init__(
        self,
        factor: int = 32,
        *,
        max_pixels: int = 16384 * 32**2,
        keeps: bool = True,
        usage: bool = True,
    ) -> None:
        self.factor, self.max_pixels, self.keeps, self.usage = factor, max_pixels, keeps, usage
        self.kept: dict[str, int] = {}

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        tokens = 21
        for part in body["messages"][-1]["content"]:
            if part["type"] != "image_url":
                continue
            name = part.get("uuid", "")
            if part["image_url"] is None and not (self.keeps and name in self.kept):
                message = "Cache miss for image at index 0 but data is not provided."
                return fails(400, message)(handler, body)
            if part["image_url"]:
                self.kept[name] = self.tokens(part["image_url"]["url"]) + 2
            tokens += self.kept[name]
        reply = completion("x", "length")
        reply["usage"] = {"prompt_tokens": tokens, "completion_tokens": 1} if self.usage else None
        return handler.send_json(200, reply)

    def tokens(self, url: str) -> int:
        data = base64.b64decode(re.sub("^data:image/png;base64,", "", url))
        width, height = Image.open(io.BytesIO(data)).size
        least = (4 if self.factor == 28 else 64) * self.factor**2
        height, width = smart_resize(height, width, self.factor, least, self.max_pixels)
        return height * width // self.factor**2


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

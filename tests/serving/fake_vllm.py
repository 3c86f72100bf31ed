"""Plays ``vllm serve`` for tests: same options, same log lines, same pages, no model.

    python fake_vllm.py serve FOLDER --uds PATH | --port N [ANY OTHER FLAGS OF vllm serve]

FAKE_VLLM says how it behaves, words apart by spaces: ``crash=TEXT`` (with _ for blanks), ``slow=S``
before it listens, ``silent`` (chat never answers), ``broken`` (chat answers 500), ``stubborn``
(SIGTERM is ignored), ``engine`` (a child process in its group, which ignores SIGTERM), ``tidier``
(a child that is called as Python's helper and tidies up when the others are gone).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

BEHAVIOUR = dict(word.partition("=")[::2] for word in os.environ.get("FAKE_VLLM", "").split())
CHILD = "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
TIDIER = """
import os, sys, time
while os.getppid() == int(sys.argv[2]):
    time.sleep(0.02)
time.sleep(0.2)
open(sys.argv[3], "w").close()
"""


def log(text: str) -> None:
    print(f"(APIServer pid={os.getpid()}) INFO 11-30 15:55:04 [x.py:1] {text}", flush=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    window: ClassVar[int] = 0
    key: ClassVar[str] = os.environ.get("VLLM_API_KEY", "")

    def do_GET(self) -> None:
        if self.path == "/health":
            self.send(200, {})
        elif not self.allowed():
            self.send(401, {"error": "Unauthorized"})
        elif self.path == "/v1/models":
            model = {"id": "photocraft", "max_model_len": self.window}
            self.send(200, {"object": "list", "data": [model]})
        else:
            self.send(404, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.allowed():
            return self.send(401, {"error": "Unauthorized"})
        if "silent" in BEHAVIOUR:
            time.sleep(600)
        if "broken" in BEHAVIOUR:
            return self.send(500, {"error": "EngineDeadError"})
        message = {"role": "assistant", "content": "x" * body["max_tokens"]}
        choice = {"index": 0, "message": message, "finish_reason": "length"}
        return self.send(200, {"model": body["model"], "choices": [choice]})

    def allowed(self) -> bool:
        return not self.key or self.headers.get("Authorization") == f"Bearer {self.key}"

    def send(self, code: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "client"

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, uds: str, port: int) -> None:
        if uds:
            self.address_family = socket.AF_UNIX
        super().__init__(("127.0.0.1", port), Handler, bind_and_activate=False)
        self.server_address = uds or ("127.0.0.1", port)  # type: ignore[assignment]
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_activate()


def main() -> int:
    words = sys.argv[1:]
    assert words[0] == "serve"
    options = dict(zip(words[2:], [*words[3:], ""], strict=True))
    log("non-default args: {'model_tag': ...}")
    log("Resolved architecture: Qwen3VLForConditionalGeneration")
    if "crash" in BEHAVIOUR:
        print(BEHAVIOUR["crash"].replace("_", " "), flush=True)
        return 1
    if "engine" in BEHAVIOUR:
        subprocess.Popen([sys.executable, "-c", CHILD, words[1]])
    if "tidier" in BEHAVIOUR:
        tidied = options["--allowed-local-media-path"] + "/tidied"
        own = ["resource_tracker", str(os.getpid()), tidied]
        subprocess.Popen([sys.executable, "-c", TIDIER, *own])
    tempfile.mkdtemp(prefix="of-fake-")  # vLLM leaves sockets where it is killed
    log("Starting to load model")
    print("Loading safetensors checkpoint shards: 50% Completed | 1/2 [00:00<00:00]", end="\r")
    time.sleep(float(BEHAVIOUR.get("slow", 0)))
    Handler.window = int(options["--max-model-len"])
    server = Server(options.get("--uds", ""), int(options.get("--port", 0)))
    term = signal.SIG_IGN if "stubborn" in BEHAVIOUR else stop_later(server)
    signal.signal(signal.SIGTERM, term)
    log("Application startup complete.")
    server.serve_forever(poll_interval=0.05)
    return 0


def stop_later(server: Server) -> Any:
    return lambda *_: threading.Thread(target=server.shutdown).start()


if __name__ == "__main__":
    sys.exit(main())

"""examples/foreign_loop.py as a person runs it: by rules, and with a model server on loopback."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

PHOTOS, WINDOW, REPLY = 90, 8192, 1500


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("album")
    for number in range(PHOTOS):
        picture = Image.new("RGB", (32, 24), (number, 90, 160))
        exif = picture.getexif()
        exif[0x0110] = "Camera"
        exif.get_ifd(0x8769)[0x9003] = f"{2017 + number % 5}:06:11 12:00:00"
        exif.get_ifd(0x8769)[0xA434] = "A lens of 24 to 70 mm, f/2.8"
        name = f"trip {number:03d}.jpg" if number % 10 == 2 else f"IMG_{number:03d}.jpg"
        picture.save(folder / name, exif=exif)
    return folder


@pytest.fixture(scope="module")
def folder_module(root: Path) -> ModuleType:
    spec = spec_from_file_location("example_folder", root / "examples" / "folder.py")
    assert spec
    assert spec.loader
    module = sys.modules["example_folder"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(root: Path, *arguments: object) -> tuple[int, list[str], dict[str, Any]]:
    command = [sys.executable, str(root / "examples" / "foreign_loop.py"), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.stdout, done.stderr
    *files, last = done.stdout.splitlines()
    return done.returncode, files, json.loads(last)


def of_2019(album: Path) -> list[str]:
    numbers = [int(file.stem[-3:]) for file in album.iterdir()]
    files = dict(zip(numbers, album.iterdir(), strict=True))
    return sorted(files[number].name for number in numbers if number % 5 == 2)


def test_a_hundred_turns_by_rules_that_read_the_messages_alone(root: Path, album: Path) -> None:
    code, files, run_of = run(root, album, 2019)
    assert (code, files) == (0, of_2019(album))
    assert run_of["turns"] >= 100
    assert run_of["largest"] <= 0.8 * WINDOW
    assert run_of["unbounded"] > 2 * WINDOW
    assert run_of["compactions"] >= 3


def test_the_same_loop_without_the_memory_loses_what_it_had_found(root: Path, album: Path) -> None:
    code, files, run_of = run(root, album, 2019, "--forget", "--turns", 150)
    assert (code, files, run_of["answer"]) == (1, [], None)
    assert run_of["turns"] == 150
    assert run_of["largest"] <= WINDOW - REPLY
    assert run(root, album, 2019, "--forget", "--window", 40_000)[1] == of_2019(album)


@pytest.fixture
def server(folder_module: ModuleType) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The rules behind the API of a model server; it writes a summary where no tools are given."""
    asked: list[dict[str, Any]] = []
    words = dict.fromkeys(("decisions", "ruled_out", "sub_goal", "next_action"), "check each")

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            message = {"role": "assistant", "content": json.dumps(words)}
            if "tools" in body:
                message = folder_module.Rules().reply(body["messages"], body["tools"])
            told = json.dumps({"choices": [{"message": message}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_: Any) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=running.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}", asked
    running.shutdown()
    thread.join()
    running.server_close()


def test_a_model_behind_a_server_writes_the_words_of_its_summaries(
    root: Path, album: Path, server: tuple[str, list[dict[str, Any]]]
) -> None:
    url, asked = server
    code, files, run_of = run(root, album, 2019, "--url", url, "--model", "m")
    assert (code, files) == (0, of_2019(album))
    written = [body for body in asked if "tools" not in body]
    assert len(written) == run_of["compactions"] >= 3
    assert "JSON object" in written[0]["messages"][-1]["content"]
    assert "check each" in json.dumps(asked[-1]["messages"])
    assert {body["model"] for body in asked} == {"m"}


def test_only_this_machine_is_asked(folder_module: ModuleType) -> None:
    for url in ("http://example.org", "https://127.0.0.1", "file:///x"):
        with pytest.raises(SystemExit, match="not on this machine"):
            folder_module.Server(url, "m")


def test_the_loop_has_thirty_lines_and_its_parts_know_nothing_of_this_package(root: Path) -> None:
    tree = ast.parse((root / "examples" / "foreign_loop.py").read_text("utf-8"))
    (loop,) = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert loop.end_lineno
    assert loop.end_lineno - loop.lineno + 1 <= 34
    assert "photocraft_local" not in (root / "examples" / "folder.py").read_text("utf-8")

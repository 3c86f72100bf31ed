"""``photocraft ask`` while its model server fails: an exit code, one line with the way out, a trace
that can be resumed, and Ctrl-C at any moment."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")

from PIL import Image
from played_api import (
    Handler,
    PlayedServer,
    Turn,
    answers,
    breaks_off,
    drips,
    fails,
    hangs,
    hangs_up,
    played,
    says,
    wait_for,
)

Photocraft = Callable[..., Any]  # conftest.py's Run

ALL = {"where": "width > 0", "save_as": "all"}
PROOF = {"constraint": "everything", "where": "width > 0"}
HALF = answers(200, '{"id": "chatcmpl-1", "choices": [{"mess')
NUM_PHOTOS = 24
LARGE = (9000, 6000)  # pixels: above what any prompt may show


@pytest.fixture(scope="module")
def library(
    photocraft: Photocraft, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Small photos, and one that is larger than every limit."""
    photos = tmp_path_factory.mktemp("photos")
    files = sorted((shared / "data/captioned/coco").glob("*.jpg"))[: NUM_PHOTOS - 1]
    for file in files:
        (photos / file.name).write_bytes(file.read_bytes())
    with Image.open(files[0]) as photo:
        photo.convert("RGB").resize(LARGE).save(photos / "large.jpg", quality=60)
    path = photos.parent / "failing-server-library"
    assert photocraft("index", photos, "--library", path).code == 0
    return path


@pytest.fixture
def traces(library: Path) -> Path:
    """Empty at the start, so that a test knows its own."""
    folder = library / "traces"
    for old in folder.glob("*"):
        old.unlink()
    return folder


def call(name: str, **arguments: object) -> Turn:
    return says(json.dumps({"thought": "So.", "call": {"name": name, "arguments": arguments}}))


def finds(handler: Handler, body: dict[str, Any]) -> None:
    """Saves all photos as a set, then submits it."""
    said = [one for one in body["messages"] if one["role"] == "assistant"]
    if not said:
        return call("filter_photos", **ALL)(handler, body)
    return call("submit_answer", set="all", evidence=[PROOF])(handler, body)


def words(server: PlayedServer, library: Path, *more: str) -> list[str]:
    url = f"unix:{server.endpoint.socket}"
    return ["--library", str(library), "--backbone", "vllm", "--backbone-url", url, *more]


def chats(server: PlayedServer) -> list[dict[str, Any]]:
    """Requests of the episode itself."""
    return [body for body in server.seen if "response_format" in body]


def cut(traces: Path, steps: int) -> dict[str, Any]:
    """The one trace: whole, not answered, with its good steps."""
    (path,) = traces.glob("*.json")
    record: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert record["status"] == "interrupted"
    assert len(record["steps"]) == steps
    assert record["answer"] is None
    return record


def goes_on(photocraft: Photocraft, library: Path, at: Path) -> None:
    """The next command takes the episode up, with a server that works, and finishes it."""
    with played(always=finds, at=at) as server:
        done = photocraft("resume", "--json", *words(server, library))
        assert done.code == 0, done.err
        assert len(done.json()["photos"]) == NUM_PHOTOS
        assert len(chats(server)) == 1  # what was done is not done again


MISHAPS: dict[str, tuple[Turn, str]] = {
    "500": (fails(500, "EngineDeadError"), "answered 500: EngineDeadError"),
    "half a JSON": (HALF, "sent no whole JSON"),
    "half a reply": (breaks_off, "cannot be reached"),
    "no reply": (hangs_up, "cannot be reached"),
    "hangs": (hangs, "gave no reply within 2 s"),
    "drips": (drips, "gave no reply within 2 s"),
    "another's reply": (answers(200, [1, 2]), "is no chat completion"),
}


@pytest.mark.parametrize("name", MISHAPS)
def test_a_failure_in_mid_episode_ends_in_one_line_and_is_resumed(
    photocraft: Photocraft, library: Path, traces: Path, tmp_path: Path, name: str
) -> None:
    mishap, said = MISHAPS[name]
    patience = {"PHOTOCRAFT_REPLY_SECONDS": "2"}
    with played(finds, always=mishap, at=tmp_path / "s") as server:
        done = photocraft("ask", "everything", *words(server, library, "--quiet"), env=patience)
    assert (done.code, done.out) == (6, ""), done.err
    assert said in done.error
    cut(traces, steps=1)
    goes_on(photocraft, library, tmp_path / "s")


@pytest.mark.parametrize("name", ["500", "half a JSON", "hangs", "drips", "no reply"])
def test_ctrl_c_works_while_the_server_fails(
    photocraft: Photocraft,
    library: Path,
    traces: Path,
    shared_cache: Path,
    tmp_path: Path,
    name: str,
) -> None:
    def slow(handler: Handler, body: dict[str, Any]) -> None:
        """The mishap while the person presses Ctrl-C."""
        handler.server.over.wait(300)
        MISHAPS[name][0](handler, body)

    kept = {k: v for k, v in os.environ.items() if "PHOTOCRAFT_" not in k}
    kept |= {"PHOTOCRAFT_CACHE": str(shared_cache), "PHOTOCRAFT_ENCODER": "null"}
    waits = MISHAPS[name][0] if name in ("hangs", "drips") else slow
    with played(finds, always=waits, at=tmp_path / "s") as server:
        command = [sys.executable, "-m", "photocraft_local", "ask", "everything"]
        with subprocess.Popen(
            [*command, *words(server, library, "--quiet")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=kept,
        ) as running:
            wait_for(lambda: len(chats(server)) == 2)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=30)  # the server has not answered yet
    assert (running.returncode, out) == (130, "")
    assert err.splitlines()[0].startswith("error: interrupted")
    assert len(err.splitlines()) == 2
    cut(traces, steps=1)
    goes_on(photocraft, library, tmp_path / "s")


def sent_pictures(body: dict[str, Any]) -> list[tuple[int, int]]:
    """Sizes of the pictures of a request that came with their bytes."""
    parts = [
        p for one in body["messages"] if isinstance(one["content"], list) for p in one["content"]
    ]
    urls = [p["image_url"]["url"] for p in parts if p["type"] == "image_url" and p["image_url"]]
    data = [base64.b64decode(re.sub("^data:image/[a-z]+;base64,", "", url)) for url in urls]
    return [Image.open(io.BytesIO(one)).size for one in data]


def test_20_pictures_in_one_call_arrive_within_the_limits(
    photocraft: Photocraft, library: Path, traces: Path, tmp_path: Path
) -> None:
    listed = photocraft("list", "--json", "--library", library).json_lines()
    names = [photo["uid"] for photo in listed]
    turns = (finds, call("view_photos", photos=names[:20]))
    with played(*turns, always=finds, at=tmp_path / "s") as server:
        done = photocraft("ask", "everything", "--json", *words(server, library))
        assert done.code == 0, done.err
        (shown,) = [sizes for body in chats(server)[-1:] if (sizes := sent_pictures(body))]
    assert 1 <= len(shown) <= 20
    assert all(width * height <= 4096 * 32**2 for width, height in shown)
    assert all(width % 32 == height % 32 == 0 for width, height in shown)


def test_a_picture_larger_than_every_limit_is_shown_within_them(
    photocraft: Photocraft, library: Path, traces: Path, tmp_path: Path
) -> None:
    photos = photocraft("list", "--json", "--library", library).json_lines()
    (large,) = [photo["uid"] for photo in photos if photo["width"] == LARGE[0]]
    whole = {"x": 0, "y": 0, "width": LARGE[0], "height": LARGE[1]}
    turns = (
        finds,
        call("fetch_image", uid=large, detail="high"),
        call("zoom_in", uid=large, **whole),
    )
    with played(*turns, always=finds, at=tmp_path / "s") as server:
        done = photocraft("ask", "everything", "--json", *words(server, library))
        assert done.code == 0, done.err
        shown = [size for body in chats(server) for size in sent_pictures(body)]
    assert len(shown) == 2
    assert all(width * height <= 4096 * 32**2 for width, height in shown)
    assert all(width % 32 == height % 32 == 0 for width, height in shown)


def test_a_picture_of_the_question_beyond_the_decoders_limit_is_refused(
    photocraft: Photocraft, library: Path, traces: Path, tmp_path: Path
) -> None:
    with Image.new("L", (1500, 1000)) as picture:
        picture.save(tmp_path / "large.png")
    with played(always=finds, at=tmp_path / "s") as server:
        done = photocraft(
            "ask",
            "like this",
            "--image",
            tmp_path / "large.png",
            *words(server, library, "--quiet"),
            env={"PHOTOCRAFT_MAX_PIXELS": "1000000"},
        )
    assert (done.code, done.out) != (0, ""), done.err
    assert "large.png" in done.error
    assert not chats(server)


def test_a_prompt_beyond_the_window_ends_in_an_answer_that_says_so(
    photocraft: Photocraft, library: Path, traces: Path, tmp_path: Path
) -> None:
    message = "This model's maximum context length is 8192 tokens. However, you requested more."
    with played(finds, always=fails(400, message), at=tmp_path / "s") as server:
        done = photocraft("ask", "everything", "--json", *words(server, library))
    assert "Traceback" not in done.err
    assert done.code == 1, done.err
    assert "window" in done.json()["reason"] or "long" in done.json()["reason"]

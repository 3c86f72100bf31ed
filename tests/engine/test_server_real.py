"""The real ``vllm serve`` as photocraft starts it: derived flags, a picture, kill −9, the end."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from photocraft_local.serving.vllm import processes
from photocraft_local.serving.vllm.health import open_client
from photocraft_local.serving.vllm.server import ManagedServer
from photocraft_local.settings import Settings


def ask(server: ManagedServer, *content: dict[str, Any]) -> tuple[int, Any]:
    body = {
        "model": server.model,
        "messages": [{"role": "user", "content": list(content)}],
        "max_tokens": 4,
        "temperature": 0,
    }
    with open_client(server.endpoint, 120) as client:
        reply = client.post("/v1/chat/completions", json=body)
    return reply.status_code, reply.json()


def picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def test_a_real_server_serves_is_killed_comes_back_and_leaves_nothing(
    checkpoint: Callable[..., Path],
    photos: list[Image.Image],
    shared_cache: Path,
    tmp_path: Path,
) -> None:
    caches = shared_cache / "engine" / "server"  # what is compiled once is kept between runs
    caches.mkdir(parents=True, exist_ok=True)
    (tmp_path / "c/server").mkdir(parents=True)
    (tmp_path / "c/server/caches").symlink_to(caches)
    settings = Settings(cache=tmp_path / "c", weights=checkpoint("qwen3-vl"))
    told: list[str] = []
    with ManagedServer(settings) as server:
        socket = server.ensure(told.append).socket
        assert socket
        assert stat.S_IMODE(socket.lstat().st_mode) == 0o600
        assert "reading the weights (1 of 1 files)" in told
        assert any(stage.startswith("a cache for ") for stage in told)
        see_pictures(server, photos[0], tmp_path)
        first = server.process
        os.kill(first.pid, signal.SIGKILL)
        assert processes.wait_until(lambda: not server.runs(), 60)
        assert processes.wait_until(lambda: not processes.group_of(first), 60)
        server.ensure()
        assert server.process != first
        see_pictures(server, photos[0], tmp_path)
        last = server.process
        said = server.place.log.read_text("utf-8")
        assert "Resolved architecture" in said
        assert "private.png" not in said  # what was asked stays out of the log
        assert "photos.example" not in said
    assert not processes.group_of(last)
    assert not [*Path.home().rglob("*")]
    assert sorted(path.name for path in server.place.folder.iterdir()) == [
        "lock",
        "media",
        "server.log",
        "server.log.1",
    ]


def see_pictures(server: ManagedServer, photo: Image.Image, elsewhere: Path) -> None:
    limits = server.limits
    assert server.media
    file = server.media / "large.png"
    photo.resize((2400, 1800)).save(file)
    code, reply = ask(server, picture(f"file://{file}"))
    assert code == 200, reply
    tokens = reply["usage"]["prompt_tokens"]
    assert 0.9 * limits.picture_tokens < tokens < limits.picture_tokens + 40
    code, again = ask(server, picture(f"file://{file}"))
    assert again["choices"][0]["message"] == reply["choices"][0]["message"]
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] > tokens - 64
    photo.save(elsewhere / "private.png")
    for url in (f"file://{elsewhere}/private.png", "http://photos.example/a.png"):
        code, refused = ask(server, picture(url))
        assert code == 400, refused
    code, refused = ask(server, *[picture(f"file://{file}")] * (limits.pictures + 1))
    assert code == 400
    assert f"At most {limits.pictures} image" in str(refused)

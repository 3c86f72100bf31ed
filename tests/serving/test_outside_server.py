"""A server that the person runs: pictures are measured, doubts are told, limits are learned."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("httpx", reason="CPU EXTRA ABSENT: no client for a server")

from played_api import (
    Handler,
    Meter,
    PlayedServer,
    Turn,
    answers,
    fails,
    num_pictures,
    played,
    says,
)
from server_parts import weights

from photocraft_local.errors import ModelError, TooManyPictures
from photocraft_local.imaging.pictures import png_bytes
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.model import QwenModel
from photocraft_local.serving.tokens import PictureRule
from photocraft_local.serving.vllm.client import ChatClient
from photocraft_local.serving.vllm.outside import OutsideServer
from photocraft_local.settings import Settings

RULE = PictureRule(32, 64 * 32**2, 1024 * 32**2)


def outside(server: PlayedServer, tmp_path: Path, **more: Any) -> OutsideServer:
    settings = Settings(cache=tmp_path / "cache", backbone_url="unix:/unused", **more)
    return OutsideServer(settings, server.endpoint)


@pytest.mark.parametrize("factor", [28, 32])
def test_the_pixels_of_a_token_are_measured_whatever_the_model_is_called(
    tmp_path: Path, factor: int
) -> None:
    meter = Meter(factor)
    with played(at=tmp_path / "s", meter=meter, id="qwen3-or-not") as server:
        found = outside(server, tmp_path)
        limits = found.limits
        assert (limits.factor, limits.window, limits.picture_tokens) == (factor, 65536, 1024)
        assert (limits.min_pixels, limits.max_pixels) == (64 * factor**2, 1024 * factor**2)
        assert limits.by_name
        assert found.notes == ()
        asked = len(server.seen)
        assert asked <= 4
        assert (found.limits, found.model) == (limits, "qwen3-or-not")
        assert len(server.seen) == asked  # once a process


def test_a_server_that_would_scale_our_pictures_gets_smaller_ones(tmp_path: Path) -> None:
    meter = Meter(28, max_pixels=400 * 28**2)
    with played(at=tmp_path / "s", meter=meter) as server:
        found = outside(server, tmp_path)
        assert (found.limits.factor, found.limits.picture_tokens) == (28, 400)
        assert "scales pictures above 400 tokens" in found.notes[0]
        rule = PictureRule(28, found.limits.min_pixels, found.limits.max_pixels)
        assert rule.tokens(4000, 3000) <= 400


def counts_otherwise(handler: Handler, body: dict[str, Any]) -> None:
    """Like a family that spends 256 tokens on any picture."""
    usage = {"prompt_tokens": 10 + 256 * num_pictures(body), "completion_tokens": 1}
    message = {"message": {"content": "x"}, "finish_reason": "length"}
    handler.send_json(200, {"choices": [message], "usage": usage})


@pytest.mark.parametrize(
    ("meter", "notes"),
    [
        (Meter(usage=False), ["states no window", "states no token counts", "no pictures by name"]),
        (counts_otherwise, ["states no window", "take 256 tokens, as in neither"]),
        (Meter(keeps=False), ["states no window", "no pictures by name"]),
    ],
)
def test_what_cannot_be_measured_is_told_once_and_never_guessed(
    tmp_path: Path, meter: Turn, notes: list[str]
) -> None:
    told: list[str] = []
    with played(at=tmp_path / "s", meter=meter, max_model_len=None) as server:
        found = outside(server, tmp_path)
        found.ensure(told.append)
        found.ensure(told.append)
    assert len(told) == len(notes), told
    assert [said for said, note in zip(notes, told, strict=True) if said not in note] == []
    assert found.limits.window == 8192


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "At most 0 image(s) may be provided in one prompt."),
        (400, "tiny is not a multimodal model"),
        (500, "image input is not supported"),
    ],
)
def test_a_model_that_takes_no_pictures_is_refused_with_its_own_words(
    tmp_path: Path, status: int, said: str
) -> None:
    def text_only(handler: Handler, body: dict[str, Any]) -> None:
        (fails(status, said) if num_pictures(body) else Meter())(handler, body)

    with (
        played(at=tmp_path / "s", meter=text_only) as server,
        pytest.raises(ModelError, match="takes no pictures") as info,
    ):
        outside(server, tmp_path).ensure()
    assert said in info.value.message
    assert "Qwen-VL" in info.value.hint


def test_a_picture_that_is_refused_for_its_size_makes_them_smaller(tmp_path: Path) -> None:
    def small_only(handler: Handler, body: dict[str, Any]) -> None:
        long = len(str(body)) > 2500
        (fails(413, "request entity too large") if long else Meter())(handler, body)

    with played(at=tmp_path / "s", meter=small_only) as server:
        found = outside(server, tmp_path)
        assert found.limits.picture_tokens == 256
        assert "is refused (413" in found.notes[0]


def test_a_folder_of_another_family_than_the_server_is_found_out(tmp_path: Path) -> None:
    folder = weights(tmp_path / "w", "qwen2_5_vl")
    with played(at=tmp_path / "s", meter=Meter(32), max_model_len=4096) as server:
        with pytest.raises(ModelError, match="32 pixels a token") as info:
            outside(server, tmp_path, weights=folder).ensure()
        assert "leave weights out" in info.value.hint
    with played(at=tmp_path / "s", meter=Meter(28), max_model_len=4096) as server:
        assert outside(server, tmp_path, weights=folder).limits.factor == 28


@pytest.mark.parametrize(
    "reply",
    [answers(200, "<html>"), answers(200, {"choices": []}), answers(404, "no chat here")],
)
def test_what_does_not_chat_is_no_model_server(tmp_path: Path, reply: Turn) -> None:
    with (
        played(at=tmp_path / "s", meter=reply) as server,
        pytest.raises(ModelError, match="is no model server that works"),
    ):
        outside(server, tmp_path).ensure()


def at_most(limit: int) -> Turn:
    """vLLM's own refusal of a prompt with more pictures."""

    def turn(handler: Handler, body: dict[str, Any]) -> None:
        if num_pictures(body) > limit:
            message = f"At most {limit} image(s) may be provided in one prompt."
            return fails(400, message)(handler, body)
        return says("fine")(handler, body)

    return turn


def question(pictures: int) -> list[dict[str, Any]]:
    """With the pictures in a later turn: those of the question itself are never left out."""
    parts = [{"type": "image_url", "image_url": {"url": grey(n)}} for n in range(pictures)]
    return [
        {"role": "user", "content": "Which is darkest?"},
        {"role": "assistant", "content": "Show them."},
        {"role": "user", "content": [*parts, {"type": "text", "text": "These."}]},
    ]


def grey(shade: int) -> str:
    data = png_bytes(np.full((256, 256, 3), shade, dtype=np.uint8))
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


@contextmanager
def connected(always: Turn, path: Path) -> Iterator[tuple[PlayedServer, ChatClient]]:
    with (
        played(always=always, at=path) as server,
        ChatClient(server.endpoint, "tiny", tries=1) as client,
    ):
        yield server, client


def test_a_limit_of_pictures_is_learned_from_the_refusal_and_kept(tmp_path: Path) -> None:
    store = PictureStore(RULE)
    with connected(at_most(3), tmp_path / "s") as (server, client):
        model = QwenModel(client, store, name="m", max_pictures=24)
        assert model.complete(question(5), ()).text == "fine"
        assert (store.most, len(server.seen)) == (3, 2)
        later = QwenModel(client, store, name="m", max_pictures=24)
        assert later.complete(question(9), ()).text == "fine"
        assert len(server.seen) == 3


def test_a_server_that_takes_none_ends_the_question(tmp_path: Path) -> None:
    with connected(at_most(0), tmp_path / "s") as (_, client):
        model = QwenModel(client, PictureStore(RULE), name="m", max_pictures=24)
        with pytest.raises(TooManyPictures, match="refuses so many pictures"):
            model.complete(question(1), ())


def test_without_names_each_turn_sends_its_pictures(tmp_path: Path) -> None:
    store = PictureStore(RULE, by_name=False)
    with connected(says("ok"), tmp_path / "s") as (server, client):
        model = QwenModel(client, store, name="m")
        for _ in range(2):
            model.complete(question(2), ())
        sent = [part for body in server.seen for part in body["messages"][-1]["content"][:2]]
    assert len(sent) == 4
    assert all(part["image_url"] for part in sent)

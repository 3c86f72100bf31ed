"""``ask --image`` with a model: it sees the pictures, zooms, and searches by the part."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("httpx", reason="the served backbone needs the cpu or gpu extra")

from PIL import Image
from played_api import Handler, PlayedServer, Turn, hangs_up, played, says

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.cli.main import main
from photocraft_local.errors import AgentError, ServerLost
from photocraft_local.memory.context import Context, picture_parts
from photocraft_local.records import Observation, Step, ToolCall
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.conversation import conversation
from photocraft_local.serving.tokens import PictureRule
from photocraft_local.serving.tool_calls import Form

FACTORS = (28, 32)  # of the families; which one the server has cannot be told here


def call(name: str, **arguments: object) -> str:
    return json.dumps({"thought": "So.", "call": {"name": name, "arguments": arguments}})


def plays(*calls: str, lost_after: int = 99) -> Turn:
    """One call a turn, by how many the conversation holds; anything else is a health check."""

    def turn(handler: Handler, body: dict[str, Any]) -> None:
        if "response_format" not in body:
            return says("ok")(handler, body)
        said = sum(one["role"] == "assistant" for one in body["messages"])
        if said >= lost_after:
            return hangs_up(handler, body)
        return says(calls[min(said, len(calls) - 1)])(handler, body)

    return turn


def chats(server: PlayedServer) -> list[list[dict[str, Any]]]:
    return [body["messages"] for body in server.seen if "response_format" in body]


def pictures_in(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    parts = [] if isinstance(content, str) else content
    return [part for part in parts if part["type"] == "image_url"]


def block(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The question block: the only one before the turns that may hold pictures."""
    return next(one for one in messages if "The question, as JSON" in str(one["content"]))


def opened(part: dict[str, Any]) -> Image.Image:
    data = part["image_url"]["url"].partition("base64,")[2]
    return Image.open(io.BytesIO(base64.b64decode(data)))


@pytest.fixture(scope="module")
def photos(shared: Path) -> list[Path]:
    return sorted((shared / "data/captioned/coco").glob("*.jpg"))[:5]


@pytest.fixture(scope="module")
def library(
    photos: list[Path], shared_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    album = tmp_path_factory.mktemp("photos")
    for file in photos:
        (album / file.name).write_bytes(file.read_bytes())
    folder = tmp_path_factory.mktemp("asked") / "library"
    with PhotoSearch(Settings(library=folder, cache=shared_cache, encoder="labels")) as search:
        search.index(album)
    return folder


@pytest.fixture
def asked(library: Path, shared_cache: Path) -> Callable[..., PhotoSearch]:
    def search(server: PlayedServer, **more: Any) -> PhotoSearch:
        url = f"unix:{server.endpoint.socket}"
        usual: dict[str, Any] = {"library": library, "cache": shared_cache, "encoder": "labels"}
        return PhotoSearch(Settings(**(usual | {"backbone_url": url} | more)))

    return search


NONE = call("submit_answer", photos=[], evidence=[], reason="there is none")


def test_the_model_sees_the_pictures_upright_below_the_question(
    asked: Callable[..., PhotoSearch], photos: list[Path], shared: Path, tmp_path: Path
) -> None:
    turned = shared / "data/odd/orient_6.jpg"
    look = call("filter_photos", where="width > 0")
    with (
        played(always=plays(look, NONE), at=tmp_path / "s") as server,
        asked(server) as search,
    ):
        answer = search.ask("what is this", pictures=[photos[0], turned])
        first, second = chats(server)
    content = block(first)["content"]
    labels = [part["text"] for part in content if part["type"] == "text"]
    assert labels[1:] == ["q1:", "q2:"]
    assert "stand below: q1, q2" in labels[0]
    one, two = pictures_in(block(first))
    sides = {*opened(one).size, *opened(two).size}
    assert any(all(side % factor == 0 for side in sides) for factor in FACTORS)
    with Image.open(photos[0]) as original:
        small = original.convert("RGB").resize(opened(one).size)
    assert np.abs(np.asarray(small, float) - np.asarray(opened(one), float)).mean() < 8
    width, height = opened(two).size
    assert width < height  # 64 x 48 as stored, to be turned once
    # The second turn names both: the prefix stays, and no byte goes twice.
    named = pictures_in(block(second))
    assert [part["uuid"] for part in named] == [one["uuid"], two["uuid"]]
    assert [part["image_url"] for part in named] == [None, None]
    assert answer.trajectory
    text = answer.trajectory.read_text("utf-8")
    assert "base64," not in text
    usages = [step.usage for step in trajectory.load(answer.trajectory).steps]
    assert [(one.pictures, one.pictures_sent) for one in usages] == [(2, 2), (2, 0)]
    assert answer.usage
    assert (answer.usage.pictures, answer.usage.pictures_sent) == (4, 2)


def test_a_cut_question_goes_on_with_the_same_bytes(
    asked: Callable[..., PhotoSearch], photos: list[Path], tmp_path: Path
) -> None:
    own = tmp_path / "own.jpg"
    own.write_bytes(photos[1].read_bytes())
    part = call("zoom_in", uid="q1", x=10, y=10, width=100, height=100)
    again = call("zoom_in", uid="q1.c1", x=10, y=10, width=50, height=50)
    calls = (part, again, call("fetch_image", uid="q1.c2"), NONE)
    with (
        played(always=plays(*calls, lost_after=2), at=tmp_path / "s") as server,
        asked(server) as search,
        pytest.raises(ServerLost),
    ):
        search.ask("what is this", pictures=[own])
    cut = chats(server)[-1]
    script = plays(*calls)
    with played(always=script, at=tmp_path / "s") as server, asked(server) as search:
        answer = search.resume()
        resumed = chats(server)[0]
    assert [step.call.name for step in answer.steps][-2:] == ["fetch_image", "submit_answer"]
    assert answer.reason == "there is none"
    names = [
        [part["uuid"] for one in prompt for part in pictures_in(one)] for prompt in (cut, resumed)
    ]
    assert names[0] == names[1]  # names are made of the bytes
    assert len(names[0]) == 3
    own.write_bytes(photos[2].read_bytes())
    trace = answer.trajectory
    with (
        played(always=script, at=tmp_path / "s") as server,
        asked(server) as search,
        pytest.raises(AgentError, match="has changed"),
    ):
        search.resume(trace)


def test_what_is_in_a_part_of_the_picture_is_found_in_the_library(
    asked: Callable[..., PhotoSearch], photos: list[Path], tmp_path: Path
) -> None:
    """Another copy of a photo, smaller and as PNG; a part of it is cut out and searched for."""
    with Image.open(photos[3]) as original:
        own = original.convert("RGB").resize((original.width * 3 // 4, original.height * 3 // 4))
    own.save(tmp_path / "own.png")
    box = {"x": 5, "y": 5, "width": own.width - 10, "height": own.height - 10}
    outside = box | {"width": own.width}
    script: list[str] = [
        call("zoom_in", uid="q1", **outside),
        call("zoom_in", uid="q1", **box),
        call("search_photos", like=["q1.c1"], top_k=1, save_as="found"),
        call("view_photos", photos=["q1.c1"], detail="small"),
        call(
            "submit_answer",
            set="found",
            evidence=[{"constraint": "the same as this", "seen": "the same scene"}],
        ),
    ]
    with played(always=plays(*script), at=tmp_path / "s") as server, asked(server) as search:
        answer = search.ask("where else is this", pictures=[tmp_path / "own.png"])
    assert [Path(one.photo.paths[0].decode()).name for one in answer.photos] == [photos[3].name]
    refused, zoomed, found = (step.observation for step in answer.steps[:3])
    assert f"{own.width} pixels wide and {own.height} pixels high" in refused.error
    assert zoomed.data["uid"] == "q1.c1"
    assert found.data["count"] == 1


def test_words_alone_answer_what_a_sign_says(
    library: Path, photos: list[Path], shared_cache: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))  # else a gazetteer is built
    script = plays(
        call("zoom_in", uid="q1", x=0, y=0, width=60, height=40),
        call("submit_answer", photos=[], evidence=[], text="It says STOP."),
    )
    with played(always=script, at=tmp_path / "s") as server:
        given = [
            "ask", "what does the sign say", "--image", str(photos[0]),
            "--library", str(library), "--backbone-url", f"unix:{server.endpoint.socket}",
        ]  # fmt: skip
        assert main([*given, "--quiet"]) == 0
        assert capsys.readouterr().out.splitlines() == ["It says STOP."]
        assert main([*given, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["text"], told["reason"], told["photos"]) == ("It says STOP.", "", [])
        assert told["usage"]["pictures"] == 3  # q1 twice, its part once
        assert main([*given, "--explain"]) == 0
        notes = capsys.readouterr().err
        assert "no photo of the library is given to prove it" in notes
        assert "64 from the cache" in notes or "128 from the cache" in notes
        assert "pictures: 3 in prompts, 2 of them sent" in notes
        photo_question = ["ask", "dogs", *given[2:], "--quiet"]
        assert main(photo_question) == 1
        assert "because" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("own", "turns", "most", "kept"),
    [
        (2, 3, 0, "q1 q2 p1 p2 p3"),
        (2, 3, 5, "q1 q2 p1 p2 p3"),
        (2, 3, 4, "q1 q2 p2 p3"),
        (2, 3, 3, "q1 q2 p3"),
        (2, 3, 2, "q1 p3"),
        (2, 0, 2, "q1 q2"),
        (2, 0, 1, "q1"),
        (2, 3, 1, "p3"),
    ],
)
def test_the_question_s_pictures_are_the_last_to_give_way(
    own: int, turns: int, most: int, kept: str
) -> None:
    def shown(*names: str) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for name in names:
            picture = io.BytesIO()
            Image.new("RGB", (64, 64), (ord(name[0]), 9 * int(name[1]), 0)).save(picture, "PNG")
            made += picture_parts(name, picture.getvalue())
        return made

    context = Context("S", ["card", shown(*(f"q{n}" for n in range(1, own + 1)))])
    for number in range(1, turns + 1):
        (_, part) = shown(f"p{number}")
        source = base64.b64decode(part["image_url"]["url"].partition("base64,")[2])
        seen = Observation("fetch_image", images=((f"p{number}", source),))
        context.add_turn(Step(number, ToolCall("fetch_image"), seen), "")
    store = PictureStore(PictureRule(32, 4 * 32**2, 1024 * 32**2))
    talk = conversation(context.messages(), [], Form.JSON, store, most=most)
    left = []
    for message in talk.messages:
        for label, part in pairwise(message["content"] if pictures_in(message) else ()):
            if part["type"] == "image_url":
                left.append(label["text"].removesuffix(":"))
    assert " ".join(left) == kept

"""``photocraft ask`` with a served model: whole episodes on real photos over a played server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="the served backbone needs the cpu or gpu extra")

from played_api import Handler, PlayedServer, fails, hangs_up, num_pictures, played, says

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.app.backbones import chosen
from photocraft_local.errors import PhotocraftError, ServerLost, SettingsError
from photocraft_local.serving.qwen.conversation import num_gone

PROOF = {"constraint": "everything", "where": "width > 0"}
ALL = {"where": "width > 0", "save_as": "all"}


def call(name: str, **arguments: object) -> str:
    return json.dumps({"thought": "So.", "call": {"name": name, "arguments": arguments}})


def finds_all(handler: Handler, body: dict[str, Any]) -> None:
    """Saves all photos as a set, looks at one, submits the set."""
    said = [one for one in body["messages"] if one["role"] == "assistant"]
    if not said:
        return says(call("filter_photos", **ALL))(handler, body)
    if len(said) == 1:
        result = json.loads(body["messages"][-1]["content"].split("\n")[1])
        uid = result["result"]["photos"][0]["uid"]
        return says(call("view_photos", photos=[uid]))(handler, body)
    return says(call("submit_answer", set="all", evidence=[PROOF]))(handler, body)


@pytest.fixture(scope="module")
def library(small_library: Callable[[int], Path]) -> Path:
    return small_library(5)


@pytest.fixture
def asked(
    library: Path, shared_cache: Path, tmp_path: Path
) -> Iterator[Callable[..., PhotoSearch]]:
    def search(server: PlayedServer, **more: Any) -> PhotoSearch:
        url = f"unix:{server.endpoint.socket}"
        usual = {"library": library, "cache": shared_cache, "encoder": "null"}
        return PhotoSearch(Settings(**(usual | {"backbone_url": url} | more)))

    return search


def test_a_question_is_answered_by_the_served_model(
    asked: Callable[..., PhotoSearch], tmp_path: Path
) -> None:
    with played(always=finds_all, at=tmp_path / "s") as server, asked(server) as search:
        answer = search.ask("everything please, as you like it")
        assert len(answer) == 5
        assert [step.call.name for step in answer.steps] == [
            "filter_photos",
            "view_photos",
            "submit_answer",
        ]
        assert answer.plan
        assert answer.plan.words == "everything please, as you like it"
        assert answer.trajectory
        record = trajectory.load(answer.trajectory)
        assert (record.backbone, record.status) == ("vllm tiny", "answered")
        assert record.steps[0].usage.prompt == 90
        search.ask("and again")
        chats = [body for body in server.seen if "response_format" in body]
        assert len(chats) == 6
        assert chats[3]["messages"][0] == chats[0]["messages"][0]
        assert chats[3]["messages"][1] == chats[0]["messages"][1]


def test_four_episodes_at_once_share_one_server(
    asked: Callable[..., PhotoSearch], tmp_path: Path
) -> None:
    def episode(server: PlayedServer, number: int) -> int:
        with asked(server) as search:
            return len(search.ask(f"question {number}"))

    with played(always=finds_all, at=tmp_path / "s") as server, ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda n: episode(server, n), range(4))) == [5] * 4


def test_a_server_that_goes_away_for_a_moment_costs_nothing(
    asked: Callable[..., PhotoSearch], tmp_path: Path
) -> None:
    turns = (finds_all, hangs_up, fails(500, "busy"))
    with played(*turns, always=finds_all, at=tmp_path / "s") as server, asked(server) as search:
        assert len(search.ask("everything")) == 5


def test_an_episode_that_lost_its_server_is_resumed_with_another(
    asked: Callable[..., PhotoSearch], tmp_path: Path
) -> None:
    turns = (finds_all, finds_all)
    with (
        played(*turns, always=hangs_up, at=tmp_path / "s") as server,
        asked(server) as search,
        pytest.raises(ServerLost),
    ):
        search.ask("everything")
    with played(always=finds_all, at=tmp_path / "s") as server, asked(server) as search:
        answer = search.resume()
        assert len(answer) == 5
        chats = [body for body in server.seen if "response_format" in body]
        assert len(chats) == 1  # the two steps that were taken are not taken again


def test_a_limit_of_pictures_that_nobody_stated_is_learned_on_the_way(
    asked: Callable[..., PhotoSearch], tmp_path: Path
) -> None:
    refused: list[int] = []

    def views_all(handler: Handler, body: dict[str, Any]) -> None:
        if (pictures := num_pictures(body)) > 2:
            refused.append(pictures)
            message = "At most 2 image(s) may be provided in one prompt."
            return fails(400, message)(handler, body)
        said = [one for one in body["messages"] if one["role"] == "assistant"]
        if len(said) != 1:
            return finds_all(handler, body)
        result = json.loads(body["messages"][-1]["content"].split("\n")[1])
        uids = [photo["uid"] for photo in result["result"]["photos"]]
        return says(call("view_photos", photos=uids, detail="large"))(handler, body)

    with played(always=views_all, at=tmp_path / "s") as server, asked(server) as search:
        assert len(search.ask("everything")) == 5
        assert refused == [5]
        assert len(search.ask("and again")) == 5
        assert refused == [5]  # once for all questions


def test_a_model_that_talks_nonsense_ends_in_an_honest_abstention(
    asked: Callable[..., PhotoSearch], tmp_path: Path
) -> None:
    with played(always=says("purple monkey"), at=tmp_path / "s") as server, asked(server) as search:
        answer = search.ask("a dog")
        assert len(answer) == 0
        assert "no usable answer" in answer.reason


def test_no_server_says_so_before_any_step(
    asked: Callable[..., PhotoSearch], tmp_path: Path
) -> None:
    with played(at=tmp_path / "s") as server:
        pass
    with asked(server) as search, pytest.raises(PhotocraftError) as caught:
        search.ask("a dog")
    assert str(tmp_path / "s") in caught.value.message
    assert caught.value.hint


def test_who_drives_is_said_by_the_settings(tmp_path: Path) -> None:
    assert chosen(Settings()) == "planner"
    assert chosen(Settings(weights=tmp_path)) == "vllm"
    assert chosen(Settings(backbone_url="unix:/s")) == "vllm"
    assert chosen(Settings(backbone_url="unix:/s", backbone="planner")) == "planner"
    with pytest.raises(SettingsError, match="no backbone 'gpt'"):
        chosen(Settings(backbone="gpt"))


def test_vllm_without_a_model_says_what_is_missing(library: Path, shared_cache: Path) -> None:
    settings = Settings(library=library, cache=shared_cache, encoder="null", backbone="vllm")
    with PhotoSearch(settings) as search, pytest.raises(SettingsError, match="weights"):
        search.ask("a dog")


def test_pictures_beyond_the_limit_go_oldest_first_and_many_at_once() -> None:
    assert [num_gone(num, 0) for num in (0, 99)] == [0, 0]
    gone = [num_gone(num, 8) for num in range(30)]
    assert all(num - out <= 8 for num, out in enumerate(gone))
    assert sorted(set(gone)) == [0, 4, 8, 12, 16, 20, 24]
    assert gone == sorted(gone)
    assert num_gone(3, 1) == 2

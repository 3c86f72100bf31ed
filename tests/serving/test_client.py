"""The client against a server that plays vLLM's API: replies, mishaps, what goes out again."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="the served backbone needs the cpu or gpu extra")

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

from photocraft_local.errors import (
    MissingExtraError,
    ModelError,
    PictureUnknown,
    PromptTooLong,
    ReplyLate,
    ServerLost,
)
from photocraft_local.records import Usage
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.qwen.completion import ChatRequest, Completion, completion_of
from photocraft_local.serving.vllm.client import ChatClient

ASK = ChatRequest([{"role": "user", "content": "a bus?"}])
Served = Callable[..., tuple[PlayedServer, ChatClient]]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with ExitStack() as stack:

        def start(
            *turns: Turn, tcp: bool = False, **options: Any
        ) -> tuple[PlayedServer, ChatClient]:
            always = options.pop("always", None)
            at = None if tcp else tmp_path / "model.sock"
            server = stack.enter_context(played(*turns, always=always, at=at))
            return server, stack.enter_context(ChatClient(server.endpoint, "tiny", **options))

        yield start


@pytest.mark.parametrize("tcp", [False, True])
def test_a_request_arrives_whole_and_its_reply_comes_with_usage(served: Served, tcp: bool) -> None:
    server, client = served(says("a bus", reasoning_content="red"), tcp=tcp)
    schema = {"type": "object"}
    reply = client.chat(ChatRequest(ASK.messages, schema, 99, 0.5, 7, {"cache_salt": "s1"}))
    assert reply == Completion("a bus", "red", "stop", (), Usage(90, 64, 7))
    (body,) = server.seen
    assert body == {
        "model": "tiny",
        "messages": ASK.messages,
        "max_tokens": 99,
        "temperature": 0.5,
        "seed": 7,
        "stream": False,
        "cache_salt": "s1",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, "strict": True},
        },
    }
    assert client.models() == ["tiny"]


def test_half_of_a_reply_with_a_schema_is_kept_free_of_reasoning(served: Served) -> None:
    server, client = served(thinks=True)
    client.chat(ChatRequest(ASK.messages, {"type": "object"}, 99))
    client.chat(ChatRequest(ASK.messages, {"type": "object"}, extra={"thinking_token_budget": 5}))
    client.chat(ASK)
    budgets = [body.get("thinking_token_budget") for body in server.seen]
    assert budgets == [49, 5, None]


def test_many_episodes_share_one_client_at_the_same_time(served: Served) -> None:
    all_here = threading.Barrier(8)

    def meets(handler: Any, body: dict[str, Any]) -> None:
        all_here.wait(10)
        says(body["messages"][0]["content"])(handler, body)

    _, client = served(always=meets)
    asked = [ChatRequest([{"role": "user", "content": f"question {n}"}]) for n in range(8)]
    with ThreadPoolExecutor(8) as episodes:
        replies = list(episodes.map(client.chat, asked))
    assert [reply.text for reply in replies] == [f"question {n}" for n in range(8)]


def test_the_async_face_works_in_the_callers_own_loop(served: Served) -> None:
    _, client = served()

    async def both() -> list[Completion]:
        return await asyncio.gather(client.achat(ASK), client.achat(ASK))

    assert [reply.text for reply in asyncio.run(both())] == ["ok", "ok"]
    assert client.chat(ASK).text == "ok"


@pytest.mark.parametrize(
    "mishap",
    [
        fails(500, "EngineCore encountered an issue"),
        fails(503, "starting"),
        fails(429, "busy"),
        hangs_up,
        breaks_off,
        answers(200, '{"choices": [{"mess'),
    ],
)
def test_a_request_without_a_whole_reply_goes_out_again(served: Served, mishap: Turn) -> None:
    server, client = served(mishap, mishap, says("at last"))
    assert client.chat(ASK).text == "at last"
    assert len(server.seen) == 3
    assert server.seen[0] == server.seen[1] == server.seen[2]


@pytest.mark.parametrize(
    ("mishap", "said", "num_sent"),
    [
        (fails(500, "EngineCore died"), "answered 500: EngineCore died", 2),
        (answers(502, "<html>bad gateway</html>"), "answered 502: <html>bad gateway", 2),
        (hangs_up, "cannot be reached", 2),
        (breaks_off, "cannot be reached", 2),
        (answers(200, '{"choices": [{"mess'), 'no whole JSON: {"choices"', 2),
        (answers(200, "[]"), "no chat completion", 1),
        (answers(200, {"choices": []}), "no chat completion", 1),
        (answers(200, {"choices": [{"message": {"content": 5}}]}), "no chat completion", 1),
        (answers(200, {"error": {"message": "no"}}), "no chat completion", 1),
        (fails(400, "Invalid grammar"), "answered 400: Invalid grammar", 1),
        (answers(404, {"object": "error", "message": "no model tiny"}), "404: no model tiny", 1),
        (answers(401, {"error": "Unauthorized"}), "answered 401", 1),
        (answers(302, "elsewhere"), "answered 302", 1),
    ],
)
def test_each_failure_is_an_error_that_says_what_happened(
    served: Served, mishap: Turn, said: str, num_sent: int
) -> None:
    server, client = served(always=mishap, tries=2)
    with pytest.raises(ModelError) as caught:
        client.chat(ASK)
    assert said in caught.value.message
    assert caught.value.hint
    assert len(server.seen) == num_sent
    assert len(caught.value.message) < 500


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("This model's maximum context length is 8192 tokens. However, …", PromptTooLong),
        ("The decoder prompt is longer than the maximum model length of 4096.", PromptTooLong),
        ("Cache miss for image at index 0 but data is not provided.", PictureUnknown),
    ],
)
def test_what_the_caller_can_mend_has_a_class_of_its_own(
    served: Served, message: str, error: type[ModelError]
) -> None:
    server, client = served(always=fails(400, message))
    with pytest.raises(error):
        client.chat(ASK)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, …", 8192),
        ("The decoder prompt is longer than the maximum model length of 4096.", 4096),
        ("Too long: 90000 tokens; the maximum context length was passed.", 0),
    ],
)
def test_a_refused_prompt_tells_the_window_that_the_server_states(
    served: Served, message: str, window: int
) -> None:
    _, client = served(always=fails(400, message))
    with pytest.raises(PromptTooLong) as caught:
        client.chat(ASK)
    assert caught.value.window == window


@pytest.mark.parametrize("mishap", [hangs, drips])
def test_a_reply_that_does_not_come_in_time_is_given_up_once(served: Served, mishap: Turn) -> None:
    server, client = served(always=mishap, seconds=0.4)
    start = time.monotonic()
    with pytest.raises(ModelError, match=r"no reply within 0\.4 s"):
        client.chat(ASK)
    assert time.monotonic() - start < 60  # what hangs does so for longer
    assert len(server.seen) == 1
    assert client.models() == ["tiny"]


@pytest.mark.parametrize("mishap", [hangs, drips, fails(500, "down")])
def test_a_reply_that_the_question_has_no_time_for_is_given_up_and_no_fault_of_the_server(
    served: Served, mishap: Turn
) -> None:
    lost: list[int] = []
    server, client = served(always=mishap, tries=1000, on_lost=lambda: lost.append(1))
    with pytest.raises(ReplyLate, match=r"no reply within the 0\.4 s"):
        client.chat(replace(ASK, seconds=0.4))
    num_seen, num_lost = len(server.seen), len(lost)
    assert client.models() == ["tiny"]
    assert len(server.seen) == num_seen  # nothing goes on behind it
    assert len(lost) == num_lost


def test_after_a_request_ran_out_of_time_the_server_is_looked_after(served: Served) -> None:
    """It may hang for good: the next question must not wait as long for nothing."""
    seen: list[int] = []
    server, client = served(hangs, seconds=0.5, on_lost=lambda: seen.append(len(server.seen)))
    with pytest.raises(ModelError, match="no reply within"):
        client.chat(ASK)
    assert seen == []
    assert [client.chat(ASK).text, client.chat(ASK).text] == ["ok", "ok"]
    assert seen == [1]


def test_a_server_that_is_gone_with_its_connections_open_is_not_waited_for(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """vLLM, told to stop while it computes, waits for clients that wait for its dead engine."""
    monkeypatch.setattr("photocraft_local.serving.vllm.client._LOOK_SECONDS", 0.05)
    gone, recovered = threading.Event(), []

    def goes(handler: Handler, body: dict[str, Any]) -> None:
        gone.set()
        hangs(handler, body)

    def recover() -> None:
        recovered.append(gone.is_set())
        gone.clear()

    _, client = served(goes, on_lost=recover, lives=lambda: not gone.is_set())
    assert client.chat(ASK).text == "ok"
    assert recovered == [True]


def test_no_server_is_one_error_and_whoever_manages_it_may_start_it(tmp_path: Path) -> None:
    path = tmp_path / "model.sock"
    endpoint = Endpoint.at_socket(path)
    with ChatClient(endpoint, "tiny", tries=2) as client, pytest.raises(ServerLost) as caught:
        client.chat(ASK)
    assert str(path) in caught.value.message
    assert "serve-model" in caught.value.hint
    with ExitStack() as stack:

        def restart() -> None:
            stack.enter_context(played(says("here again"), at=path))

        client = stack.enter_context(ChatClient(endpoint, "tiny", tries=2, on_lost=restart))
        assert client.chat(ASK).text == "here again"


def test_an_episode_outlives_a_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "model.sock"
    with ExitStack() as stack:
        first = ExitStack()
        server = first.enter_context(played(says("one"), at=path))
        restarts: list[int] = []

        def restart() -> None:
            restarts.append(1)
            stack.enter_context(played(says("two"), at=path))

        client = stack.enter_context(ChatClient(server.endpoint, "tiny", on_lost=restart))
        assert client.chat(ASK).text == "one"
        first.close()
        assert client.chat(ASK).text == "two"
        assert restarts == [1]


def test_a_server_that_answers_500_is_looked_after_before_it_is_asked_again(
    served: Served,
) -> None:
    """vLLM says so for some seconds after its engine died; a hasty retry gets the same."""
    seen: list[int] = []
    turns = (fails(500, "EngineCore encountered an issue"), fails(429, "busy"), says("there"))
    server, client = served(*turns, on_lost=lambda: seen.append(len(server.seen)))
    assert client.chat(ASK).text == "there"
    assert seen == [1]  # once, and not for a server that is only busy


def test_a_failed_restart_is_the_error(tmp_path: Path) -> None:
    def restart() -> None:
        raise ModelError("the model server did not start", hint="see the log")

    endpoint = Endpoint.at_socket(tmp_path / "model.sock")
    with (
        ChatClient(endpoint, "tiny", on_lost=restart) as client,
        pytest.raises(ModelError, match="did not start"),
    ):
        client.chat(ASK)


def test_the_environments_proxies_are_not_asked(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    _, client = served(tcp=True)
    assert client.chat(ASK).text == "ok"


def test_a_token_goes_along_and_stays_out_of_messages(tmp_path: Path) -> None:
    with played(fails(400, "no"), at=tmp_path / "s") as server:
        endpoint = Endpoint(server.endpoint.url, server.endpoint.socket, token="s3cret")
        with ChatClient(endpoint, "tiny") as client, pytest.raises(ModelError) as caught:
            client.chat(ASK)
        assert server.headers[0]["Authorization"] == "Bearer s3cret"
        assert "s3cret" not in repr(caught.value)


def test_a_server_that_comes_back_may_want_another_token(tmp_path: Path) -> None:
    with played(hangs_up, says("here"), at=tmp_path / "s") as server:
        old = Endpoint(server.endpoint.url, server.endpoint.socket, token="old")
        new = Endpoint(server.endpoint.url, server.endpoint.socket, token="new")
        with ChatClient(old, "tiny", on_lost=lambda: new) as client:
            assert client.chat(ASK).text == "here"
        assert [one["Authorization"] for one in server.headers] == ["Bearer old", "Bearer new"]


def test_closing_leaves_no_thread_and_the_client_can_be_used_again(served: Served) -> None:
    _, client = served()
    client.chat(ASK)
    client.close()
    client.close()
    wait_for(lambda: not [t for t in threading.enumerate() if t.name == "backbone client"])
    assert client.chat(ASK).text == "ok"


def test_closing_ends_what_other_threads_wait_for(served: Served) -> None:
    """Not only their connections: a request that went out again would never come back."""
    server, client = served(always=hangs)
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(client.chat, ASK) for _ in range(2)]
        wait_for(lambda: len(server.seen) == 2)
        client.close()
        for each in asked:
            assert isinstance(each.exception(timeout=20), ModelError)
    wait_for(lambda: not [t for t in threading.enumerate() if t.name == "backbone client"])


def test_without_httpx_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "httpx", None)
    client = ChatClient(Endpoint.at_socket(tmp_path / "s"), "tiny")
    with pytest.raises(MissingExtraError, match="httpx"):
        client.chat(ASK)


def test_a_reply_in_parts_or_without_usage_is_read() -> None:
    parts = [{"type": "text", "text": "a "}, {"type": "text", "text": "bus"}]
    choice = {"message": {"content": parts, "tool_calls": None}, "finish_reason": None}
    assert completion_of({"choices": [choice]}) == Completion("a bus", finish="")

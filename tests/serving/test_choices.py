"""How likely each of a few replies is: asked of a played server, by token ids or by words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="the client needs the cpu or gpu extra")

from played_api import Handler, completion, fails, hangs_up, played, says

from photocraft_local.errors import ModelError, ServerLost
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.vllm.client import ChatClient

ASKED = ChatRequest([{"role": "user", "content": "a dog?"}], choices=("yes", "no"))
TOKENS = {"yes": [7, 8], "no": [9]}
WORDS = {7: "ye", 8: "s", 9: "no"}
FIRST = {7: -0.5, 9: -2.0, 3: -1.5}
SECOND = {8: -0.25}


def told(scores: dict[str, float]) -> dict[str, Any]:
    """A reply of one token with the log-probabilities of some."""
    reply = completion("x")
    top = [{"token": token, "logprob": value} for token, value in scores.items()]
    reply["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return reply


def tells(handler: Handler, body: dict[str, Any]) -> None:
    """vLLM's own routes: tokens by id, a begun reply goes on."""
    if handler.path == "/tokenize":
        return handler.send_json(200, {"tokens": TOKENS[body["prompt"]]})
    if handler.path == "/detokenize":
        return handler.send_json(200, {"prompt": "".join(WORDS[one] for one in body["tokens"])})
    begun = body["messages"][-1]["role"] == "assistant"
    scores = SECOND if begun else FIRST
    wanted = body["logprob_token_ids"]
    return handler.send_json(200, told({f"token_id:{one}": scores[one] for one in wanted}))


def test_each_choice_has_the_probability_of_all_its_tokens(tmp_path: Path) -> None:
    with (
        played(always=tells, at=tmp_path / "s") as server,
        ChatClient(server.endpoint, "m") as client,
    ):
        reply = client.chat(ASKED)
        assert reply.text == "yes"
        assert reply.logprobs == pytest.approx({"yes": -0.75, "no": -2.0})
        chats = [body for body in server.seen if "messages" in body]
        first, second = sorted(chats, key=lambda body: len(body["messages"]))
        assert (first["logprob_token_ids"], second["logprob_token_ids"]) == ([7, 9], [8])
        assert first["max_tokens"] == second["max_tokens"] == 1
        assert first["logprobs"] is True
        assert "continue_final_message" not in first
        assert second["continue_final_message"] is True
        assert second["add_generation_prompt"] is False
        assert second["messages"][-1] == {"role": "assistant", "content": "ye"}
        assert reply.usage.prompt == 180  # of both
        client.chat(ASKED)
        asked = [body["prompt"] for body in server.seen if "prompt" in body]
        assert asked == ["yes", "no"]  # the tokens are asked once


def test_a_reply_that_is_begun_goes_on(tmp_path: Path) -> None:
    begun = [*ASKED.messages, {"role": "assistant", "content": "<think>\n\n</think>\n\n"}]
    with (
        played(always=tells, at=tmp_path / "s") as server,
        ChatClient(server.endpoint, "m") as client,
    ):
        with pytest.raises(ModelError):  # the played server takes it for the second step
            client.chat(ChatRequest(begun, choices=("yes", "no")))
        contents = {body["messages"][-1]["content"] for body in server.seen if "messages" in body}
        assert contents == {"<think>\n\n</think>\n\n", "<think>\n\n</think>\n\nye"}


def by_words(scores: dict[str, float]) -> Any:
    """A server of this API that is not vLLM: it has no tokens to tell, and its 20 likeliest."""

    def turn(handler: Handler, body: dict[str, Any]) -> None:
        if handler.path == "/tokenize":
            return fails(404, "no such page")(handler, body)
        assert body["top_logprobs"] == 20
        return handler.send_json(200, told(scores))

    return turn


def test_a_strange_server_tells_by_words_as_far_as_it_goes(tmp_path: Path) -> None:
    scores = {"yes": -0.1, "Yes": -3.0, "no": -4.0}
    four = ("yes", "Yes", "no", "No")
    with (
        played(always=by_words(scores), at=tmp_path / "s") as server,
        ChatClient(server.endpoint, "m") as client,
    ):
        assert client.chat(ASKED).logprobs == {"yes": -0.1, "no": -4.0}
        assert client.chat(ChatRequest(ASKED.messages, choices=four)).logprobs == scores


@pytest.mark.parametrize("scores", [{"yes": -0.1, "Yes": -3.0}, {"purple": -1.0}])
def test_no_number_is_made_up_for_a_reply_that_is_not_told(
    tmp_path: Path, scores: dict[str, float]
) -> None:
    with (
        played(always=by_words(scores), at=tmp_path / "s") as server,
        ChatClient(server.endpoint, "m") as client,
        pytest.raises(ModelError, match="does not tell how likely") as caught,
    ):
        client.chat(ASKED)
    assert "serve-model" in caught.value.hint


@pytest.mark.parametrize("turn", [says("yes"), says(None)])
def test_a_server_without_log_probabilities_is_said_to_tell_none(tmp_path: Path, turn: Any) -> None:
    with (
        played(always=turn, at=tmp_path / "s") as server,
        ChatClient(server.endpoint, "m") as client,
        pytest.raises(ModelError, match="no token at all"),
    ):
        client.chat(ASKED)


def numbered(num: int) -> list[ChatRequest]:
    return [ChatRequest([{"role": "user", "content": str(at)}]) for at in range(num)]


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        ("/tokenize", {"tokens": ["yes"]}),
        ("/tokenize", {"tokens": 5}),
        ("/tokenize", {"tokens": [True]}),
        ("/tokenize", [7]),
        ("/detokenize", {"text": "ye"}),
        ("/detokenize", ["ye"]),
        ("/chat", {"choices": [{"message": {"content": "x"}, "logprobs": {"content": []}}]}),
        ("/chat", told({"token_id:": -1.0, "token_id:x": -2.0, "token_id:-7": -1.0})),
    ],
)
def test_replies_of_another_shape_are_an_error_of_the_model(
    tmp_path: Path, path: str, reply: Any
) -> None:
    def strange(handler: Handler, body: dict[str, Any]) -> None:
        if path in handler.path:
            return handler.send_json(200, reply)
        return tells(handler, body)

    with (
        played(always=strange, at=tmp_path / "s") as server,
        ChatClient(server.endpoint, "m", tries=1) as client,
        pytest.raises(ModelError),
    ):
        client.chat(ASKED)


def test_many_are_answered_in_their_order_and_a_failure_stands_in_its_place(tmp_path: Path) -> None:
    def turn(handler: Handler, body: dict[str, Any]) -> None:
        number = int(body["messages"][0]["content"])
        fails(400, "not this one")(handler, body) if number == 5 else says(str(number))(
            handler, body
        )

    with (
        played(always=turn, at=tmp_path / "s") as server,
        ChatClient(server.endpoint, "m") as client,
    ):
        replies = client.chat_all(numbered(40), at_once=8)
        assert client.chat_all([], at_once=8) == []
    assert [one.text for one in replies if isinstance(one, Completion)] == [
        str(at) for at in range(40) if at != 5
    ]
    assert isinstance(replies[5], ModelError)
    assert "not this one" in replies[5].message


def test_a_lost_server_ends_all_of_them(tmp_path: Path) -> None:
    with (
        played(always=hangs_up, at=tmp_path / "s") as server,
        ChatClient(server.endpoint, "m", tries=1) as client,
        pytest.raises(ServerLost),
    ):
        client.chat_all(numbered(5), at_once=2)

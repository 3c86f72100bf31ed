"""Replies of the model in this process: held to a schema, chosen by chance, weighed as choices."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from photocraft_local.errors import ModelError, ReplyLate
from photocraft_local.serving.tokens import PromptCounter
from photocraft_local.serving.tool_calls import Limits, call_schema
from photocraft_local.tools.standard import standard_tools

pytest.importorskip("torch", reason="ENGINE ABSENT: the tests need torch and transformers")

from local_model import RecordedChat, asked, noise, says, shown, text

DENSE = ("qwen2.5-vl", "qwen3-vl")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
Loading = Callable[..., Any]


def schema() -> dict[str, Any]:
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in standard_tools()
    ]
    return call_schema(tools, Limits(thought=16, text=12, items=2))


@pytest.mark.parametrize("family", DENSE)
def test_each_sampled_reply_is_a_valid_call_without_idle_whitespace(
    loaded: Loading, family: str
) -> None:
    chat, names = RecordedChat(loaded(family)), set()
    for seed in range(16):
        request = asked(
            [says("user", f"question {seed}: call a tool")],
            tokens=900,
            temperature=1.0,
            seed=seed,
            schema=schema(),
        )
        reply = chat.chat(request)
        assert reply.finish == "stop"
        call = json.loads(reply.text)  # strict: raw control characters are refused
        jsonschema.validate(call, schema())
        assert not re.search(r"\s", STRING.sub("", reply.text))
        assert reply.usage.generated == len(chat.tokens) + 1
        names.add(call["call"]["name"])
    assert len(names) > 1


def test_a_reply_that_has_no_time_left_is_given_up_between_two_tokens(loaded: Loading) -> None:
    chat = RecordedChat(loaded("qwen3-vl"))
    request = asked([says("user", "which bus?")], tokens=900, temperature=1.0, seed=1)
    with pytest.raises(ReplyLate, match="no reply within"):
        chat.chat(replace(request, seconds=1e-6))
    assert chat.chat(replace(request, seconds=600.0)).usage.cached > 0  # the prompt was kept


def test_a_cut_reply_says_so_and_a_seed_repeats_itself(loaded: Loading) -> None:
    chat, talk = RecordedChat(loaded("qwen3-vl")), [says("user", "which bus?")]
    replies = [
        chat.chat(asked(talk, tokens=8, temperature=1.0, seed=seed)) for seed in (1, 1, 2, 3, None)
    ]
    texts = [reply.text for reply in replies]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 2
    assert {reply.finish for reply in replies} <= {"length", "stop"}
    cut = chat.chat(asked(talk, tokens=3, schema=schema()))
    assert (cut.finish, cut.usage.generated) == ("length", 3)


@pytest.mark.parametrize("family", [*DENSE, "qwen3-vl-moe"])
def test_choices_have_the_probabilities_of_a_plain_pass(
    loaded: Loading, checkpoint: Callable[..., Path], family: str
) -> None:
    """transformers itself reads prompt and choice in one piece."""
    import torch

    made, part = loaded(family), shown(checkpoint(family))(noise(4))
    chat = RecordedChat(made)
    talk = [says("system", "You judge photos. " * 9), says("user", part, text("A bus?"))]
    choices = ("yes", "no", "not in this photo")
    for _ in range(2):  # fresh, then from what is kept
        reply = chat.chat(asked(talk, choices=choices))
        assert set(reply.logprobs) == set(choices)
        assert reply.text == max(choices, key=reply.logprobs.__getitem__)
    prompt = chat.prompt(asked(talk))
    pictures = [chat.pictures._opened(one.url) for one in prompt.pictures]
    images = made.processor.image_processor(images=pictures, return_tensors="pt")
    for choice in choices:
        tokens = made.processor.tokenizer(choice)["input_ids"]
        ids = torch.tensor([[*prompt.ids.tolist(), *tokens]])
        kinds = (ids == made.model.config.image_token_id).int()
        made.model.model.rope_deltas = None
        with torch.no_grad():
            logits = made.model(input_ids=ids, mm_token_type_ids=kinds, **images).logits[0]
        scores = logits[len(prompt) - 1 : -1].float().log_softmax(-1)
        expected = sum(float(row[token]) for row, token in zip(scores, tokens, strict=True))
        assert abs(reply.logprobs[choice] - expected) < 1e-3


def test_choices_after_the_beginning_of_a_reply(loaded: Loading) -> None:
    chat = RecordedChat(loaded("qwen3-vl"))
    talk = [says("user", "A bus?"), says("assistant", "The answer is")]
    begun = chat.chat(asked(talk, choices=(" yes", " no")))
    assert begun.logprobs != chat.chat(asked(talk[:1], choices=(" yes", " no"))).logprobs
    prompt = chat.prompt(asked(talk))
    decoded = chat._processor.tokenizer.decode(prompt.ids)
    assert decoded.endswith("assistant\nThe answer is")
    with pytest.raises(ModelError, match="empty"):
        chat.chat(asked(talk, choices=("yes", "")))


@pytest.mark.parametrize(
    ("family", "thinking"), [(DENSE[0], False), (DENSE[1], False), (DENSE[1], True)]
)
def test_prompts_have_as_many_tokens_as_the_counter_says(
    loaded: Loading, checkpoint: Callable[..., Path], family: str, thinking: bool
) -> None:
    folder = checkpoint(family, thinking)
    chat, counter = RecordedChat(loaded(family, thinking)), PromptCounter(folder)
    show = shown(folder)
    talk = [
        says("system", "You search photos."),
        says("user", "a plain text"),
        says("user", text("p1:"), show(noise(1)), show(noise(2, 31, 300)), text("two of them")),
        says("assistant", '{"thought":"I look.","call":{"name":"recall","arguments":{}}}'),
        says("user", "<tool_response>\nfound: 3\n</tool_response>"),
    ]
    for end in range(1, len(talk) + 1):
        if talk[end - 1]["role"] == "assistant":
            continue
        prompt = chat.prompt(asked(talk[:end]))
        grids = {one.seen.uuid: one.seen.grid for one in prompt.pictures}
        patch = chat.pictures._patch
        sizes = {uuid: (grid[2] * patch, grid[1] * patch) for uuid, grid in grids.items()}
        assert counter.prompt(talk[:end], sizes) == len(prompt)
        assert chat._processor.tokenizer.decode(prompt.ids[-4:]).endswith("<think>\n") == thinking


def test_what_is_no_picture_and_what_has_no_size_of_the_family_is_said(loaded: Loading) -> None:
    chat = RecordedChat(loaded("qwen2.5-vl"))
    for url, said in {
        "http://127.0.0.1/a.png": "no data URL",
        "data:image/png;base64,AAAA": "cannot be read",
        "data:image/png;base64,@@@": "cannot be read",
    }.items():
        part = {"type": "image_url", "image_url": {"url": url}, "uuid": "x"}
        with pytest.raises(ModelError, match=said):
            chat.chat(asked([says("user", part)]))


def test_a_thinking_variant_reasons_before_the_call_and_has_room_for_it(loaded: Loading) -> None:
    chat = RecordedChat(loaded("qwen3-vl", True))
    talk = [says("user", "call a tool")]
    for seed in range(3):
        request = asked(talk, tokens=900, temperature=1.0, seed=seed, schema=schema())
        reply = chat.chat(request)
        assert reply.finish == "stop"
        assert reply.reasoning
        jsonschema.validate(json.loads(reply.text), schema())
        at = chat.tokens.index(chat._end_of_thought)
        assert at <= 450
        assert reply.usage.generated == len(chat.tokens) + 1
    free = chat.chat(asked(talk, tokens=6))
    assert (free.text, free.finish, free.usage.generated) == ("", "length", 6)
    assert free.reasoning
    begun = [*talk, says("assistant", "<think>\n\n</think>\n\n")]
    closed = chat.chat(asked(begun, tokens=6))
    assert closed.text
    assert not closed.reasoning
    assert set(chat.chat(asked(begun, choices=("yes", "no"))).logprobs) == {"yes", "no"}

"""Token by token, the model in this process says what vLLM says of the same folder.

Both keep their prefixes through episodes of several turns, with pictures, free and constrained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

pytest.importorskip("torch", reason="ENGINE ABSENT: the tests need torch and transformers")

from engine_chat import sampling
from local_model import NEAR_TIE, RecordedChat, asked, noise, says, shown, text
from test_local_replies import schema

FAMILIES = ("qwen2.5-vl", "qwen3-vl")
CLOSE = 2e-3  # of log-probabilities
EPISODES, TURNS = 3, 5
Part = dict[str, Any]


def turns(show: Callable[..., Part], photos: list[Image.Image], number: int) -> Iterator[Any]:
    """What the person's side says, one message a turn."""
    yield says("user", f"Episode {number}: where is the dog? " * (number + 1))
    yield says("user", text("p1:"), show(photos[number]), text("p2:"), show(noise(number)))
    yield says("user", "<tool_response>\nnothing was found\n</tool_response>")
    yield says("user", show(photos[number]), text("again, and nothing else"))
    yield says("user", text("which one?"))


def compared(chat: RecordedChat, output: Any, held: Any) -> int:
    """Asserts that scores agree and tokens do, but for ties; how many tokens were the same.

    vLLM tells probabilities among the tokens that the grammar allows."""
    import torch

    (said,) = output.outputs
    theirs = [token for token in said.token_ids if token not in chat._ends]
    for at, scores in enumerate(chat.scores[: len(theirs)]):
        row = said.logprobs[at]
        token = theirs[at]
        if held is not None:
            scores = scores.masked_fill(torch.from_numpy(held.forbidden(len(scores))), -torch.inf)
            held.take(token)
        local = scores.log_softmax(-1)
        assert abs(float(local[token]) - row[token].logprob) < CLOSE
        if at >= len(chat.tokens) or chat.tokens[at] != token:
            mine = chat.tokens[at] if at < len(chat.tokens) else min(chat._ends)
            assert abs(float(local[mine] - local[token])) < NEAR_TIE
            return at
    assert len(theirs) == len(chat.tokens)
    return len(theirs)


@pytest.mark.parametrize("family", FAMILIES)
def test_episodes_say_the_same_in_both_engines(
    engine: Callable[..., Any],
    loaded: Callable[..., Any],
    checkpoint: Callable[..., Path],
    photos: list[Image.Image],
    family: str,
) -> None:
    llm, chat, show = engine(family), RecordedChat(loaded(family)), shown(checkpoint(family))
    llm.reset_prefix_cache()
    num_same = num_all = 0
    for number in range(EPISODES):
        talk = [says("system", "You search a library of photos and answer in JSON. " * 9)]
        for turn, message in enumerate(turns(show, photos, number)):
            talk.append(message)
            held = schema() if turn % 2 else None
            request = asked(talk, tokens=200 if held else 24, schema=held)
            params = sampling(request)
            params.logprobs = 1
            (output,) = llm.chat([talk], params, use_tqdm=False)
            reply = chat.chat(request)
            assert chat.prompt(request).ids.tolist() == list(output.prompt_token_ids)
            grammar = chat._grammars.held_to(held) if held else None
            num_same += compared(chat, output, grammar)
            num_all += len(chat.tokens)
            if chat.tokens == [t for t in output.outputs[0].token_ids if t not in chat._ends]:
                assert (reply.text, reply.finish) == (
                    output.outputs[0].text,
                    str(output.outputs[0].finish_reason),
                )
                assert reply.usage.generated == len(output.outputs[0].token_ids)
            if turn:
                assert reply.usage.cached >= output.num_cached_tokens > 0
            talk.append(says("assistant", output.outputs[0].text))
    assert num_all > EPISODES * TURNS * 12
    assert num_same > 0.9 * num_all


def test_choices_weigh_the_same_in_both_engines(
    engine: Callable[..., Any], loaded: Callable[..., Any], checkpoint: Callable[..., Path]
) -> None:
    family = "qwen3-vl"
    llm, chat, show = engine(family), RecordedChat(loaded(family)), shown(checkpoint(family))
    tokenizer = loaded(family).processor.tokenizer
    ids = {word: tokenizer(word)["input_ids"] for word in ("yes", "no")}
    for seed in range(3):
        talk = [says("user", show(noise(seed)), text("Does it show a bus? yes or no"))]
        request = asked(talk, tokens=1)
        params = sampling(replace(request))
        params.logprob_token_ids = [tokens[0] for tokens in ids.values()]
        params.logprobs = 2
        (output,) = llm.chat([talk], params, use_tqdm=False)
        told = output.outputs[0].logprobs[0]
        weighed = chat.chat(replace(request, choices=("yes", "no"))).logprobs
        for word, tokens in ids.items():
            if len(tokens) == 1:
                assert abs(weighed[word] - told[tokens[0]].logprob) < CLOSE

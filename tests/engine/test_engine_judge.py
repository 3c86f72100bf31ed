"""Judging on the real engine: probabilities as in transformers, one prefix for all photos."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_chat import EngineChat
from PIL import Image
from test_engine_chat import scores_of
from tiny_engine import BLOCK, counters, greedy, picture, user, words

from photocraft_local.serving.judging import Condition, Subject
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest
from photocraft_local.serving.qwen.conversation import CLOSED_THINKING
from photocraft_local.serving.qwen.judge import Judge
from photocraft_local.serving.qwen.judge_prompt import prefix
from photocraft_local.serving.qwen.odds import CHOICES, log_odds
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits

FAMILIES = ("qwen2.5-vl", "qwen3-vl")
WINDOW = 16384


def subjects(photos: list[Image.Image]) -> list[Subject]:
    arrays = [np.asarray(photo) for photo in photos]
    return [Subject(f"p{at}", lambda pixels=pixels: pixels) for at, pixels in enumerate(arrays)]


def judge_of(llm: Any, weights: Path) -> tuple[Judge, EngineChat]:
    rule = PictureRule.of_folder(weights).at_most(256)
    chat = EngineChat(llm)
    counter = PromptCounter(weights, rule)
    store = PictureStore(rule)
    return Judge(Brain("vllm tiny", chat, store, Limits(), counter, WINDOW, 4)), chat


@pytest.mark.parametrize("family", FAMILIES)
def test_the_probability_of_each_choice_is_that_of_transformers(
    engine: Callable[..., Any],
    original: Callable[[str], tuple[Any, Any]],
    photos: list[Image.Image],
    family: str,
) -> None:
    import torch

    processor, model = original(family)
    chat = EngineChat(engine(family))
    for photo in photos[:2]:
        asked = [user(picture(photo), words("Is it a dog? Answer yes or no."))]
        told = chat.chat(ChatRequest(asked, choices=CHOICES)).logprobs
        theirs = [user(picture(photo, kind="image"), words("Is it a dog? Answer yes or no."))]
        inputs = processor.apply_chat_template(
            theirs, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        exact = {}
        for choice in CHOICES:
            ids = processor.tokenizer.encode(choice, add_special_tokens=False)
            scores = scores_of(model, inputs, torch.tensor([ids]))
            exact[choice] = float(scores[torch.arange(len(ids)), ids].sum())
        assert told == pytest.approx(exact, abs=2e-3)
        mine, expected = (1 / (1 + math.exp(-log_odds(one))) for one in (told, exact))
        assert mine == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_photos_share_one_prefix_that_the_engine_computes_once(
    engine: Callable[..., Any],
    checkpoint: Callable[..., Path],
    photos: list[Image.Image],
    family: str,
) -> None:
    llm = engine(family, counting=True)
    judge, chat = judge_of(llm, checkpoint(family))
    llm.reset_prefix_cache()
    before = counters(llm)
    anchor = Subject("a", lambda: np.asarray(photos[3]))
    conditions = [Condition("a dog on a beach"), Condition("snow", negated=True)]
    shown = subjects(photos)
    seen = judge.judge("the dog of the reference?", conditions, [anchor], shown, threshold=0)
    after = counters(llm)
    assert list(seen.probabilities) == ["p0", "p1", "p2", "p3"]
    assert not seen.failed
    assert all(0 <= value <= 1 for value in seen.probabilities.values())
    assert (seen.whole.parts, seen.whole.error) == (1, "")  # any words, held by the schema
    asked = [request.messages for request in chat.requests if request.choices]
    stable = {str([*one[:1], _uuids(one[1]["content"][:4])]) for one in asked}
    assert len(stable) == 1
    # What all photos share: system, reference, question and conditions, up to the photo.
    shared = _length(llm, asked[0][:1], asked[0][1]["content"][:4]) // BLOCK * BLOCK
    num_requests = len(asked) * len(_prefixes(llm))  # each beginning of a choice is one
    hits = after["prefix_cache_hits"] - before["prefix_cache_hits"]
    assert hits >= (num_requests - 1) * shared > 0
    queries = after["prefix_cache_queries"] - before["prefix_cache_queries"]
    assert (queries, hits) == (seen.usage.prompt, seen.usage.cached)


def _uuids(parts: list[dict[str, Any]]) -> list[str]:
    """Parts as the prefix cache tells them apart: pictures by name."""
    return [part.get("uuid") or part["text"] for part in parts]


def _prefixes(llm: Any) -> set[tuple[int, ...]]:
    """The beginnings of the choices, each a request of its own."""
    tokenizer = llm.get_tokenizer()
    paths = [tuple(tokenizer.encode(choice, add_special_tokens=False)) for choice in CHOICES]
    return {path[:end] for path in paths for end in range(len(path))}


def _length(llm: Any, system: list[Any], parts: list[Any]) -> int:
    """Tokens of a prompt of these parts, less what closes it."""
    messages = [*system, {"role": "user", "content": parts}]
    (output,) = llm.chat(messages, greedy(1), use_tqdm=False, add_generation_prompt=False)
    return len(output.prompt_token_ids) - 2  # <|im_end|> and a line break


def test_a_thinking_model_is_asked_past_its_thoughts(checkpoint: Callable[..., Path]) -> None:
    from transformers import AutoProcessor

    folder = checkpoint("qwen3-vl", thinking=True)
    processor = AutoProcessor.from_pretrained(folder)
    for begun in ("", "ye"):
        shared = prefix("a dog?", [], [])
        messages = [
            {"role": "user", "content": [words(shared.text)]},
            {"role": "assistant", "content": CLOSED_THINKING + begun},
        ]
        text = processor.tokenizer.apply_chat_template(
            messages, tokenize=False, continue_final_message=True
        )
        assert text.endswith("<|im_start|>assistant\n" + CLOSED_THINKING + begun)
    assert PromptCounter(folder).thinking
    assert not PromptCounter(checkpoint("qwen3-vl")).thinking

"""Text and pictures through vLLM: the same tokens as transformers, counters, pictures by UID."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tiny_engine import BLOCK, counters, greedy, picture, user, words

DENSE = ("qwen2.5-vl", "qwen3-vl")
NEAR_TIE = 2e-3  # two tokens whose log-probabilities are closer may change places
Engine = Callable[..., Any]


@pytest.mark.parametrize("family", DENSE)
def test_a_text_chat_is_deterministic_and_depends_on_the_question(
    engine: Engine, family: str
) -> None:
    llm = engine(family)
    asked = [[user(words(text))] for text in ("dogs on a beach", "a red bus", "dogs on a beach")]
    first, other, again = [
        reply.outputs[0].token_ids for reply in llm.chat(asked, greedy(), use_tqdm=False)
    ]
    assert first == again
    assert first != other


@pytest.mark.parametrize("family", [*DENSE, "qwen3-vl-moe"])
def test_greedy_tokens_equal_those_of_transformers(
    engine: Engine,
    original: Callable[[str], tuple[Any, Any]],
    photos: list[Image.Image],
    family: str,
) -> None:
    import torch

    processor, model = original(family)
    system = {"role": "system", "content": [words("You search a library of photos. " * 4)]}

    def chats(kind: str) -> list[list[dict[str, Any]]]:
        return [
            [system, user(words("which of them show a bus?"))],
            [system, user(picture(photos[0], kind=kind), words("what is this?"))],
            [system, user(*(picture(p, kind=kind) for p in photos[1:3]), words("which one?"))],
        ]

    replies = engine(family).chat(chats("image_pil"), greedy(24, logprobs=1), use_tqdm=False)
    for mine, chat in zip(replies, chats("image"), strict=True):
        inputs = processor.apply_chat_template(
            chat, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        assert inputs["input_ids"][0].tolist() == list(mine.prompt_token_ids)
        said = list(mine.outputs[0].token_ids)
        scores = scores_of(model, inputs, torch.tensor([said]))
        chosen = scores[torch.arange(len(said)), said]
        rows = zip(mine.outputs[0].logprobs, said, strict=True)
        theirs = torch.tensor([row[token].logprob for row, token in rows])
        torch.testing.assert_close(theirs, chosen, atol=1e-3, rtol=0)
        assert (scores.max(dim=-1).values - chosen).max() < NEAR_TIE
        assert (scores.argmax(dim=-1) == torch.tensor(said)).float().mean() > 0.9


def scores_of(model: Any, inputs: Any, said: Any) -> Any:
    """(tokens, vocabulary) log-probabilities of transformers before each token that was said."""
    import torch

    more = dict(inputs)
    more["input_ids"] = torch.cat([inputs["input_ids"], said], dim=1)
    for name in ("attention_mask", "mm_token_type_ids"):
        tail = torch.full_like(said, int(name == "attention_mask"))
        more[name] = torch.cat([inputs[name], tail], dim=1)
    with torch.no_grad():
        logits = model(**more).logits[0]
    return torch.log_softmax(logits[-said.shape[1] - 1 : -1].float(), dim=-1)


@pytest.mark.parametrize("family", DENSE)
def test_the_answer_depends_on_the_picture(
    engine: Engine, photos: list[Image.Image], family: str
) -> None:
    asked = [[user(picture(photo), words("what is this?"))] for photo in photos]
    replies = engine(family).chat(asked, greedy(), use_tqdm=False)
    assert len({tuple(reply.outputs[0].token_ids) for reply in replies}) == len(photos)


@pytest.mark.parametrize("family", DENSE)
def test_a_known_prefix_is_taken_from_the_cache(
    engine: Engine, photos: list[Image.Image], family: str
) -> None:
    llm = engine(family, counting=True)
    llm.reset_prefix_cache()
    card = user(words("the library holds 1204 photos of 2019 to 2024. " * 20), picture(photos[3]))
    before = counters(llm)
    first, second = (
        llm.chat([card, user(words(question))], greedy(1), use_tqdm=False)[0]
        for question in ("where is the bus?", "when was the dog there?")
    )
    shared = common(first.prompt_token_ids, second.prompt_token_ids)
    assert first.num_cached_tokens == 0
    assert second.num_cached_tokens == shared // BLOCK * BLOCK > 100
    after = counters(llm)
    asked = after["prefix_cache_queries"] - before["prefix_cache_queries"]
    assert asked == len(first.prompt_token_ids) + len(second.prompt_token_ids)
    hits = after["prefix_cache_hits"] - before["prefix_cache_hits"]
    assert hits == second.num_cached_tokens


def common(first: list[int], second: list[int]) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


@pytest.mark.parametrize("family", DENSE)
def test_a_picture_goes_by_its_uid_once_the_engine_knows_it(
    engine: Engine, photos: list[Image.Image], family: str
) -> None:
    llm = engine(family, counting=True)
    llm.reset_mm_cache()
    before = counters(llm)

    def ask(*parts: dict[str, Any]) -> Any:
        return llm.chat([user(*parts, words("who?"))], greedy(), use_tqdm=False)[0]

    sent = ask(picture(photos[0], "p7k3mq"))
    named = ask(picture(None, "p7k3mq"))
    assert named.outputs[0].token_ids == sent.outputs[0].token_ids
    assert named.prompt_token_ids == sent.prompt_token_ids
    after = counters(llm)
    assert after["mm_cache_hits"] - before["mm_cache_hits"] == 1
    # The name alone counts, so it has to be made from the pixels.
    assert ask(picture(photos[1], "p7k3mq")).prompt_token_ids == sent.prompt_token_ids
    with pytest.raises(ValueError, match="data is not provided"):
        ask(picture(None, "never-sent"))


def test_nothing_reports_the_use_or_writes_to_the_home_folder(engine: Engine) -> None:
    from vllm.usage.usage_lib import is_usage_stats_enabled

    engine(DENSE[0])
    assert not is_usage_stats_enabled()
    home = Path.home()
    assert str(home).startswith(tempfile.gettempdir())
    assert not home.exists() or not [*home.rglob("*")]

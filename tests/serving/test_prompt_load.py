"""How full a window would be: counted once a turn, and estimated for a server that only reports."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tokenizers", reason="counting needs the cpu or gpu extra")

from photocraft_local.memory.context import Context, picture_parts
from photocraft_local.records import Observation, Step, ToolCall, Usage
from photocraft_local.serving.chat_model import Load, Measuring
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.qwen.model import LEAST_REPLY, QwenModel
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.tools.schema import arguments, words

RULE = PictureRule(28, 4 * 28**2, 1280 * 28**2)
TOOLS = [{"name": "recall", "description": "", "parameters": arguments("text", text=words(""))}]
SPECIAL = ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<think>"]
REPLY = json.dumps({"thought": "So.", "call": {"name": "recall", "arguments": {"text": "x"}}})


@pytest.fixture
def counter(tmp_path: Path) -> PromptCounter:
    """A byte-level tokenizer with the families' marks, as in their folders."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(
        Regex(r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|[^\p{L}\p{N}]+"), "isolated"
    )
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, bytes_of])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(["p1:p2: the dog on the beach", "x:p"] * 9, trainer)
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in SPECIAL])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}", "utf-8")
    return PromptCounter(tmp_path, RULE)


class Asked:
    """Answers each request alike, and reports ``per_message`` tokens for each message."""

    def __init__(self, tokens: Any) -> None:
        self.tokens = tokens
        self.requests: list[ChatRequest] = []

    def chat(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        return Completion(REPLY, usage=Usage(prompt=self.tokens(request)))


def turn(index: int, size: int = 40, **data: Any) -> Step:
    call = ToolCall("recall", {"text": f"dogs {index}"})
    return Step(index, call, Observation("recall", {"text": "x" * size, **data}), "I look.")


def context(num: int) -> Context:
    made = Context("You find photos.", ["The library: 9 photos", "The question: dogs"])
    for index in range(1, num + 1):
        made.add_turn(turn(index), "open: dogs")
    return made


def model(counter: PromptCounter | None, chat: Asked, **options: Any) -> QwenModel:
    store = PictureStore(RULE)
    return QwenModel(chat, store, name="t", counter=counter, **({"window": 9000} | options))


def test_the_load_is_what_the_prompt_takes_and_what_a_reply_may_need(
    counter: PromptCounter,
) -> None:
    one = model(counter, Asked(lambda _: 0), max_pictures=7)
    assert isinstance(one, Measuring)
    messages = context(2).messages()
    whole = "".join(
        f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n"
        for m in one.conversation(messages, TOOLS).messages
    )
    expected = counter.text(whole + "<|im_start|>assistant\n")
    assert one.load(messages, TOOLS) == Load(expected, 9000, 1125, 0, 7, True)
    assert model(counter, Asked(lambda _: 0), window=0).load(messages, TOOLS) is None
    small = model(counter, Asked(lambda _: 0), window=1000).load(messages, TOOLS)
    assert small
    assert small.reply == LEAST_REPLY


def test_labels_of_several_pictures_are_counted_apart(
    counter: PromptCounter, tmp_path: Path
) -> None:
    from PIL import Image

    file = tmp_path / "a.png"
    Image.new("RGB", (56, 56)).save(file)
    parts = [part for uid in ("p1", "p2") for part in picture_parts(uid, str(file).encode())]
    one = model(counter, Asked(lambda _: 0))
    load = one.load([{"role": "user", "content": parts}], [])
    assert load
    marks = counter.text("<|im_start|>user\n") + counter.text("<|im_end|>\n")
    opening = counter.text("<|im_start|>assistant\n")
    labels = counter.text("p1:") + counter.text("p2:")
    assert load.prompt == marks + opening + labels + 2 * (2 + 4)
    assert load.pictures == 2
    assert counter.text("p1:p2:") < labels  # else nothing was shown


def test_each_message_is_laid_out_and_counted_once_an_episode(
    counter: PromptCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    count = counter.text

    def counted(text: str) -> int:
        sizes.append(len(text))
        return count(text)

    monkeypatch.setattr(counter, "text", counted)
    one, made = model(counter, Asked(lambda _: 0), window=90_000), context(0)
    for index in range(1, 20):
        messages = made.messages()
        one.load(messages, TOOLS)
        one.load(made.messages(), TOOLS)
        one.complete(made.messages(), TOOLS)
        made.add_turn(turn(index, 500), "open: dogs")
    told = "".join(str(m["content"]) for m in one.conversation(made.messages(), TOOLS).messages)
    assert sum(sizes) < len(told) + 60 * len(sizes)
    # Nothing is kept that was changed: other messages, other counts.
    other = [*made.messages()[:-1], {"role": "user", "content": "other"}]
    assert one.load(other, TOOLS) != one.load(made.messages(), TOOLS)


@pytest.mark.parametrize("rate", [0.2, 0.35, 0.5])
def test_an_estimate_follows_the_reports_and_errs_upwards(rate: float) -> None:
    """A server that counts ``rate`` tokens a byte."""
    chance = random.Random(1)

    def tokens(request: ChatRequest) -> int:
        return int(rate * sum(5 + len(m["content"].encode()) for m in request.messages))

    chat = Asked(tokens)
    one, made = model(None, chat, window=40_000), context(0)
    for index in range(1, 30):
        before = one.load(made.messages(), TOOLS)
        reported = one.complete(made.messages(), TOOLS).usage.prompt
        assert before
        assert not before.exact
        if index > 1:
            assert reported <= before.prompt <= reported + 1200
        made.add_turn(turn(index, chance.randrange(2000)), "open: dogs")
    made.compact("Summary " + "y" * 2000)
    load = one.load(made.messages(), TOOLS)
    assert load
    assert tokens(ChatRequest(one.conversation(made.messages(), TOOLS).messages)) <= load.prompt


def test_an_estimate_leaves_the_refusal_to_the_server_and_a_reply_its_room() -> None:
    chat = Asked(lambda _: 7000)
    one, made = model(None, chat, window=8192), context(1)
    one.complete(made.messages(), TOOLS)
    assert chat.requests[0].max_tokens == 2048
    made.add_turn(turn(2, 500), "")
    one.complete(made.messages(), TOOLS)
    assert LEAST_REPLY < chat.requests[1].max_tokens < 8192 - 7000
    made.add_turn(turn(3, 50_000), "")
    one.complete(made.messages(), TOOLS)
    assert chat.requests[2].max_tokens == LEAST_REPLY

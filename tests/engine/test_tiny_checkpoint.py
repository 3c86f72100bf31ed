"""The tiny checkpoints: the same bytes each time, whole in transformers, prompts as documented."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tiny_engine import picture, user, words

# Other bytes mean that what the other tests measured was another model.
WEIGHTS = {
    "qwen2.5-vl": "327db4ba39e6175e4bc53763a3c5cf28bfcddd2e6fd464af0d41eaeba90388bc",
    "qwen3-vl": "871fd5dd2edd59306e5118a6b044cfd4c4f8eb958784dda5bffd6ae614156d53",
    "qwen3-vl-moe": "39858fa282192c4e194d9e824d2c205dda44d6a5989b2a6ac7aaf0c9d071a432",
    "qwen3-vl-embedding": "5bacb2c401693eebde139fbe2c7a657dbc0885e04e6c0875a3636184771edc50",
}
CHATTING = [name for name in WEIGHTS if not name.endswith("embedding")]
Checkpoint = Callable[..., Path]
Original = Callable[[str], tuple[Any, Any]]

TOOL = {"type": "function", "function": {"name": "zoom", "parameters": {"type": "object"}}}
CALL = {"type": "function", "function": {"name": "zoom", "arguments": {"box": [0, 0, 9, 9]}}}
CALL_TEXT = '<tool_call>\n{"name": "zoom", "arguments": {"box": [0, 0, 9, 9]}}\n</tool_call>'
VISION = "<|vision_start|><|image_pad|><|vision_end|>"


@pytest.mark.parametrize("family", WEIGHTS)
def test_the_weights_are_the_same_bytes_each_time(checkpoint: Checkpoint, family: str) -> None:
    weights = checkpoint(family) / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == WEIGHTS[family]
    assert sum(file.stat().st_size for file in weights.parent.iterdir()) < 8_000_000


def test_the_script_makes_the_same_folder(
    checkpoint: Checkpoint, root: Path, tmp_path: Path
) -> None:
    script = [sys.executable, str(root / "scripts/make_tiny_checkpoint.py")]
    command = [*script, str(tmp_path / "made"), "qwen3-vl", "--thinking"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert result.stdout.split()[0] == WEIGHTS["qwen3-vl"]
    here = checkpoint("qwen3-vl", thinking=True)
    files = {file.name: file.read_bytes() for file in here.iterdir()}
    assert {file.name: file.read_bytes() for file in (tmp_path / "made").iterdir()} == files


@pytest.mark.parametrize("family", WEIGHTS)
def test_the_config_has_the_layout_of_the_published_files(
    checkpoint: Checkpoint, original: Original, family: str
) -> None:
    config = json.loads((checkpoint(family) / "config.json").read_text("utf-8"))
    text = config if family == "qwen2.5-vl" else config["text_config"]
    assert text["hidden_size"] == 128
    assert sum(text["rope_scaling"]["mrope_section"]) * 2 == 128 // text["num_attention_heads"]
    assert config["vision_config"]["patch_size"] == (14 if family == "qwen2.5-vl" else 16)
    processor, model = original(family)
    assert type(model).__name__ == config["architectures"][0]
    read = model.config.text_config.rope_parameters
    assert read["mrope_section"] == text["rope_scaling"]["mrope_section"]
    assert read["rope_theta"] == text["rope_theta"]
    assert processor.tokenizer.convert_tokens_to_ids("<|image_pad|>") == config["image_token_id"]


@pytest.mark.parametrize("family", WEIGHTS)
def test_each_added_token_is_one_token(original: Original, family: str) -> None:
    tokenizer = original(family)[0].tokenizer
    since_qwen3 = family != "qwen2.5-vl"
    for token in ("<|im_start|>", "<|vision_start|>", "<tool_call>", "</tool_call>"):
        assert len(tokenizer.encode(token)) == 1, token
    for token in ("<think>", "</think>", "<tool_response>"):
        assert (len(tokenizer.encode(token)) == 1) is since_qwen3, token
    text = "<tool_call>\nGrüße, 你好 \U0001f415\t{}"
    assert tokenizer.decode(tokenizer.encode(text), skip_special_tokens=True) == text


@pytest.mark.parametrize("family", CHATTING)
def test_words_and_pixels_change_what_the_model_says(
    original: Original, photos: list[Image.Image], family: str
) -> None:
    processor, model = original(family)

    def said(photo: Image.Image, text: str) -> list[int]:
        inputs = processor.apply_chat_template(
            [user(picture(photo, kind="image"), words(text))],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        out = model.generate(**inputs, max_new_tokens=8, min_new_tokens=8, do_sample=False)
        return out[0, inputs["input_ids"].shape[1] :].tolist()

    replies = [said(photos[0], "a dog?"), said(photos[1], "a dog?"), said(photos[0], "where?")]
    assert len({tuple(reply) for reply in replies}) == 3
    assert len({token for reply in replies for token in reply}) > 8  # no single token for all


@pytest.mark.parametrize("family", WEIGHTS)
@pytest.mark.parametrize("size", [(300, 200), (2400, 1800), (40, 30), (1500, 20)])
def test_a_picture_becomes_as_many_tokens_as_the_rule_of_the_family_says(
    original: Original, family: str, size: tuple[int, int]
) -> None:
    processor, _ = original(family)
    side = 28 if family == "qwen2.5-vl" else 32
    image = Image.new("RGB", size, (90, 120, 30))
    inputs = processor(text=[VISION], images=[image], return_tensors="pt")
    _, height, width = inputs["image_grid_thw"][0].tolist()
    tokens = int((inputs["input_ids"] == processor.image_token_id).sum())
    assert tokens == height * width // 4
    least = 4 if side == 28 else 64
    assert least <= tokens <= 1280
    if size == (300, 200) and side == 28:  # between the limits: to the nearest multiple
        assert (width // 2, height // 2) == (round(300 / 28), round(200 / 28))


def render(source: Any, messages: list[dict[str, Any]], **more: Any) -> str:
    options = {"tokenize": False, "add_generation_prompt": True}
    text = source.apply_chat_template(messages, **(options | more))
    assert isinstance(text, str)
    return text


EPISODE = [
    {"role": "system", "content": "Find photos."},
    user(picture(None, kind="image"), words("a bus?")),
    {"role": "assistant", "content": "I look.", "reasoning": "small", "tool_calls": [CALL]},
    {"role": "tool", "content": "a crop"},
    {"role": "tool", "content": [picture(None, kind="image"), words("another")]},
]


def test_qwen3_renders_calls_results_and_pictures(
    checkpoint: Checkpoint, original: Original
) -> None:
    processor, _ = original("qwen3-vl")
    text = render(processor, EPISODE, tools=[TOOL])
    system, asked, called, results, last = text.split("<|im_start|>")[1:]
    assert system.startswith("system\nFind photos.\n\n# Tools\n")
    assert f"<tools>\n{json.dumps(TOOL)}\n</tools>" in system
    assert asked == f"user\n{VISION}a bus?<|im_end|>\n"
    assert called == f"assistant\nI look.\n{CALL_TEXT}<|im_end|>\n"
    response = "<tool_response>\n{}\n</tool_response>"
    both = "\n".join(response.format(body) for body in ("a crop", f"{VISION}another"))
    assert results == f"user\n{both}<|im_end|>\n"
    assert last == "assistant\n"
    assert render(processor.tokenizer, EPISODE, tools=[TOOL]) == text


def test_the_thinking_variant_keeps_reasoning_until_the_next_question(
    checkpoint: Checkpoint,
) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(checkpoint("qwen3-vl", thinking=True))
    text = render(tokenizer, EPISODE)
    assert f"assistant\n<think>\nsmall\n</think>\n\nI look.\n{CALL_TEXT}<|im_end|>" in text
    assert text.endswith("<|im_start|>assistant\n<think>\n")
    inline = [*EPISODE]
    inline[2] = {**EPISODE[2], "content": "<think>\nsmall\n</think>\n\nI look."}
    del inline[2]["reasoning"]
    assert render(tokenizer, inline) == text
    later = render(tokenizer, [*EPISODE, user(words("and a dog?"))])
    assert "small" not in later
    assert f"assistant\nI look.\n{CALL_TEXT}<|im_end|>" in later


def test_qwen2_5_has_tools_without_pictures_and_pictures_without_tools(
    checkpoint: Checkpoint, original: Original
) -> None:
    from transformers import AutoTokenizer

    processor, _ = original("qwen2.5-vl")
    seen = render(processor, EPISODE[1:2], tools=[TOOL], add_vision_id=True)
    assert seen == (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        f"<|im_start|>user\nPicture 1: {VISION}a bus?<|im_end|>\n<|im_start|>assistant\n"
    )
    tokenizer = AutoTokenizer.from_pretrained(checkpoint("qwen2.5-vl"))
    plain = [EPISODE[0], {"role": "user", "content": "a bus?"}, *EPISODE[2:4]]
    called = render(tokenizer, plain, tools=[TOOL])
    assert f"<tools>\n{json.dumps(TOOL)}\n</tools>" in called
    assert f"<|im_start|>assistant\nI look.\n{CALL_TEXT}<|im_end|>\n" in called
    assert called.endswith(
        "<|im_start|>user\n<tool_response>\na crop\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n"
    )

"""A model of real proportions with random numbers on the device: memory and tokens a second.

Nothing is loaded: weights are drawn there. The figures are of this run, for people to compare.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server_check.findings import Report

from model_check.opening import Opened, around, open_on, picture, user
from photocraft_local.serving.tokens import PictureRule

GIB = 1 << 30


@dataclass(frozen=True)
class Shape:
    """``floor``: bytes of GPU memory below which it is not tried."""

    name: str
    text: dict[str, int]
    vision: dict[str, Any]
    prompt: int
    floor: int


LARGE = Shape(
    "Qwen3-VL-2B's sizes",
    {
        "hidden_size": 2048,
        "num_hidden_layers": 28,
        "intermediate_size": 6144,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
    },
    {
        "depth": 24,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_heads": 16,
        "out_hidden_size": 2048,
        "deepstack_visual_indexes": [5, 11, 17],
    },
    4096,
    10 * GIB,
)
SMALL = Shape(
    "a small one, to try this check out",
    {
        "hidden_size": 128,
        "num_hidden_layers": 4,
        "intermediate_size": 256,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
    },
    {
        "depth": 4,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 2,
        "out_hidden_size": 128,
        "deepstack_visual_indexes": [0, 2],
    },
    512,
    0,
)


def check_speed(report: Report, folder: Path, device: str) -> None:
    """``folder`` is a tiny Qwen3-VL, which lends its tokenizer."""
    import torch

    shape = LARGE if device == "cuda" else SMALL
    free = torch.cuda.mem_get_info()[0] if device == "cuda" else 0
    if device == "cuda" and free < shape.floor:
        report.absent(f"speed at {shape.name}", f"{free / GIB:.1f} GiB of GPU memory are free")
        return
    tiny = open_on(folder, "cpu")
    raw = drawn(shape, tiny.raw.config, device)
    opened = around(raw, tiny.processor, PictureRule(32, 64 * 32**2, 4096 * 32**2))
    words = "photo " * shape.prompt
    prompt = opened.prompt([user(words)])
    warm(opened)
    prefill, run, scores = timed(device, lambda: _prefilled(opened, prompt))
    decode, _, _ = timed(device, lambda: (_decoded(opened, run, scores, 64), None))
    part = picture(opened.rule, 5, 1024)
    seen, url = opened.pictures.seen(part)
    encode, features, _ = timed(device, lambda: (opened.pictures.features(seen, url), None))
    size = sum(p.numel() * p.element_size() for p in raw.parameters())
    peak = torch.cuda.max_memory_allocated() if device == "cuda" else 0
    finite = bool(torch.isfinite(scores).all() and torch.isfinite(features.pooled).all())
    report.check(
        f"speed at {shape.name}",
        finite and len(prompt) >= shape.prompt,
        weights_gib=round(size / GIB, 2),
        peak_gib=round(peak / GIB, 2),
        prefill_tokens_per_s=round(len(prompt) / prefill),
        decode_tokens_per_s=round(64 / decode, 1),
        picture_tokens=seen.tokens,
        picture_ms=round(1000 * encode, 1),
    )


def drawn(shape: Shape, like: Any, device: str) -> Any:
    """The architecture of ``like`` in the sizes of ``shape``, 16 bits on a GPU."""
    import copy

    import torch
    from transformers import Qwen3VLForConditionalGeneration

    config = copy.deepcopy(like)
    for name, value in shape.text.items():
        setattr(config.text_config, name, value)
    for name, value in shape.vision.items():
        setattr(config.vision_config, name, value)
    config.text_config.max_position_embeddings = 32768
    half = shape.text["head_dim"] // 2
    rope = {"mrope_section": [half - 2 * (half * 3 // 8), half * 3 // 8, half * 3 // 8]}
    for place in ("rope_parameters", "rope_scaling"):
        if isinstance(getattr(config.text_config, place, None), dict):
            setattr(config.text_config, place, getattr(config.text_config, place) | rope)
    if shape is LARGE:
        config.text_config.vocab_size = 151936
    torch.manual_seed(0)
    number = torch.bfloat16 if device == "cuda" else torch.float32
    before = torch.get_default_dtype()
    torch.set_default_dtype(number)
    try:
        with torch.device(device):
            model = Qwen3VLForConditionalGeneration(config)
    finally:
        torch.set_default_dtype(before)
    return model.eval()


def warm(opened: Opened) -> None:
    prompt = opened.prompt([user("warm")])
    run, scores = _prefilled(opened, prompt)
    _decoded(opened, run, scores, 4)


def _prefilled(opened: Opened, prompt: Any) -> tuple[Any, Any]:
    run = opened.model.start(prompt, [], 0)
    return run, opened.model.prefill(run, prompt, {})


def _decoded(opened: Opened, run: Any, scores: Any, number: int) -> int:
    token = int(scores.argmax())
    for _ in range(number):
        token = int(opened.model.step(run, token).argmax())
    return token


def timed(device: str, work: Any) -> tuple[float, Any, Any]:
    import torch

    began = time.monotonic()
    first, second = work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.monotonic() - began, first, second

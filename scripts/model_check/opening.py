"""A tiny checkpoint as the package's backend loads it, on a device of choice and in 32 bits.

Where torchvision is absent, a stand-in takes its place: the slow image processor,
and pictures that come in the family's sizes already.
"""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from PIL import Image

from photocraft_local.serving.tokens import PictureRule, chat_template
from photocraft_local.serving.transformers.model import Model
from photocraft_local.serving.transformers.pictures import Pictures
from photocraft_local.serving.transformers.prompts import Prompt, prompt_of

BUDGET = 64 << 20  # bytes of encoded pictures that are kept


@dataclass
class Opened:
    """The package's ``Model`` and ``Pictures`` over transformers' own ``model``."""

    raw: Any
    processor: Any
    model: Model
    pictures: Pictures
    rule: PictureRule

    def prompt(self, messages: list[dict[str, Any]]) -> Prompt:
        return prompt_of(messages, self.processor, self.pictures, self.model.pad)


def open_on(folder: Path, device: str) -> Opened:
    import torch
    from transformers import AutoModelForImageTextToText

    raw = AutoModelForImageTextToText.from_pretrained(
        folder, dtype=torch.float32, local_files_only=True
    )
    processor = processor_of(folder)
    return around(raw.eval().to(device), processor, PictureRule.of_folder(folder))


def around(raw: Any, processor: Any, rule: PictureRule) -> Opened:
    return Opened(raw, processor, Model(raw), Pictures(raw, processor, BUDGET), rule)


def processor_of(folder: Path) -> Any:
    """transformers' own, or its parts where torchvision is absent."""
    from transformers import AutoImageProcessor, AutoProcessor, AutoTokenizer

    try:
        return AutoProcessor.from_pretrained(folder, local_files_only=True)
    except ImportError:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        images = AutoImageProcessor.from_pretrained(folder, local_files_only=True, backend="pil")

    template = chat_template(folder)

    def apply(messages: Any, **options: Any) -> Any:
        return tokenizer.apply_chat_template(messages, chat_template=template, **options)

    return SimpleNamespace(tokenizer=tokenizer, image_processor=images, apply_chat_template=apply)


def picture(rule: PictureRule, seed: int, tokens: int = 64) -> dict[str, Any]:
    """A part of a message: noise over a gradient, ``tokens`` large or the family's least."""
    side = max(tokens * rule.factor**2, rule.min_pixels)
    edge = -(-int(side**0.5) // rule.factor) * rule.factor
    generator = np.random.default_rng(seed)
    slope = np.linspace(0, 200, edge)[None, :, None]
    pixels = (slope + generator.integers(0, 55, (edge, edge, 3))).astype(np.uint8)
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    url = "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
    return {"type": "image_url", "image_url": {"url": url}, "uuid": f"drawn-{seed}-{edge}"}


def user(*parts: Any) -> dict[str, Any]:
    content = [p if isinstance(p, dict) else {"type": "text", "text": p} for p in parts]
    return {"role": "user", "content": content}

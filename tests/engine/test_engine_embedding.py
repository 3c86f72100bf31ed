"""Qwen3-VL-Embedding in vLLM: photos and words as unit vectors of one space, as in transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image
from tiny_engine import picture, user, words

FAMILY = "qwen3-vl-embedding"


def test_photos_and_words_become_the_unit_vectors_of_transformers(
    engine: Callable[..., Any],
    original: Callable[[str], tuple[Any, Any]],
    photos: list[Image.Image],
) -> None:
    import torch

    processor, model = original(FAMILY)
    llm = engine(FAMILY, runner="pooling", convert="embed")
    contents = [[picture(photos[0], kind="image")], [picture(photos[1], kind="image")]]
    contents += [[words("dogs on a beach")]]
    prompts, expected = [], []
    for parts in contents:
        prompt = processor.apply_chat_template([user(*parts)], add_generation_prompt=True)
        images = [part["image"] for part in parts if part["type"] == "image"]
        prompts.append(
            {"prompt": prompt} | ({"multi_modal_data": {"image": images}} if images else {})
        )
        inputs = processor(text=[prompt], images=images or None, return_tensors="pt")
        with torch.no_grad():
            last = model.model(**inputs).last_hidden_state[0, -1].numpy()
        expected.append(last / np.linalg.norm(last))
    outputs = llm.embed([*prompts, prompts[0]], use_tqdm=False)
    vectors = np.array([output.outputs.embedding for output in outputs])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(vectors[:3], expected, atol=1e-4)
    np.testing.assert_allclose(vectors[0], vectors[3], atol=1e-5)
    assert vectors[0] @ vectors[1] < 0.999

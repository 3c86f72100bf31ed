"""qwen-vl-utils and the families' own processor as oracles of our picture sizes and pixels."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from photocraft_local.errors import ModelError
from photocraft_local.imaging.geometry import MAX_ASPECT, smart_resize
from photocraft_local.serving.tokens import PictureRule

pytest.importorskip("torch", reason="ENGINE ABSENT: the tests need torch and transformers")

from local_model import RecordedChat, noise, shown

FAMILIES = ("qwen2.5-vl", "qwen3-vl")


def sizes(num: int, factor: int) -> list[tuple[int, int]]:
    """(width, height): usual ones, strips up to 200:1, and both sides of each rounding."""
    chance = random.Random(factor)
    edges = [factor * n + d for n in (1, 2, 9, 40) for d in (-1, 0, 1, factor // 2)]
    made = [(width, height) for width in edges[:8] for height in edges]
    while len(made) < num:
        width, height = (int(2 ** chance.uniform(0, 13)) for _ in range(2))
        if max(width, height) <= MAX_ASPECT * min(width, height):
            made.append((width, height))
    return made


@pytest.mark.parametrize("family", FAMILIES)
def test_our_sizes_are_those_of_qwen_vl_utils(checkpoint: Callable[..., Path], family: str) -> None:
    from qwen_vl_utils.vision_process import smart_resize as theirs

    rule = PictureRule.of_folder(checkpoint(family))
    compared = 0
    for width, height in sizes(500, rule.factor):
        limits = (rule.factor, rule.min_pixels, rule.max_pixels)
        expected = theirs(height, width, *limits)
        if min(expected) < rule.factor:  # theirs gives sides of 0 to large strips
            continue
        compared += 1
        assert smart_resize(height, width, *limits) == expected, (width, height)
        fit = rule.fit(width, height)
        shown = (fit.canvas_height, fit.canvas_width)
        if max(expected) <= MAX_ASPECT * min(expected):
            assert shown == expected, (width, height)
        # What is sent goes through unchanged, whatever the picture was.
        assert theirs(*shown, *limits) == shown
    assert compared > 400


@pytest.mark.parametrize("family", FAMILIES)
def test_our_pictures_reach_the_vision_tower_pixel_by_pixel(
    loaded: Callable[..., Any], checkpoint: Callable[..., Path], family: str
) -> None:
    """The processor's rows hold exactly the pixels that were sent, two frames of each patch."""
    made, show = loaded(family), shown(checkpoint(family))
    chat = RecordedChat(made)
    processor, patch = made.processor.image_processor, chat.pictures._patch
    mean, std = np.array(processor.image_mean), np.array(processor.image_std)
    for seed, (width, height) in enumerate([(300, 200), (31, 47), (1000, 12), (640, 960)]):
        part = show(noise(seed, width, height))
        seen, url = chat.pictures.seen(part)
        picture = chat.pictures._opened(url)
        rows, columns = seen.grid[1:]
        assert picture.size == (columns * patch, rows * patch)
        pixels = processor(images=[picture], return_tensors="np")
        assert tuple(pixels["image_grid_thw"][0]) == seen.grid
        whole = (np.asarray(picture, dtype=np.float64) / 255 - mean) / std
        merge = 2
        blocks = whole.reshape(rows // merge, merge, patch, columns // merge, merge, patch, 3)
        ordered = blocks.transpose(0, 3, 1, 4, 6, 2, 5).reshape(rows * columns, 3, 1, patch, patch)
        expected = np.repeat(ordered, 2, axis=2).reshape(rows * columns, -1)
        np.testing.assert_allclose(pixels["pixel_values"], expected, atol=2e-5)
        ours = chat.pictures._rows(url)
        assert tuple(ours.grids[0]) == seen.grid
        np.testing.assert_allclose(ours.rows, pixels["pixel_values"], atol=1e-6)


def test_a_processor_that_does_otherwise_is_refused(
    loaded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = loaded("qwen3-vl")
    for name, value in {"do_normalize": False, "rescale_factor": 1.0, "patch_size": 14}.items():
        with monkeypatch.context() as patch:
            patch.setattr(made.processor.image_processor, name, value)
            with pytest.raises(ModelError, match=r"preprocessor_config\.json"):
                RecordedChat(made)


def test_a_picture_in_another_size_is_refused(loaded: Callable[..., Any]) -> None:
    import base64
    import io

    chat = RecordedChat(loaded("qwen3-vl"))
    for size in ((201, 141), (6432, 32)):
        buffer = io.BytesIO()
        noise(1, *size).save(buffer, "PNG")
        url = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
        with pytest.raises(ModelError, match="no size of this family"):
            chat.pictures.seen({"image_url": {"url": url}, "uuid": "x"})

"""Patch rows against the Hugging Face processors of Qwen2.5-VL and Qwen3-VL, and as embeddings."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from photocraft_local.imaging.crop_batch import Crop, crop_patches
from photocraft_local.imaging.geometry import Box, smart_resize
from photocraft_local.imaging.model_values import (
    CLIP_MEAN,
    CLIP_STD,
    HALF,
    ModelValues,
    PatchLayout,
)

FAMILIES = {
    "qwen2.5-vl": (PatchLayout(14), ModelValues(mean=CLIP_MEAN, std=CLIP_STD)),
    "qwen3-vl": (PatchLayout(16), ModelValues(mean=HALF, std=HALF)),
}
LEAST, MOST = 4 * 32**2, 300 * 300
COUNT = 300  # of each family


def limits(layout: PatchLayout, values: ModelValues) -> dict[str, Any]:
    return {
        "patch_size": layout.patch,
        "merge_size": layout.merge,
        "temporal_patch_size": layout.copies,
        "image_mean": list(values.mean),
        "image_std": list(values.std),
        "size": {"shortest_edge": LEAST, "longest_edge": MOST},
    }


@pytest.fixture(scope="module")
def pictures(shared: Path) -> list[np.ndarray[Any, Any]]:
    files = sorted((shared / "data/captioned/coco").glob("*.jpg"))[::40][:4]
    return [np.asarray(Image.open(file).convert("RGB")) for file in files]


def drawn_crops(pictures: list[Any], layout: PatchLayout, seed: int) -> list[Crop]:
    """Boxes of every kind: whole pictures, strips, single tokens, odd sizes, at the edges.

    None thinner than half a token: there ``smart_resize`` means another size (see its words).
    """
    dice = random.Random(seed)
    least = layout.factor // 2 + 1
    crops = []
    while len(crops) < COUNT:
        index = dice.randrange(len(pictures))
        height, width = pictures[index].shape[:2]
        sides = [
            (width, height),
            (width, dice.randint(least, 40)),
            (dice.randint(least, 40), height),
        ]
        sides += [(dice.randint(least, width), dice.randint(least, height)) for _ in range(5)]
        box_width, box_height = dice.choice(sides)
        x, y = dice.randint(0, width - box_width), dice.randint(0, height - box_height)
        target = smart_resize(box_height, box_width, layout.factor, LEAST, MOST)
        crops.append(Crop(index, Box(x, y, box_width, box_height), target[1], target[0]))
    return crops


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_and_grids_are_those_of_the_processors(family: str, pictures: list[Any]) -> None:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import (
        Qwen2VLImageProcessorPil,
    )
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor

    layout, values = FAMILIES[family]
    crops = drawn_crops(pictures, layout, seed=len(family))
    cuts = [Image.fromarray(pictures[crop.picture]).crop(crop.box.corners()) for crop in crops]
    ours = crop_patches(pictures, crops, layout, values)
    same = Qwen2VLImageProcessorPil(**limits(layout, values))(images=cuts, return_tensors="np")
    assert np.array_equal(ours.grids, same["image_grid_thw"])
    assert np.array_equal(ours.rows, same["pixel_values"])  # bit by bit: both resize as Pillow

    other = Qwen2VLImageProcessor(**limits(layout, values))(images=cuts, return_tensors="pt")
    assert np.array_equal(ours.grids, other["image_grid_thw"].numpy())
    error = np.abs(ours.rows - other["pixel_values"].numpy())
    steps = error * min(values.std) * 255  # torchvision's weights have fewer bits
    psnr = 20 * np.log10(2 / np.sqrt(np.mean(error.astype(np.float64) ** 2)))
    print(
        f"{family}: {len(crops)} boxes, torchvision differs by {steps.max():.2f} LSB, {psnr:.1f} dB"
    )
    assert psnr >= 55
    assert np.mean(steps > 1.5) < 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_the_model_sees_the_same(
    family: str, pictures: list[Any], original: Callable[[str], tuple[Any, Any]]
) -> None:
    """The vision tower's output for our rows and for those of the model's own processor."""
    import torch

    processor, model = original(family)
    images = processor.image_processor
    layout = PatchLayout(images.patch_size, images.merge_size, images.temporal_patch_size)
    values = ModelValues(mean=tuple(images.image_mean), std=tuple(images.image_std))
    least, most = images.size["shortest_edge"], images.size["longest_edge"]
    crops = []
    for index, pixels in enumerate(pictures):
        height, width = pixels.shape[:2]
        target = smart_resize(height, width, layout.factor, least, min(most, 320 * 320))
        crops.append(Crop(index, Box(0, 0, width, height), target[1], target[0]))
    ours = crop_patches(pictures, crops, layout, values)
    size = {"shortest_edge": least, "longest_edge": min(most, 320 * 320)}
    theirs = images(
        images=[Image.fromarray(each) for each in pictures], size=size, return_tensors="pt"
    )
    assert np.array_equal(ours.grids, theirs["image_grid_thw"].numpy())
    with torch.no_grad():
        made = features(model, torch.from_numpy(ours.rows), theirs["image_grid_thw"])
        wanted = features(model, theirs["pixel_values"], theirs["image_grid_thw"])
    cosine = torch.nn.functional.cosine_similarity(made, wanted)
    assert cosine.min() >= 0.9995


def features(model: Any, rows: Any, grids: Any) -> Any:
    """Token vectors of all pictures."""
    import torch

    given = model.get_image_features(rows, grids)
    given = getattr(given, "pooler_output", given)
    return torch.cat(list(given)) if not torch.is_tensor(given) else given

"""Pictures and crops for the tests of model-ready numbers."""

from __future__ import annotations

import random

import numpy as np

from photocraft_local.imaging.crop_batch import Crop
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.pictures import Pixels


def noise(height: int, width: int, seed: int = 0) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def random_crops(
    count: int, pictures: list[Pixels], factor: int, *, seed: int, most: int = 12
) -> list[Crop]:
    """Boxes of all sizes, half of them at an edge; targets are multiples of ``factor`` px."""
    dice = random.Random(seed)
    crops = []
    for _ in range(count):
        picture = dice.randrange(len(pictures))
        height, width = pictures[picture].shape[:2]
        box_width, box_height = dice.randint(1, width), dice.randint(1, height)
        x = dice.choice([0, width - box_width, dice.randint(0, width - box_width)])
        y = dice.choice([0, height - box_height, dice.randint(0, height - box_height)])
        box = Box(x, y, box_width, box_height)
        target = factor * dice.randint(1, most), factor * dice.randint(1, most)
        crops.append(Crop(picture, box, *target))
    return crops

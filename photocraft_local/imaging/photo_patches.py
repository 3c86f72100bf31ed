"""Photo files → patch rows or pictures in a model's own sizes, with no more decoded than it takes.

A JPEG is scaled while it is decoded, to nearly twice what the model sees or more; then one resize
brings it to the model's size. Knows no model and no rule of sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from photocraft_local.files.decode import Decoded, decode_upright
from photocraft_local.files.metadata import read_metadata
from photocraft_local.imaging.crop_batch import Crop, Patches, crop_patches, crop_planes
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.model_values import ModelValues, PatchLayout
from photocraft_local.imaging.pictures import Pixels

# (width, height) of an upright picture → those at which the model sees it, in px.
SizeRule: TypeAlias = Callable[[int, int], tuple[int, int]]
_MOST_PIXELS = 300_000_000


def photo_patches(
    path: bytes,
    layout: PatchLayout,
    values: ModelValues,
    size: SizeRule,
    *,
    max_pixels: int = _MOST_PIXELS,
) -> tuple[Patches, tuple[str, ...]]:
    """The whole upright photo, and the doubts that decoding it has raised.

    Raises PhotoError for the file, UsageError for a size that is not in whole tokens.
    """
    decoded, crop = _decoded(path, size, max_pixels)
    return crop_patches([decoded.pixels], [crop], layout, values), decoded.flags


def photo_picture(
    path: bytes, size: SizeRule, *, max_pixels: int = _MOST_PIXELS
) -> tuple[Pixels, tuple[str, ...]]:
    """The same as pixels (height, width, 3), the caller's own. Raises PhotoError for the file."""
    decoded, crop = _decoded(path, size, max_pixels)
    (planes,) = crop_planes([decoded.pixels], [crop], ModelValues("uint8"))
    return np.ascontiguousarray(planes.transpose(1, 2, 0)), decoded.flags


def _decoded(path: bytes, size: SizeRule, max_pixels: int) -> tuple[Decoded, Crop]:
    """Its memory is good until this thread's next decode."""
    facts = read_metadata(path)
    width, height = size(facts.width, facts.height)
    decoded = decode_upright(
        path, short_side=min(width, height), exact=False, max_pixels=max_pixels
    )
    tall, wide = decoded.pixels.shape[:2]
    return decoded, Crop(0, Box(0, 0, wide, tall), width, height)

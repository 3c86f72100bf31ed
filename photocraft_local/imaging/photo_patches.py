"""Photo files → patch rows for a Qwen-VL model, with no more pixels decoded than it takes.

A JPEG is scaled while it is decoded, to at least twice what the model sees; then one resize brings
it to the model's size. Knows the family's rule of sizes, no model.
"""

from __future__ import annotations

from dataclasses import dataclass

from photocraft_local.files.decode import decode_upright
from photocraft_local.files.metadata import read_metadata
from photocraft_local.imaging.crop_batch import Crop, Patches, crop_patches
from photocraft_local.imaging.geometry import Box, smart_resize
from photocraft_local.imaging.model_values import ModelValues, PatchLayout


@dataclass(frozen=True, slots=True)
class Seen:
    """How large a model sees a picture: its area lies within these limits, in px."""

    min_pixels: int
    max_pixels: int

    def size(self, width: int, height: int, layout: PatchLayout) -> tuple[int, int]:
        """(width, height) in whole tokens for an upright picture of that size."""
        tall, wide = smart_resize(height, width, layout.factor, self.min_pixels, self.max_pixels)
        return wide, tall


def photo_patches(
    path: bytes,
    layout: PatchLayout,
    values: ModelValues,
    seen: Seen,
    *,
    max_pixels: int = 300_000_000,
) -> Patches:
    """The whole upright photo. Raises PhotoError for the file."""
    facts = read_metadata(path)
    width, height = seen.size(facts.width, facts.height, layout)
    decoded = decode_upright(
        path, short_side=min(width, height), exact=False, max_pixels=max_pixels
    )
    tall, wide = decoded.pixels.shape[:2]
    return crop_patches(
        [decoded.pixels], [Crop(0, Box(0, 0, wide, tall), width, height)], layout, values
    )

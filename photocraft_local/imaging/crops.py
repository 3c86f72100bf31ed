"""Views of one photo for a model: the whole picture, or a crop in original upright pixels.

A crop has the pixels of the full decode and is brought to the model's size range; a small one is
enlarged. Knows nothing of the library or of UIDs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from photocraft_local.files.decode_region import decode_region
from photocraft_local.imaging.geometry import COMFORT_SIDE, MAX_SIDE, Box, fit_for_model
from photocraft_local.imaging.pictures import Pixels, fitted


@dataclass(frozen=True, slots=True)
class View:
    """What a model gets to see, and the size in pixels of what it is a view of.

    ``content`` is where the picture lies in it; the rest is padding.
    """

    pixels: Pixels
    source_width: int
    source_height: int
    content: Box

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])


def cut(pixels: Pixels, box: Box) -> Pixels:
    """The box's pixels, unscaled. UsageError if it reaches outside the picture."""
    height, width = pixels.shape[:2]
    box.check(width, height)
    return np.ascontiguousarray(pixels[box.y : box.bottom, box.x : box.right])


def model_view(pixels: Pixels, *, longest: int = MAX_SIDE, at_least: int = COMFORT_SIDE) -> View:
    """The picture with sides within 28…2048 px and no aspect above 200:1."""
    height, width = pixels.shape[:2]
    fit = fit_for_model(width, height, longest=longest, at_least=at_least)
    return View(fitted(pixels, fit), width, height, fit.content)


def crop_view(path: bytes, box: Box, *, max_pixels: int = 300_000_000) -> View:
    """A crop of the file's full-size upright pixels, brought to the model's size range.

    Raises UsageError for a box that is not inside the picture, PhotoError for the file.
    """
    return model_view(decode_region(path, box.corners(), max_pixels=max_pixels))

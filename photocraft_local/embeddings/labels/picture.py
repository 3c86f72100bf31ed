"""Pixels → the classifier's input: the whole picture at one area, sides multiples of 32."""

from __future__ import annotations

import numpy as np
from PIL import Image

from photocraft_local.embeddings.encoder import Pixels
from photocraft_local.embeddings.labels.efficientnet import STRIDE

SIDE = 320  # of the square of the same area
PREPROCESSING = "whole-area320-bicubic-1"
_WIDEST = 2.0  # a longer panorama is squeezed


def input_size(height: int, width: int) -> tuple[int, int]:
    """(height, width) of the classifier's input for a picture of that size."""
    root = float(np.clip(width / height, 1 / _WIDEST, _WIDEST)) ** 0.5
    return _cells(SIDE / root) * STRIDE, _cells(SIDE * root) * STRIDE


def _cells(side: float) -> int:
    return max(2, round(side / STRIDE))


def classifier_input(pixels: Pixels) -> Pixels:
    """(1, height, width, 3) of an upright picture (h, w, 3) of any size."""
    height, width = input_size(*pixels.shape[:2])
    if pixels.shape[:2] != (height, width):
        picture = Image.fromarray(np.ascontiguousarray(pixels))
        resized = picture.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=3.0)
        pixels = np.asarray(resized)
    return np.ascontiguousarray(pixels)[None]

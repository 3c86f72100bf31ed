"""Pixels → the networks' input: the whole picture at one area, sides multiples of 32."""

from __future__ import annotations

import numpy as np
from PIL import Image

from photocraft_local.embeddings.encoder import Pixels
from photocraft_local.embeddings.labels.efficientnet import STRIDE

CLASSIFIER_SIDE = 320  # of the square of the same area
DETECTOR_SIDE = 416  # small things need more pixels
DECODE_SIDE = 352  # the detector's shorter side for a 3:2 picture
PREPROCESSING = "whole-area320-area416-bicubic-2"
_WIDEST = 2.0  # a longer panorama is squeezed


def input_size(height: int, width: int, side: int = CLASSIFIER_SIDE) -> tuple[int, int]:
    """(height, width) of a network's input of the area side² for a picture of that size."""
    root = float(np.clip(width / height, 1 / _WIDEST, _WIDEST)) ** 0.5
    return _cells(side / root) * STRIDE, _cells(side * root) * STRIDE


def _cells(side: float) -> int:
    return max(2, round(side / STRIDE))


def network_input(pixels: Pixels, side: int) -> Pixels:
    """(1, height, width, 3) of an upright picture (h, w, 3) of any size."""
    rows, columns = pixels.shape[:2]
    height, width = input_size(rows, columns, side)
    if pixels.shape[:2] != (height, width):
        picture = Image.fromarray(np.ascontiguousarray(pixels))
        resized = picture.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=3.0)
        pixels = np.asarray(resized)
    return np.ascontiguousarray(pixels)[None]

"""An encoder without weights: colour histograms. For tests and for measuring the pipeline.

It is honest about what it knows: pictures are likened by their colours, a text is understood by
its colour words only, everything else is named as not understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import (
    Calibration,
    EncoderSpec,
    Pixels,
    TextEmbedding,
    Vectors,
)

_LEVELS = 4  # a channel; 64 cells of colour
_DIM = _LEVELS**3
_SIDE = 32
_COLOURS: dict[str, tuple[int, int, int]] = {
    "black": (0, 0, 0),
    "blue": (40, 70, 220),
    "brown": (120, 75, 40),
    "dark": (30, 30, 30),
    "green": (50, 160, 60),
    "grey": (128, 128, 128),
    "orange": (250, 140, 20),
    "pink": (250, 150, 190),
    "purple": (120, 40, 150),
    "red": (220, 30, 30),
    "white": (250, 250, 250),
    "yellow": (240, 220, 40),
}


class NullEncoder:
    """``Encoder`` whose vector is the root of a picture's colour histogram."""

    concurrency = 1  # faster than a thread switch

    @property
    def spec(self) -> EncoderSpec:
        return EncoderSpec("null", "1", f"histogram-{_LEVELS}", _DIM, _SIDE)

    @property
    def calibration(self) -> Calibration:
        return Calibration(mean=0.15, std=0.15, cutoff=2.0)

    def encode_images(self, images: Sequence[Pixels]) -> Vectors:
        """Unit vectors (n, 64): the same pixels give the same vector on every machine."""
        if not images:
            return np.zeros((0, _DIM), np.float32)
        return np.stack([_histogram(image) for image in images])

    def encode_text(self, text: str) -> TextEmbedding:
        words = re.findall(r"\w+", text.lower())
        known = [word for word in words if word in _COLOURS]
        unknown = tuple(word for word in words if word not in _COLOURS)
        if not known:
            return TextEmbedding(None, (), unknown)
        pixels = np.array([[_COLOURS[word] for word in known]], np.uint8)
        return TextEmbedding(_histogram(pixels), tuple(known), unknown)


def _histogram(pixels: Pixels) -> NDArray[np.float32]:
    cells = (pixels // (256 // _LEVELS)).astype(np.int64)
    index = (cells[..., 0] * _LEVELS + cells[..., 1]) * _LEVELS + cells[..., 2]
    counts = np.bincount(index.ravel(), minlength=_DIM)
    shares: NDArray[np.float32] = np.sqrt(counts / counts.sum()).astype(np.float32)
    return shares

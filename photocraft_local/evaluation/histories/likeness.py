"""How alike two pictures look, without any encoder: colours by place, edges by place.

A look is made of the picture at 32 × 32: the mean luma and chroma of 4 × 4 tiles, and in each tile
the strength of edges in six directions (as in colour layout descriptors and histograms of oriented
gradients). So a history's bytes depend on no model. Knows nothing of labels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

Look = NDArray[np.float32]
_SIDE, _TILES, _DIRECTIONS = 32, 4, 6
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)


def look_of(path: Path) -> Look:
    """Two halves of colours and edges. Raises OSError, ValueError or SyntaxError for what Pillow
    cannot decode."""
    with Image.open(path) as opened:
        opened.draft("RGB", (2 * _SIDE, 2 * _SIDE))
        upright = ImageOps.exif_transpose(opened).convert("RGB")
        small = upright.resize((_SIDE, _SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small, np.float32) / 255
    luma = pixels @ _LUMA
    colours = np.stack([luma, pixels[..., 2] - luma, pixels[..., 0] - luma], axis=-1)
    rise, run = np.gradient(luma)
    strength = np.hypot(rise, run)
    turn = np.arctan2(rise, run) % np.pi / np.pi * _DIRECTIONS
    direction = turn.astype(np.intp) % _DIRECTIONS
    edges = strength[..., None] * (direction[..., None] == np.arange(_DIRECTIONS))
    return np.concatenate([_by_tile(colours).ravel(), np.sqrt(_by_tile(edges)).ravel()])


def alike(looks: NDArray[np.float32]) -> NDArray[np.float64]:
    """(n, n) from -1 to 1 of n looks: how each differs from their mean, in colours and edges alike,
    compared by the cosine."""
    colours = 3 * _TILES * _TILES
    parts = []
    for part in (looks[:, :colours], looks[:, colours:]):
        apart = part.astype(np.float64) - part.mean(axis=0, dtype=np.float64)
        length = np.linalg.norm(apart, axis=1, keepdims=True)
        unit = apart / np.maximum(length, 1e-12)
        parts.append(unit @ unit.T)
    likeness: NDArray[np.float64] = (parts[0] + parts[1]) / 2
    return likeness


def _by_tile(values: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Means (4, 4, k) of (32, 32, k)."""
    step = _SIDE // _TILES
    tiles = values.reshape(_TILES, step, _TILES, step, -1)
    means: NDArray[np.float32] = tiles.mean(axis=(1, 3), dtype=np.float32)
    return means

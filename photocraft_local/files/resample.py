"""Bicubic shrinking of RGB pixels as banded matrix products, Pillow's kernel and antialiasing.

Why not ``Image.resize``: this needs 8 ms where Pillow needs 14 ms for a 12-megapixel JPEG on
its way to 448 pixels (benchmarks/decode.py), a tenth of the whole. Owns the kernel and the
bands; knows nothing of files.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK: Final = 8  # outputs of one product; more widens the band and multiplies more zeros
# OpenBLAS starts its threads above this many multiplications; decoding is threaded by photo.
_PRODUCT: Final = 262_144
_KEPT: Final = 4 << 20  # floats of scratch that a thread keeps
# Below, Pillow is done before the weights are computed; above, the scratch would be too large.
_LEAST_PIXELS: Final = 200_000
_MOST_FLOATS: Final = 16 << 20


@dataclass(frozen=True, slots=True, eq=False)
class _Bands:
    """Weights (blocks, _BLOCK, width) of one axis and where each block's input starts."""

    weights: NDArray[np.float32]
    starts: tuple[int, ...]


class _Scratch(threading.local):
    """Memory of one thread, used again."""

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[np.float32]] = {}

    def get(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        kept = self._kept.get(name)
        if kept is None or kept.size < rows * columns:
            kept = np.zeros(rows * columns, np.float32)
            if kept.size <= _KEPT:
                self._kept[name] = kept
        return kept[: rows * columns].reshape(rows, columns)


_scratch = _Scratch()


def shrink(
    pixels: NDArray[np.uint8], size: tuple[int, int], extent: tuple[float, float] | None = None
) -> NDArray[np.uint8]:
    """RGB pixels (h, w, 3) → (size[1], size[0], 3); both sides must shrink or stay.

    ``extent`` is how far the picture reaches, in pixels across and down, where its last column or
    row is only partly filled: a decoder that scales rounds its sizes up.
    """
    height, width = pixels.shape[:2]
    reach = extent or (width, height)
    if height * width < _LEAST_PIXELS or size[1] * width * 3 > _MOST_FLOATS:
        small = Image.fromarray(pixels).resize(
            size, Image.Resampling.BICUBIC, box=(0, 0, reach[0], reach[1])
        )
        return np.asarray(small, dtype=np.uint8)
    return _across(_down(pixels, size[1], reach[1]), width, size, reach[0])


def _down(pixels: NDArray[np.uint8], height: int, reach: float) -> NDArray[np.float32]:
    """The rows of ``pixels`` (h, w, 3) shrunk to ``height``: float32 (height+, 3w+)."""
    rows, columns = pixels.shape[0], pixels.shape[1] * 3
    flat = pixels.reshape(rows, columns)
    bands = _bands(rows, height, reach)
    width = bands.weights.shape[2]
    chunk = max(1, _PRODUCT // (_BLOCK * width))
    count = -(-columns // chunk)
    chunk = -(-columns // count)
    window = _scratch.get("window", width, count * chunk)
    result = _scratch.get("middle", len(bands.starts) * _BLOCK, count * chunk)
    parts = window.reshape(width, count, chunk).transpose(1, 0, 2)
    for index, start in enumerate(bands.starts):
        window[:, :columns] = flat[start : start + width]
        target = result[index * _BLOCK : (index + 1) * _BLOCK]
        np.matmul(
            bands.weights[index],
            parts,
            out=target.reshape(_BLOCK, count, chunk).transpose(1, 0, 2),
        )
    return result


def _across(
    middle: NDArray[np.float32], width: int, size: tuple[int, int], reach: float
) -> NDArray[np.uint8]:
    """The columns of ``middle`` shrunk from ``width`` pixels to ``size``, rounded to uint8."""
    bands, weights = _bands(width, size[0], reach), _interleaved(width, size[0], reach)
    span, out = weights.shape[1:]
    rows = max(1, _PRODUCT // (span * out))
    count = -(-size[1] // rows)
    rows = min(-(-size[1] // count), middle.shape[0])
    result = _scratch.get("result", size[1], len(bands.starts) * out)
    for index, start in enumerate(bands.starts):
        block = middle[:, start * 3 : start * 3 + span]
        for top in range(0, size[1], rows):
            bottom = min(top + rows, size[1])
            np.matmul(
                block[top:bottom],
                weights[index],
                out=result[top:bottom, index * out : (index + 1) * out],
            )
    result += 0.5
    np.clip(result, 0.0, 255.0, out=result)
    return result[:, : size[0] * 3].astype(np.uint8).reshape(size[1], size[0], 3)


@lru_cache(maxsize=64)
def _bands(before: int, after: int, reach: float) -> _Bands:
    """Bicubic (a = -0.5) weights for shrinking the first ``reach`` of ``before`` samples to
    ``after``."""
    scale = reach / after
    support = 2.0 * scale
    centres = (np.arange(after) + 0.5) * scale
    first = np.maximum((centres - support + 0.5).astype(np.int64), 0)
    last = np.minimum((centres + support + 0.5).astype(np.int64), before)
    taps = first[:, None] + np.arange(int((last - first).max()))
    values = _cubic((taps - centres[:, None] + 0.5) / scale)
    values[taps >= last[:, None]] = 0.0
    values /= values.sum(axis=1, keepdims=True)
    blocks = np.arange(0, after, _BLOCK)
    width = int((last[np.minimum(blocks + _BLOCK, after) - 1] - first[blocks]).max())
    starts = np.minimum(first[blocks], before - width)
    weights = np.zeros((len(blocks), _BLOCK, width), np.float32)
    outputs = np.arange(after)
    places = np.minimum(taps, last[:, None] - 1) - starts[outputs // _BLOCK][:, None]
    np.add.at(weights, ((outputs // _BLOCK)[:, None], (outputs % _BLOCK)[:, None], places), values)
    return _Bands(weights, tuple(int(start) for start in starts))


@lru_cache(maxsize=32)
def _interleaved(before: int, after: int, reach: float) -> NDArray[np.float32]:
    """The weights of ``_bands`` for interleaved RGB: (blocks, 3 * width, 3 * _BLOCK)."""
    bands = _bands(before, after, reach)
    blocks, outputs, width = bands.weights.shape
    spread = np.zeros((blocks, width, 3, outputs, 3), np.float32)
    for channel in range(3):
        spread[:, :, channel, :, channel] = bands.weights.transpose(0, 2, 1)
    return spread.reshape(blocks, width * 3, outputs * 3)


def _cubic(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    x = np.abs(distance)
    near = (1.5 * x - 2.5) * x * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return np.where(x < 1.0, near, np.where(x < 2.0, far, 0.0))

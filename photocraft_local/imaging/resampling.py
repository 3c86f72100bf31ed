"""One crop → resized → looked up → laid out, by one of two paths that give the same bytes.

``native`` is this package's C extension, one walk over the pixels; ``plain`` is Pillow and NumPy
and does the same in several. The choice is made once and says why. Resizing is Pillow's:
antialiased when it shrinks, each axis by itself, rounded between.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from photocraft_local.imaging.model_values import CHANNELS, PatchLayout
from photocraft_local.imaging.pictures import Pixels

Filter: TypeAlias = Literal["bilinear", "bicubic"]
FILTERS: dict[Filter, Image.Resampling] = {
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
}
# (pixels of the box, (width, height), table, layout or None for planes, filter, where to write)
Run: TypeAlias = Callable[
    [Pixels, tuple[int, int], NDArray[Any], PatchLayout | None, Filter, NDArray[Any]], None
]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Path:
    """A way to make model-ready numbers, and why it is this one. ``hint`` is the way to better."""

    name: str
    reason: str
    run: Run
    hint: str = ""


@lru_cache(maxsize=1)
def chosen() -> Path:
    """The path of this process."""
    path = _choose()
    _log.info("crops are resized by the %s path: %s", path.name, path.reason)
    return path


def _choose() -> Path:
    try:
        from photocraft_local.imaging import _native
    except ImportError as exc:
        return Path(
            "plain",
            f"Pillow and NumPy, since the C extension cannot be used ({exc})",
            plain,
            hint="six to nine times slower; install a C compiler and Python's headers (Debian: "
            "apt-get install gcc python3-dev), then the package again",
        )
    return Path("native", f"the C extension, {_native.vectors() or 'no'} vector code", native)


def native(
    pixels: Pixels,
    size: tuple[int, int],
    table: NDArray[Any],
    layout: PatchLayout | None,
    filter: Filter,
    out: NDArray[Any],
    *,
    vectors: str | None = None,
) -> None:
    """Write the crop into ``out`` (contiguous); nothing else is touched. Runs without the GIL.

    ``vectors`` names less than what the processor has, for comparisons.
    """
    from photocraft_local.imaging import _native

    patch, merge, copies = (layout.patch, layout.merge, layout.copies) if layout else (0, 1, 1)
    if pixels.strides[1:] != (CHANNELS, 1):
        pixels = np.ascontiguousarray(pixels)
    level = _native.vectors() if vectors is None else vectors
    width, height = size
    _native.crop_resize(
        pixels, out, table, height, width, patch, merge, copies, list(FILTERS).index(filter), level
    )


def plain(
    pixels: Pixels,
    size: tuple[int, int],
    table: NDArray[Any],
    layout: PatchLayout | None,
    filter: Filter,
    out: NDArray[Any],
) -> None:
    """The same with Pillow and NumPy."""
    width, height = size
    image = Image.fromarray(np.ascontiguousarray(pixels)).resize(size, FILTERS[filter])
    resized = np.asarray(image)
    if layout is None:
        planes = out.reshape(CHANNELS, height, width)
        for channel in range(CHANNELS):
            np.take(table[channel], resized[:, :, channel], out=planes[channel], mode="clip")
        return
    patch, merge = layout.patch, layout.merge
    across, down = width // layout.factor, height // layout.factor
    rows = out.reshape(down, across, merge, merge, CHANNELS, layout.copies, patch, patch)
    for channel in range(CHANNELS):
        looked_up = table[channel][resized[:, :, channel]]
        blocks = looked_up.reshape(down, merge, patch, across, merge, patch)
        rows[:, :, :, :, channel] = blocks.transpose(0, 3, 1, 4, 2, 5)[:, :, :, :, None]

"""Boxes out of decoded pictures → one batch of model-ready numbers: patch rows, or planes.

A ragged batch: every box and every target size may differ. Boxes are checked before anything is
written; threads work on one crop each and hold no lock. Knows nothing of files or models.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import UsageError
from photocraft_local.imaging import resampling
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.model_values import CHANNELS, ModelValues, PatchLayout
from photocraft_local.imaging.pictures import Pixels

MAX_TARGET_SIDE = 1 << 16  # px; nothing that a model takes is near


@dataclass(frozen=True, slots=True)
class Crop:
    """``box`` of the picture with that index, brought to ``width`` × ``height`` px."""

    picture: int
    box: Box
    width: int
    height: int


@dataclass(frozen=True, slots=True, eq=False)
class Patches:
    """Patch rows of all crops, one after another, and the grid (1, down, across) of each."""

    rows: NDArray[Any]  # (sum of patches, layout.dimension)
    grids: NDArray[np.int64]  # (crops, 3)


def crop_patches(
    pictures: Sequence[Pixels],
    crops: Sequence[Crop],
    layout: PatchLayout,
    values: ModelValues | None = None,
    *,
    filter: resampling.Filter = "bicubic",
    threads: int = 1,
    out: NDArray[Any] | None = None,
) -> Patches:
    """What the processors of the Qwen-VL families call ``pixel_values`` and ``image_grid_thw``.

    ``pictures`` are uint8 (height, width, 3); a box must lie inside its picture. ``out`` (at least
    as many rows, contiguous) is written to instead of new memory. UsageError for what does not fit.
    """
    values = values or ModelValues()
    crops = _checked(pictures, crops)
    counts = [layout.rows(crop.width, crop.height) for crop in crops]
    rows = _room(out, (sum(counts), layout.dimension), values.dtype)
    ends = np.cumsum([0, *counts]).tolist()
    targets = [rows[start:end] for start, end in pairwise(ends)]
    _fill(pictures, crops, layout, values, filter, targets, threads)
    grids = [(1, crop.height // layout.patch, crop.width // layout.patch) for crop in crops]
    return Patches(rows, np.array(grids, np.int64).reshape(-1, 3))


def crop_planes(
    pictures: Sequence[Pixels],
    crops: Sequence[Crop],
    values: ModelValues | None = None,
    *,
    filter: resampling.Filter = "bicubic",
    threads: int = 1,
) -> list[NDArray[Any]]:
    """One array (3, height, width) a crop, as CLIP-like encoders take them.

    They lie side by side in one block: crops of one size are a batch by ``np.stack`` or, without
    copying, by ``planes[0].base.reshape(-1, 3, height, width)``.
    """
    values = values or ModelValues()
    crops = _checked(pictures, crops)
    ends = np.cumsum([0, *(CHANNELS * crop.width * crop.height for crop in crops)]).tolist()
    block = _fresh((ends[-1],), values.dtype)
    targets = [
        block[start:end].reshape(CHANNELS, crop.height, crop.width)
        for crop, (start, end) in zip(crops, pairwise(ends), strict=True)
    ]
    _fill(pictures, crops, None, values, filter, targets, threads)
    return targets


def parts(
    crops: Sequence[Crop], layout: PatchLayout, values: ModelValues, *, most_bytes: int
) -> Iterator[Sequence[Crop]]:
    """The crops in runs whose patch rows take at most ``most_bytes``, so that memory is bounded.

    A single crop that takes more is a run of its own.
    """
    start, taken = 0, 0
    for index, crop in enumerate(crops):
        size = layout.rows(crop.width, crop.height) * layout.dimension * values.dtype.itemsize
        if index > start and taken + size > most_bytes:
            yield crops[start:index]
            start, taken = index, 0
        taken += size
    if crops:
        yield crops[start:]


def _checked(pictures: Sequence[Pixels], crops: Sequence[Crop]) -> list[Crop]:
    """The crops in Python's own numbers, which do not run over as NumPy's may."""
    for index, pixels in enumerate(pictures):
        is_array = isinstance(pixels, np.ndarray)  # whoever calls may have no type checker
        if not is_array or pixels.dtype != np.uint8 or pixels.shape[2:] != (CHANNELS,):
            told = f"is no array but a {type(pixels).__name__}"
            if is_array:
                told = f"has {pixels.dtype} values of shape {pixels.shape}"
            raise UsageError(
                f"picture {index} {told}", hint="pictures are uint8 of shape (height, width, 3)"
            )
    return [_plain(crop, pictures) for crop in crops]


def _plain(crop: Crop, pictures: Sequence[Pixels]) -> Crop:
    box = crop.box
    given = (crop.picture, *(box.x, box.y, box.width, box.height), crop.width, crop.height)
    try:
        if any(isinstance(number, bool) for number in given):
            raise TypeError("true and false are no numbers")
        picture, *sides, width, height = map(operator.index, given)
    except TypeError as exc:
        raise UsageError(f"boxes and sizes are whole numbers of pixels, not {given}") from exc
    if not 0 <= picture < len(pictures):
        raise UsageError(f"there is no picture {picture} among the {len(pictures)} given")
    if not (1 <= width <= MAX_TARGET_SIDE and 1 <= height <= MAX_TARGET_SIDE):
        raise UsageError(f"a crop cannot be brought to {width}x{height} pixels")
    whole = Box(*sides)
    whole.check(*pictures[picture].shape[1::-1])
    return Crop(picture, whole, width, height)


def _room(out: NDArray[Any] | None, shape: tuple[int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    if out is None:
        return _fresh(shape, dtype)
    if out.dtype != dtype or out.shape[1:] != shape[1:] or not out.flags.c_contiguous:
        raise UsageError(
            f"out has {out.dtype} values of shape {out.shape}, wanted are {dtype} of {shape}"
        )
    if len(out) < shape[0] or not out.flags.writeable:
        raise UsageError(f"out must be writeable and have at least {shape[0]} rows")
    return out[: shape[0]]


def _fresh(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError) as exc:  # NumPy counts no further than it can address
        raise UsageError(
            f"a batch of {' × '.join(map(str, shape))} numbers does not fit into the memory",
            hint="take the crops in runs: photocraft_local.imaging.crop_batch.parts",
        ) from exc


def _fill(
    pictures: Sequence[Pixels],
    crops: Sequence[Crop],
    layout: PatchLayout | None,
    values: ModelValues,
    filter: resampling.Filter,
    targets: Sequence[NDArray[Any]],
    threads: int,
) -> None:
    table, run = values.table(), resampling.chosen().run
    jobs: list[tuple[int, Callable[[], None]]] = []
    for crop, target in zip(crops, targets, strict=True):
        box, pixels = crop.box, pictures[crop.picture]
        cut = pixels[box.y : box.bottom, box.x : box.right]
        job = partial(run, cut, (crop.width, crop.height), table, layout, filter, target)
        jobs.append((box.width * box.height + target.size, job))
    if threads < 2 or len(jobs) < 2:
        for _, alone in jobs:
            alone()
        return
    jobs.sort(key=lambda each: each[0])  # the longest, which is the last, comes first

    def work() -> None:
        while jobs:
            try:
                _, job = jobs.pop()
            except IndexError:  # another thread has taken the last one
                return
            job()

    # The calling thread is one of them.
    with ThreadPoolExecutor(min(threads, len(jobs)) - 1) as pool:
        others = [pool.submit(work) for _ in range(min(threads, len(jobs)) - 1)]
        work()
    for done in others:
        done.result()

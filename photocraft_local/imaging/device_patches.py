"""JPEG files → patch rows that never leave the device: decoded there, cut by one launch a run.

The pixels of a run lie in one pool; EXIF's orientation is a way of reading it, not a copy. What
this cannot do is told by None and made on the CPU (``photo_patches``). Never proven on a GPU yet.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

from photocraft_local.errors import MissingExtraError
from photocraft_local.files.gpu_jpeg import GpuJpegs, OnDevice
from photocraft_local.imaging.model_values import PatchLayout
from photocraft_local.imaging.photo_patches import SizeRule

_launching = threading.Lock()  # the first launch compiles, which must not happen twice at once
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class DevicePatches:
    """``rows`` uint8 (patches, layout.dimension) on the device, their grid (1, down, across), and
    doubts about the file."""

    rows: Any
    grid: tuple[int, int, int]
    flags: tuple[str, ...]


def need_kernel() -> None:
    """Raises MissingExtraError where Triton, which compiles the kernel, is not installed."""
    if find_spec("triton") is None:
        raise MissingExtraError("triton", "gpu", "the setting decode_device = 'gpu'")


def device_patches(
    gpu: GpuJpegs,
    paths: Sequence[bytes],
    layout: PatchLayout,
    size: SizeRule,
    *,
    max_pixels: int = 300_000_000,
) -> list[DevicePatches | None]:
    """The whole upright photos, each byte within one step of Pillow's resize of the full decode.

    None for what is left to the CPU. A run that fails (memory, the driver) is left to it whole,
    and logged.
    """
    made: list[DevicePatches | None] = [None] * len(paths)
    for run in gpu.decode_there(paths, max_pixels=max_pixels):
        try:
            rows = _rows([picture for _, picture in run], layout, size)
        except Exception as exc:  # noqa: BLE001 - a driver raises anything; no photo may be lost
            _log.warning("%d photos go to the CPU, since the kernel failed: %s", len(run), exc)
            continue
        for (at, _), patches in zip(run, rows, strict=True):
            made[at] = patches
    return made


def _rows(pictures: Sequence[OnDevice], layout: PatchLayout, size: SizeRule) -> list[DevicePatches]:
    if not pictures:
        return []
    from photocraft_kernels.crop_resize import crop_resize
    from photocraft_kernels.picture_pool import pooled
    from torch import uint8

    pool, stored = pooled([picture.pixels for picture in pictures])
    places = [at.turned(each.orientation) for at, each in zip(stored, pictures, strict=True)]
    boxes = [(index, 0, 0, at.width, at.height) for index, at in enumerate(places)]
    sizes = [size(at.width, at.height)[::-1] for at in places]
    with _launching:
        cropped = crop_resize(
            pool, places, boxes, sizes, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0),
            patch=layout.patch, merge=layout.merge, copies=layout.copies, dtype=uint8,
        )  # fmt: skip
    spans = pairwise(cropped.starts)
    return [
        DevicePatches(
            cropped.values[first:last],
            (1, height // layout.patch, width // layout.patch),
            picture.flags,
        )
        for picture, (first, last), (height, width) in zip(pictures, spans, sizes, strict=True)
    ]

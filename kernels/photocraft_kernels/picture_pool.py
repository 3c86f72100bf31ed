"""Pictures of any sizes in one block on the device, and what is checked before a kernel runs.

A kernel trusts its tables: everything that could make it read elsewhere is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Picture:
    """Where a picture lies in the pool: bytes to its first pixel and from row to row."""

    offset: int
    stride: int
    height: int
    width: int


def pooled(pictures: Sequence[torch.Tensor]) -> tuple[torch.Tensor, list[Picture]]:
    """One uint8 block of all pictures (height, width, 3), any strides, and where they lie in it."""
    places, offset = [], 0
    for pixels in pictures:
        if pixels.dtype != torch.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
            raise ValueError(f"a picture is {pixels.dtype} of {tuple(pixels.shape)}, not (h, w, 3)")
        height, width, _ = pixels.shape
        places.append(Picture(offset, 3 * width, height, width))
        offset += pixels.numel()
    device = pictures[0].device if pictures else torch.device("cpu")
    pool = torch.empty(offset, dtype=torch.uint8, device=device)
    for place, pixels in zip(places, pictures, strict=True):
        pool[place.offset : place.offset + pixels.numel()].view(pixels.shape).copy_(pixels)
    return pool, places


def check_batch(
    pool: torch.Tensor,
    pictures: Sequence[Picture],
    boxes: Sequence[tuple[int, int, int, int, int]],
    sizes: Sequence[tuple[int, int]],
    factor: int,
) -> None:
    """ValueError unless the boxes lie in their pictures, these in the pool, and sizes are whole
    multiples of ``factor`` (0: any)."""
    if pool.dtype != torch.uint8 or pool.ndim != 1 or not pool.is_contiguous():
        raise ValueError("the pool must be one contiguous block of uint8")
    for at in pictures:
        end = at.offset + (at.height - 1) * at.stride + 3 * at.width
        if at.offset < 0 or at.stride < 3 * at.width or end > pool.numel():
            raise ValueError(f"{at} does not lie in a pool of {pool.numel()} bytes")
    for (index, left, top, right, bottom), (height, width) in zip(boxes, sizes, strict=True):
        if not 0 <= index < len(pictures):
            raise ValueError(f"there is no picture {index} among {len(pictures)}")
        at = pictures[index]
        if not (0 <= left < right <= at.width and 0 <= top < bottom <= at.height):
            raise ValueError(f"box {(left, top, right, bottom)} does not lie in {at}")
        if height < 1 or width < 1 or (factor and (height % factor or width % factor)):
            raise ValueError(f"{height}x{width} pixels are no whole number of {factor}-px tokens")

"""Pictures of any sizes in one block on the device, and what is checked before a kernel runs.

A kernel trusts its tables: everything that could make it read elsewhere, or give no numbers, is
refused here. Batches beyond the free memory are parted here.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

MAX_SIDE = 1 << 16  # px of a crop; nothing that a model takes is near


@dataclass(frozen=True, slots=True)
class Picture:
    """Where a picture lies in the pool: bytes to its first pixel, from row to row, and from pixel
    to pixel. Either may go backwards, or down a column: so a picture is turned without a copy."""

    offset: int
    stride: int
    height: int
    width: int
    step: int = 3

    def turned(self, orientation: int) -> Picture:
        """Upright, of a picture stored with EXIF ``orientation`` 1–8."""
        offset, stride, step = self.offset, self.stride, self.step
        height, width = self.height, self.width
        if orientation >= 5:
            stride, step, height, width = step, stride, width, height
        if orientation in (3, 4, 7, 8):
            offset, stride = offset + (height - 1) * stride, -stride
        if orientation in (2, 3, 6, 7):
            offset, step = offset + (width - 1) * step, -step
        return Picture(offset, stride, height, width, step)

    @property
    def span(self) -> tuple[int, int]:
        """Its first byte in the pool, and the one behind its last."""
        ways = ((self.height - 1) * self.stride, (self.width - 1) * self.step)
        first = self.offset + sum(min(way, 0) for way in ways)
        return first, self.offset + sum(max(way, 0) for way in ways) + 3


def pooled(pictures: Sequence[torch.Tensor]) -> tuple[torch.Tensor, list[Picture]]:
    """One uint8 block of all pictures (height, width, 3), any strides, and where they lie in it."""
    places, offset = [], 0
    for pixels in pictures:
        if pixels.dtype != torch.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
            raise ValueError(f"a picture is {pixels.dtype} of {tuple(pixels.shape)}, not (h, w, 3)")
        if not pixels.numel():
            raise ValueError(f"a picture of {tuple(pixels.shape)} has no pixels")
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
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Boxes and sizes as plain whole numbers.

    ValueError unless the boxes lie in their pictures, these in the pool, and sizes are whole
    multiples of ``factor`` (0: any)."""
    if pool.dtype != torch.uint8 or pool.ndim != 1 or not pool.is_contiguous():
        raise ValueError("the pool must be one contiguous block of uint8")
    for at in pictures:
        if at.height < 1 or at.width < 1:
            raise ValueError(f"{at} has no pixels")
        first, end = at.span
        overlaps = min(abs(at.step), abs(at.stride)) < 3 or (
            abs(at.stride) < 3 * at.width and abs(at.step) < 3 * at.height
        )
        if first < 0 or overlaps or end > pool.numel():
            raise ValueError(f"{at} does not lie in a pool of {pool.numel()} bytes")
    if len(boxes) != len(sizes):
        raise ValueError(f"{len(boxes)} boxes have {len(sizes)} sizes")
    whole_boxes = [whole_numbers(box, 5) for box in boxes]
    whole_sizes = [whole_numbers(size, 2) for size in sizes]
    for (index, left, top, right, bottom), (height, width) in zip(
        whole_boxes, whole_sizes, strict=True
    ):
        if not 0 <= index < len(pictures):
            raise ValueError(f"there is no picture {index} among {len(pictures)}")
        at = pictures[index]
        if not (0 <= left < right <= at.width and 0 <= top < bottom <= at.height):
            raise ValueError(f"box {(left, top, right, bottom)} does not lie in {at}")
        if max(height, width) > MAX_SIDE:
            raise ValueError(f"a crop cannot be brought to {height}x{width} pixels")
        if height < 1 or width < 1 or (factor and (height % factor or width % factor)):
            raise ValueError(f"{height}x{width} pixels are no whole number of {factor}-px tokens")
    return whole_boxes, whole_sizes


def check_numbers(mean: Sequence[float], std: Sequence[float]) -> tuple[float, ...]:
    """Mean, then deviation, of the three channels. ValueError for what is no normalisation."""
    numbers = tuple(float(number) for number in (*mean, *std))
    finite = all(math.isfinite(number) for number in numbers)
    if len(mean) != 3 or len(std) != 3 or not finite or min(std) <= 0:
        raise ValueError(f"no normalisation has mean {mean} and deviation {std}")
    return numbers


def check_layout(patch: int, merge: int, copies: int) -> tuple[int, ...]:
    """The three as plain whole numbers; ``patch`` 0 means planes. ValueError for what is none."""
    patch, merge, copies = whole_numbers((patch, merge, copies), 3)
    if not (0 <= patch <= 256 and 1 <= merge <= 16 and 1 <= copies <= 16):
        raise ValueError(f"there are no patches of {patch} px, merge {merge} and {copies} copies")
    return patch, merge, copies


def whole_numbers(values: Sequence[int], count: int) -> tuple[int, ...]:
    """Integers of any library as Python's; ValueError for others, and for true and false."""
    given = tuple(values)
    if len(given) == count and not any(isinstance(value, bool) for value in given):
        try:
            return tuple(operator.index(value) for value in given)
        except TypeError:
            pass
    raise ValueError(f"{given} are not {count} whole numbers")


def runs(needs: Sequence[int], most: int) -> Iterator[range]:
    """Indices in runs that need at most ``most`` bytes together.

    MemoryError for one that alone needs more."""
    start, taken = 0, 0
    for index, need in enumerate(needs):
        if need > most:
            raise MemoryError(f"crop {index} needs {need:,} bytes, and {most:,} may be taken")
        if index > start and taken + need > most:
            yield range(start, index)
            start, taken = index, 0
        taken += need
    if needs:
        yield range(start, len(needs))


def free_bytes(device: torch.device) -> int:
    """What can be taken there now, in bytes; torch's own unused blocks are among it."""
    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + kept
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

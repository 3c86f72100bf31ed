"""Boxes out of pictures on the device → model-ready numbers, a ragged batch in one launch.

One program makes one square tile of one crop: it multiplies the source window from both sides
with the filter's weights, which it works out itself, so that nothing lies in device memory between
the passes; then it normalises and writes a patch row, or a piece of three planes. What it should
give is in the module of the same stem with ``_reference``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import triton
import triton.language as tl

from photocraft_kernels.picture_pool import (
    Picture,
    check_batch,
    check_layout,
    check_numbers,
    free_bytes,
    runs,
)

KINDS = (torch.float32, torch.float16, torch.bfloat16, torch.uint8)
FILTERS = ("bilinear", "bicubic")
PRECISIONS = ("tf32", "ieee")
PLANE_TILE = 16  # px; the side of a program's tile where there are no patches


@dataclass(frozen=True, slots=True)
class Cropped:
    """``values``: patch rows (rows, dimension), or one flat block of planes (3, height, width).

    ``starts[i]`` is the first row of crop i, or its first number; one more at the end.
    """

    values: torch.Tensor
    starts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked batch whose tables lie on the device: ``run`` is one launch, as often as wanted."""

    pool: torch.Tensor
    table: torch.Tensor  # (crops, 9) int64: where each crop comes from and goes to
    owners: torch.Tensor  # (tiles,) int32: the crop of each program
    shape: tuple[int, ...]
    starts: tuple[int, ...]
    normal: tuple[float, ...]  # mean, then deviation, of each channel
    dtype: torch.dtype
    constants: dict[str, object]

    def run(self) -> Cropped:
        values = torch.empty(self.shape, dtype=self.dtype, device=self.pool.device)
        if len(self.owners):
            _tiles[(len(self.owners),)](
                self.pool, self.table, self.owners, values, *self.normal,
                **self.constants, num_warps=4,
            )  # fmt: skip
        return Cropped(values, self.starts)


def plan(
    pool: torch.Tensor,
    pictures: Sequence[Picture],
    boxes: Sequence[tuple[int, int, int, int, int]],
    sizes: Sequence[tuple[int, int]],
    mean: tuple[float, float, float],
    std: tuple[float, float, float],
    *,
    patch: int = 0,
    merge: int = 2,
    copies: int = 2,
    filter: str = "bicubic",
    dtype: torch.dtype = torch.float32,
    precision: str = "tf32",
) -> Plan:
    """Boxes (picture, left, top, right, bottom) brought to sizes (height, width).

    ``patch`` > 0 gives patch rows of the Qwen-VL families, 0 planes. uint8 gives bytes, without
    mean and deviation. ``precision`` is that of the products on tensor cores: ``tf32`` rounds
    weights and half-made pixels to 10 bits, which costs a tenth of a step of 8 bits; ``ieee`` is
    fp32. ValueError for what does not fit. Not yet run on a GPU: interpreted, and compiled for
    sm_80 and sm_90.
    """
    if filter not in FILTERS or dtype not in KINDS or precision not in PRECISIONS:
        raise ValueError(
            f"filter {filter!r}, {dtype} and precision {precision!r} must be of"
            f" {FILTERS}, {KINDS} and {PRECISIONS}"
        )
    normal = check_numbers(mean, std)
    patch, merge, copies = check_layout(patch, merge, copies)
    whole_boxes, whole_sizes = check_batch(pool, pictures, boxes, sizes, patch * merge)
    tile = patch or PLANE_TILE
    rows, counts, starts = _table(pictures, whole_boxes, whole_sizes, tile, bool(patch))
    tiles = torch.tensor(counts, dtype=torch.int64, device=pool.device)
    owners = torch.arange(len(rows), device=pool.device).repeat_interleave(tiles)
    return Plan(
        pool=pool,
        table=torch.tensor(rows, dtype=torch.int64, device=pool.device),
        owners=owners.to(torch.int32),
        shape=(starts[-1], 3 * copies * patch * patch) if patch else (starts[-1],),
        starts=tuple(starts),
        normal=normal,
        dtype=dtype,
        constants={
            "TILE": tile,
            "BLOCK": max(16, triton.next_power_of_2(tile)),
            "MERGE": merge if patch else 1,
            "COPIES": copies,
            "PATCHES": bool(patch),
            "CUBIC": filter == "bicubic",
            "BYTES": dtype == torch.uint8,
            "WINDOW": 32,
            "PRECISION": precision,
        },
    )


def _table(
    pictures: Sequence[Picture],
    boxes: Sequence[tuple[int, ...]],
    sizes: Sequence[tuple[int, ...]],
    tile: int,
    in_rows: bool,
) -> tuple[list[tuple[int, ...]], list[int], list[int]]:
    """A row of ``Plan.table`` and the number of tiles of each crop, and ``Cropped.starts``."""
    rows, counts, starts = [], [], [0]
    tiles = 0
    for (index, left, top, right, bottom), (height, width) in zip(boxes, sizes, strict=True):
        at = pictures[index]
        first = at.offset + top * at.stride + left * at.step
        box = (bottom - top, right - left)
        rows.append((first, at.stride, *box, height, width, tiles, starts[-1], at.step))
        counts.append(-(-height // tile) * -(-width // tile))
        starts.append(starts[-1] + (counts[-1] if in_rows else 3 * height * width))
        tiles += counts[-1]
    return rows, counts, starts


def crop_resize(
    pool: torch.Tensor,
    pictures: Sequence[Picture],
    boxes: Sequence[tuple[int, int, int, int, int]],
    sizes: Sequence[tuple[int, int]],
    mean: tuple[float, float, float],
    std: tuple[float, float, float],
    **options: Any,
) -> Cropped:
    """``plan`` with the same arguments, run once."""
    return plan(pool, pictures, boxes, sizes, mean, std, **options).run()


def crop_resize_in_runs(
    pool: torch.Tensor,
    pictures: Sequence[Picture],
    boxes: Sequence[tuple[int, int, int, int, int]],
    sizes: Sequence[tuple[int, int]],
    mean: tuple[float, float, float],
    std: tuple[float, float, float],
    *,
    most_bytes: int = 0,
    **options: Any,
) -> Iterator[Cropped]:
    """The crops in their order, in as many launches as ``most_bytes`` of results ask for; 0 is half
    of what is free on the device. MemoryError for a crop that alone needs more.

    The whole batch is checked before the first launch.
    """
    whole = plan(pool, pictures, boxes, sizes, mean, std, **options)
    size = math.prod(whole.shape[1:]) * whole.dtype.itemsize
    needs = [(end - start) * size for start, end in pairwise(whole.starts)]
    for run in runs(needs, most_bytes or free_bytes(pool.device) // 2):
        part = slice(run.start, run.stop)
        yield crop_resize(pool, pictures, boxes[part], sizes[part], mean, std, **options)


@triton.jit
def _distance(inputs, outputs, before, after):
    """|middle of input - middle of output| in inputs, without losing digits far from 0."""
    doubled = (2 * outputs + 1).to(tl.int64) * before
    whole = doubled // (2 * after)
    rest = (doubled - whole * (2 * after)).to(tl.float32) / (2.0 * after)
    return tl.abs((inputs - whole).to(tl.float32) + 0.5 - rest)


@triton.jit
def _rounded(x, PRECISION: tl.constexpr):
    """As the tensor cores take it. They cut off what is beyond TF32's 10 bits and nothing before
    them rounds, which would make pictures darker by an eighth of a step of 8 bits."""
    if PRECISION == "tf32":
        bits = x.to(tl.int32, bitcast=True) + 0x1000
        x = (bits & -0x2000).to(tl.float32, bitcast=True)
    return x


@triton.jit
def _weights(inputs, outputs, before, after, CUBIC: tl.constexpr, PRECISION: tl.constexpr):
    """Unnormalised weights; zero outside the picture. Indices of any shapes that broadcast."""
    widened = tl.maximum(before.to(tl.float32) / after.to(tl.float32), 1.0)
    x = _distance(inputs, outputs, before, after) / widened
    if CUBIC:
        near = (1.5 * x - 2.5) * x * x + 1.0
        far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
        value = tl.where(x < 1.0, near, tl.where(x < 2.0, far, 0.0))
    else:
        value = tl.maximum(1.0 - x, 0.0)
    return _rounded(tl.where(inputs < before, value, 0.0), PRECISION)


@triton.jit
def _window(first, last, before, after, CUBIC: tl.constexpr):
    """The inputs that outputs first … last touch: from, to (not included)."""
    widened = tl.maximum(before.to(tl.float32) / after.to(tl.float32), 1.0)
    reach = ((2.0 if CUBIC else 1.0) * widened).to(tl.int64) + 1
    low = (2 * first + 1) * before // (2 * after) - reach
    high = (2 * last + 1) * before // (2 * after) + reach + 1
    return tl.maximum(low, 0), tl.minimum(high, before)


@triton.jit
def _tiles(
    pool, table, owners, out,
    mean_0, mean_1, mean_2, std_0, std_1, std_2,
    TILE: tl.constexpr, BLOCK: tl.constexpr, MERGE: tl.constexpr, COPIES: tl.constexpr,
    PATCHES: tl.constexpr, CUBIC: tl.constexpr, BYTES: tl.constexpr, WINDOW: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    row = table + tl.load(owners + program) * 9
    source = pool + tl.load(row)
    stride = tl.load(row + 1)
    box_height, box_width = tl.load(row + 2), tl.load(row + 3)
    height, width = tl.load(row + 4), tl.load(row + 5)
    tile = program - tl.load(row + 6)
    start, step = tl.load(row + 7), tl.load(row + 8)

    # Tiles in the order of patch rows: MERGE x MERGE neighbours follow each other.
    across = tl.cdiv(width, TILE) // MERGE
    token, inner = tile // (MERGE * MERGE), tile % (MERGE * MERGE)
    top = (token // across * MERGE + inner // MERGE) * TILE
    left = (token % across * MERGE + inner % MERGE) * TILE
    ys, xs = top + tl.arange(0, BLOCK), left + tl.arange(0, BLOCK)
    last_y = tl.minimum(top + TILE, height) - 1
    last_x = tl.minimum(left + TILE, width) - 1
    y_from, y_to = _window(top, last_y, box_height, height, CUBIC)
    x_from, x_to = _window(left, last_x, box_width, width, CUBIC)

    steps = tl.arange(0, WINDOW)
    red = tl.zeros((BLOCK, BLOCK), tl.float32)
    green = tl.zeros((BLOCK, BLOCK), tl.float32)
    blue = tl.zeros((BLOCK, BLOCK), tl.float32)
    sum_y = tl.zeros((BLOCK,), tl.float32)
    sum_x = tl.zeros((BLOCK,), tl.float32)
    for x in range(x_from, x_to, WINDOW):
        taps = (x + steps)[:, None]
        sum_x += tl.sum(_weights(taps, xs[None, :], box_width, width, CUBIC, PRECISION), 0)
    for y in range(y_from, y_to, WINDOW):
        down = _weights((y + steps)[None, :], ys[:, None], box_height, height, CUBIC, PRECISION)
        sum_y += tl.sum(down, 1)
        lines = source + (y + steps)[:, None] * stride
        inside_y = (y + steps)[:, None] < box_height
        red_part = tl.zeros((WINDOW, BLOCK), tl.float32)
        green_part = tl.zeros((WINDOW, BLOCK), tl.float32)
        blue_part = tl.zeros((WINDOW, BLOCK), tl.float32)
        for x in range(x_from, x_to, WINDOW):
            taps = x + steps
            weights = _weights(taps[:, None], xs[None, :], box_width, width, CUBIC, PRECISION)
            pixels = lines + taps[None, :] * step
            inside = inside_y & (taps[None, :] < box_width)
            r = tl.load(pixels, mask=inside, other=0).to(tl.float32)
            g = tl.load(pixels + 1, mask=inside, other=0).to(tl.float32)
            b = tl.load(pixels + 2, mask=inside, other=0).to(tl.float32)
            red_part = tl.dot(r, weights, red_part, input_precision=PRECISION)
            green_part = tl.dot(g, weights, green_part, input_precision=PRECISION)
            blue_part = tl.dot(b, weights, blue_part, input_precision=PRECISION)
        red = tl.dot(down, _rounded(red_part, PRECISION), red, input_precision=PRECISION)
        green = tl.dot(down, _rounded(green_part, PRECISION), green, input_precision=PRECISION)
        blue = tl.dot(down, _rounded(blue_part, PRECISION), blue, input_precision=PRECISION)

    # Rows and columns beyond the tile have no weights; they are not written.
    share = sum_y[:, None] * sum_x[None, :]
    share = 1.0 / tl.where(share == 0.0, 1.0, share)
    wanted = (ys < top + TILE)[:, None] & (xs < left + TILE)[None, :]
    wanted = wanted & (ys < height)[:, None] & (xs < width)[None, :]
    for channel in tl.static_range(3):
        if channel == 0:
            value, mean, std = red, mean_0, std_0
        elif channel == 1:
            value, mean, std = green, mean_1, std_1
        else:
            value, mean, std = blue, mean_2, std_2
        value = tl.minimum(tl.maximum(value * share, 0.0), 255.0)
        value = tl.floor(value + 0.5) if BYTES else (value * (1.0 / 255.0) - mean) / std
        value = value.to(out.dtype.element_ty)
        if PATCHES:
            line = (start + tile) * (3 * COPIES * TILE * TILE) + channel * COPIES * TILE * TILE
            at = line + (ys - top)[:, None] * TILE + (xs - left)[None, :]
            for copy in tl.static_range(COPIES):
                tl.store(out + at + copy * TILE * TILE, value, mask=wanted)
        else:
            at = start + channel * height * width + ys[:, None] * width + xs[None, :]
            tl.store(out + at, value, mask=wanted)

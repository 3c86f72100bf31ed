"""How a model wants its pixels: which numbers stand for the bytes, and in which order.

256 byte values a channel make every normalisation a small table; the numbers in it are worked out
as the Hugging Face processors do it, so that results are equal bit by bit. Knows no model by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import UsageError

Kind: TypeAlias = Literal["float32", "float16", "bfloat16", "uint8"]
Three: TypeAlias = tuple[float, float, float]

CHANNELS = 3
CLIP_MEAN: Three = (0.48145466, 0.4578275, 0.40821073)  # Qwen2-VL, Qwen2.5-VL and CLIP
CLIP_STD: Three = (0.26862954, 0.26130258, 0.27577711)
HALF: Three = (0.5, 0.5, 0.5)  # Qwen3-VL and SigLIP, mean and deviation alike


@dataclass(frozen=True, slots=True)
class ModelValues:
    """(byte * factor - mean) / std in ``kind``; ``uint8`` leaves the bytes as they are.

    NumPy has no bfloat16: its bits come as uint16 (``torch``: ``view(torch.bfloat16)``).
    """

    kind: Kind = "float32"
    mean: Three = CLIP_MEAN
    std: Three = CLIP_STD
    factor: float = 1 / 255

    def __post_init__(self) -> None:
        numbers = [*self.mean, *self.std, self.factor]
        if self.kind not in get_args(Kind):
            raise UsageError(
                f"pixels cannot be given as {self.kind!r}", hint=f"one of {get_args(Kind)}"
            )
        if len(numbers) != 2 * CHANNELS + 1 or not np.isfinite(numbers).all() or min(self.std) <= 0:
            raise UsageError(
                f"no normalisation has mean {self.mean}, deviation {self.std} and factor "
                f"{self.factor}",
                hint="three finite numbers each, the deviations above 0, and one finite factor",
            )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of arrays in this kind."""
        return np.dtype("uint16" if self.kind == "bfloat16" else self.kind)

    def table(self) -> NDArray[Any]:
        """(3, 256) numbers, read-only: row a channel, column a byte."""
        return _table(self)


@dataclass(frozen=True, slots=True)
class PatchLayout:
    """Patch rows of the Qwen-VL families.

    A row is one patch: channel, copy, line, column. ``merge`` × ``merge`` neighbours, which become
    one token, follow each other. ``copies`` is how often the still picture stands for a frame:
    2 as the processors have it, 1 for an embedding whose two frames are folded into one.
    """

    patch: int  # px: 14 for Qwen2.5-VL, 16 for Qwen3-VL
    merge: int = 2
    copies: int = 2

    def __post_init__(self) -> None:
        if not (1 <= self.patch <= 256 and 1 <= self.merge <= 16 and 1 <= self.copies <= 16):
            raise UsageError(f"there are no patches like {self}")

    @property
    def factor(self) -> int:
        """Both sides of a picture must be multiples of it, in px."""
        return self.patch * self.merge

    @property
    def dimension(self) -> int:
        """Numbers in a row."""
        return CHANNELS * self.copies * self.patch**2

    def rows(self, width: int, height: int) -> int:
        """Patches of a picture of that size. UsageError unless it is whole tokens."""
        if width < 1 or height < 1 or width % self.factor or height % self.factor:
            raise UsageError(
                f"{width}x{height} pixels cannot be cut into patches of {self.patch} pixels",
                hint=f"both sides must be multiples of {self.factor}",
            )
        return (width // self.patch) * (height // self.patch)


@lru_cache(maxsize=16)
def _table(values: ModelValues) -> NDArray[Any]:
    steps = np.arange(256)
    if values.kind == "uint8":
        table: NDArray[Any] = np.tile(steps.astype(np.uint8), (CHANNELS, 1))
    else:
        scaled = (steps.astype(np.float64) * values.factor).astype(np.float32)
        mean, std = (np.array(three, np.float32)[:, None] for three in (values.mean, values.std))
        table = (scaled[None] - mean) / std
    if values.kind == "float16":
        table = table.astype(np.float16)
    elif values.kind == "bfloat16":
        bits = table.view(np.uint32).astype(np.uint64)
        table = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)  # to nearest, even
    table = np.ascontiguousarray(table)
    table.setflags(write=False)
    return table

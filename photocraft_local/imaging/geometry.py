"""Boxes and sizes in whole pixels: bounds checks, letterboxing, the sizes a model takes.

Pure arithmetic; knows nothing of files or pixels. The origin is the upper left corner of the
upright picture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from photocraft_local.errors import UsageError

MIN_SIDE = 28  # px; below one patch pair a vision model sees nothing
MAX_SIDE = 2048  # px; what one picture may cost in a model's context
MAX_ASPECT = 200  # longer : shorter; Qwen-VL's preprocessing refuses more
COMFORT_SIDE = 448  # px; a crop whose longer side is smaller is enlarged to this


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels of the upright original."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """First column to the right of the box."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """First row below the box."""
        return self.y + self.height

    @classmethod
    def from_corners(cls, left: int, top: int, right: int, bottom: int) -> Box:
        return cls(left, top, right - left, bottom - top)

    def corners(self) -> tuple[int, int, int, int]:
        """(left, top, right, bottom), the last two outside the box."""
        return (self.x, self.y, self.right, self.bottom)

    def moved(self, dx: int, dy: int) -> Box:
        return Box(self.x + dx, self.y + dy, self.width, self.height)

    def check(self, picture_width: int, picture_height: int) -> None:
        """Raise UsageError unless the box lies wholly inside a picture of that size.

        Nothing is clamped: a box that was meant otherwise must be asked for otherwise.
        """
        fits = (
            self.width >= 1
            and self.height >= 1
            and self.x >= 0
            and self.y >= 0
            and self.right <= picture_width
            and self.bottom <= picture_height
        )
        if fits:
            return
        raise UsageError(
            f"the box x={self.x} y={self.y} width={self.width} height={self.height} does not "
            f"lie inside the picture, which is {picture_width} pixels wide and "
            f"{picture_height} pixels high",
            hint=f"width and height must be at least 1, x + width at most {picture_width} "
            f"and y + height at most {picture_height}",
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """Resize to (width, height), then centre on a canvas that is at least as large."""

    width: int
    height: int
    canvas_width: int
    canvas_height: int

    @property
    def content(self) -> Box:
        """Where the picture lies on the canvas."""
        left = (self.canvas_width - self.width) // 2
        top = (self.canvas_height - self.height) // 2
        return Box(left, top, self.width, self.height)

    @property
    def padded(self) -> bool:
        return (self.width, self.height) != (self.canvas_width, self.canvas_height)


def letterboxed(width: int, height: int, *, min_side: int = 1) -> tuple[int, int]:
    """The smallest canvas around width × height with aspect ≤ 200:1 and sides ≥ min_side."""
    _check_size(width, height)
    floor = max(min_side, math.ceil(max(width, height) / MAX_ASPECT))
    return max(width, floor), max(height, floor)


def fit_for_model(
    width: int, height: int, *, longest: int = MAX_SIDE, at_least: int = COMFORT_SIDE
) -> Fit:
    """The size at which a picture or crop is shown to a model, sides within 28…2048 px.

    Too large is reduced to ``longest``; small is enlarged until its longer side is
    ``at_least`` and its shorter one 28 px where ``longest`` allows; the rest is padding.
    """
    _check_size(width, height)
    long_side, short_side = max(width, height), min(width, height)
    scale = min(1.0, longest / long_side)
    if long_side < at_least:
        scale = at_least / long_side
    scale = max(scale, min(MIN_SIDE / short_side, longest / long_side))
    new_width = min(longest, max(1, round(width * scale)))
    new_height = min(longest, max(1, round(height * scale)))
    canvas = letterboxed(new_width, new_height, min_side=MIN_SIDE)
    return Fit(new_width, new_height, *canvas)


def fit_inside(width: int, height: int, side: int, *, enlarge: bool = False) -> tuple[int, int]:
    """The largest size of the same aspect inside a ``side`` × ``side`` square, no side 0."""
    _check_size(width, height)
    scale = side / max(width, height)
    if not enlarge:
        scale = min(1.0, scale)
    return max(1, round(width * scale)), max(1, round(height * scale))


def smart_resize(
    height: int, width: int, factor: int, min_pixels: int, max_pixels: int
) -> tuple[int, int]:
    """The (height, width) to which Qwen-VL's preprocessing resizes a picture.

    The published rule (Qwen2-VL, arXiv 2409.12191, and qwen-vl-utils): both sides become
    multiples of ``factor`` near the original, scaled so that the area falls within
    ``min_pixels … max_pixels``. Two gaps of it are closed here: a picture longer than 200:1,
    which the rule refuses, counts as letterboxed to 200:1, and no side ever becomes 0.
    """
    if factor < 1 or not 0 < min_pixels <= max_pixels:
        raise ValueError(f"bad limits: {factor=} {min_pixels=} {max_pixels=}")
    width, height = letterboxed(width, height)
    new_height = max(factor, round(height / factor) * factor)
    new_width = max(factor, round(width / factor) * factor)
    if new_height * new_width > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        new_height = max(factor, math.floor(height / shrink / factor) * factor)
        new_width = max(factor, math.floor(width / shrink / factor) * factor)
    elif new_height * new_width < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        new_height = math.ceil(height * grow / factor) * factor
        new_width = math.ceil(width * grow / factor) * factor
    return new_height, new_width


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise ValueError(f"a picture of {width} x {height} pixels has no pixels")

"""A decoded Pillow image → RGB pixels at a wanted size, in bounded memory.

Owns the shrinking: whole factors by box average at twice the wanted size, then bicubic. Works
in strips, so that beside the decoder's own buffer little more than the result is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from PIL import Image

from photocraft_local.files.colour import peak_of, pixels_of, plain, to_srgb

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STRIP_PIXELS: Final = 4_000_000


def target_size(width: int, height: int, short_side: int | None) -> tuple[int, int]:
    """(width, height) whose shorter side is ``short_side``; never larger than the original."""
    shorter = min(width, height)
    if short_side is None or shorter <= short_side:
        return width, height
    scale = short_side / shorter
    if width <= height:
        return short_side, max(short_side, round(height * scale))
    return max(short_side, round(width * scale)), short_side


def render(
    image: Image.Image, size: tuple[int, int], profile: bytes
) -> tuple[NDArray[np.uint8], list[str]]:
    """sRGB pixels (height, width, 3) of a loaded image at ``size``, and flags."""
    factor = max(1, min(image.width // (2 * size[0]), image.height // (2 * size[1])))
    flags = ["cmyk"] if image.mode == "CMYK" else []
    peak = peak_of(image)
    if image.size == size and image.width * image.height > _STRIP_PIXELS:
        return _full(image, peak, profile, flags)
    small = _reduced(image, peak, factor)
    if small.size != size:
        exact = (0.0, 0.0, image.width / factor, image.height / factor)
        small = small.resize(size, Image.Resampling.BICUBIC, box=exact)
    converted, flag = to_srgb(small, profile)
    return pixels_of(converted), flags + ([flag] if flag else [])


def _strips(image: Image.Image, multiple: int) -> list[tuple[int, int]]:
    rows = max(1, _STRIP_PIXELS // (image.width * multiple)) * multiple
    return [(top, min(top + rows, image.height)) for top in range(0, image.height, rows)]


def _reduced(image: Image.Image, peak: float, factor: int) -> Image.Image:
    """The image in a plain mode, ``factor`` times smaller (rounded up)."""
    if factor == 1:
        return plain(image, peak)
    strips = _strips(image, factor)
    parts = [plain(image.crop((0, a, image.width, b)), peak).reduce(factor) for a, b in strips]
    if len(parts) == 1:
        return parts[0]
    joined = Image.new(parts[0].mode, (parts[0].width, sum(part.height for part in parts)))
    top = 0
    for part in parts:
        joined.paste(part, (0, top))
        top += part.height
    return joined


def _full(
    image: Image.Image, peak: float, profile: bytes, flags: list[str]
) -> tuple[NDArray[np.uint8], list[str]]:
    pixels = np.empty((image.height, image.width, 3), np.uint8)
    for top, bottom in _strips(image, 1):
        strip, flag = to_srgb(plain(image.crop((0, top, image.width, bottom)), peak), profile)
        pixels[top:bottom] = pixels_of(strip)
        if flag and flag not in flags:
            flags.append(flag)
    return pixels, flags

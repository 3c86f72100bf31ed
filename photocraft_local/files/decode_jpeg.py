"""JPEG → RGB pixels at a wanted size: scaled while decoded, by ``scaled_jpeg`` or libjpeg-turbo
(simplejpeg).

Owns the scale (n/8, at least twice the wanted size, then bicubic), the per-thread buffers and
the tolerance for cut-off files. Printing colours go through Pillow.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import simplejpeg
from PIL import Image

from photocraft_local.files.colour import pixels_of, to_srgb
from photocraft_local.files.container import Header
from photocraft_local.files.decode_pillow import decode_pillow
from photocraft_local.files.render import target_size
from photocraft_local.files.resample import shrink
from photocraft_local.files.scaled_jpeg import decode_scaled
from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_BYTES: Final = 512 << 20
_KEPT_BYTES: Final = 48 << 20  # larger buffers are given back after use
_MAX_PROFILE: Final = 4 << 20
_NEARLY_TWICE: Final = 1.9  # half of 4032 px still serves 1024: 50 dB to the full decode


class _Buffers(threading.local):
    """Memory that one thread uses again: fresh pages cost a third of a naive decode."""

    def __init__(self) -> None:
        self._kept: dict[str, bytearray] = {}

    def get(self, name: str, size: int) -> memoryview:
        kept = self._kept.get(name)
        if kept is None or len(kept) < size:
            kept = bytearray(size)
            if size <= _KEPT_BYTES:
                self._kept[name] = kept
        return memoryview(kept)[:size]


_buffers = _Buffers()


def decode_jpeg(
    source: FileSource, header: Header, short_side: int | None, *, exact: bool = True
) -> tuple[NDArray[np.uint8], list[str]]:
    """RGB pixels (as stored, not turned) and flags; raises UnreadablePhoto.

    Without ``exact`` they keep a scale at which the decoder is quick, and lie in this thread's
    buffer: the next call here writes over them.
    """
    if header.channels == 4 or source.size > MAX_BYTES:
        return decode_pillow(source, header, short_side)
    data = read_all(source)
    size = target_size(header.width, header.height, short_side)
    full = size == (header.width, header.height)
    choose = _eighths if exact else _quick_eighths
    eighths = 8 if full else choose(header, size)
    pixels, flags = _decode(data, header, eighths, reuse=not exact)
    if pixels is None:  # samplings and depths that libjpeg-turbo's simple interface lacks
        return decode_pillow(source, header, short_side)
    if exact and not full:
        reach = header.width * eighths / 8, header.height * eighths / 8
        pixels = shrink(pixels, size, reach)
    profile = jpeg_profile(data, header)
    if not profile:
        return pixels, flags
    image, flag = to_srgb(Image.fromarray(pixels), profile)
    return pixels_of(image), flags + ([flag] if flag else [])


def held_pixels(header: Header, short_side: int, *, exact: bool) -> int:
    """How many pixels ``decode_jpeg`` holds at once, for callers who bound memory."""
    size = target_size(header.width, header.height, short_side)
    whole = header.width * header.height
    if header.channels == 4 or not header.frame_at or size == (header.width, header.height):
        return whole  # by Pillow; of a progressive file all coefficients are held, at any scale
    width, height = _scaled(header, (_eighths if exact else _quick_eighths)(header, size))
    return width * height


def read_all(source: FileSource) -> memoryview:
    """The file's bytes, in this thread's buffer: to be used at once, may be changed."""
    data = _buffers.get("file", source.size)
    return data[: source.read_into(data)]


def _eighths(header: Header, size: tuple[int, int]) -> int:
    """The smallest scale n/8 at which both sides are at least twice the wanted ones."""
    for eighths in range(1, 8):
        width, height = _scaled(header, eighths)
        if width >= 2 * size[0] and height >= 2 * size[1]:
            return eighths
    return 8


def _quick_eighths(header: Header, size: tuple[int, int]) -> int:
    """The smallest quick scale at which both sides are nearly twice the wanted ones.

    It divides them: else the last column or row would be partly filled, and a resize that takes it
    for a whole one shifts the picture by up to a pixel.
    5/8 to 7/8 have no vector code in libjpeg-turbo: 68, 75 and 91 ms for 12 megapixels where all
    8/8 take 66.
    """
    for eighths in range(1, 5):
        width, height = _scaled(header, eighths)
        if header.width * eighths % 8 or header.height * eighths % 8:
            continue
        if width >= _NEARLY_TWICE * size[0] and height >= _NEARLY_TWICE * size[1]:
            return eighths
    return 8


def _scaled(header: Header, eighths: int) -> tuple[int, int]:
    return -(-header.width * eighths // 8), -(-header.height * eighths // 8)


def _decode(
    data: memoryview, header: Header, eighths: int, *, reuse: bool
) -> tuple[NDArray[np.uint8] | None, list[str]]:
    """Pixels at ``eighths``/8 of the size; None if not possible.

    Below 8, or to ``reuse`` memory, they lie in this thread's buffer. A missing end mark alone is
    no fault (some phones leave it out).
    """
    width, height = _scaled(header, eighths)
    scaled: dict[str, Any] = {}
    if eighths < 8 or reuse:
        scaled["buffer"] = _buffers.get("pixels", width * height * 3)
    if eighths < 8:
        made = decode_scaled(data, scaled["buffer"], (width, height), eighths)
        if made is not None:
            return made, []
        scaled |= {"min_width": width, "min_height": height}
    fault = ""
    for ending, strict in ((b"", True), (b"\xff\xd9", True), (b"", False)):
        if ending and bytes(data[-2:]) == ending:
            continue
        try:
            whole = bytes(data) + ending if ending else data
            pixels = simplejpeg.decode_jpeg(whole, "RGB", strict=strict, **scaled)
        except (ValueError, MemoryError) as exc:
            fault = str(exc)
            continue
        return pixels, [] if strict else ["truncated" if "remature" in fault else "damaged"]
    return None, []


def jpeg_profile(data: memoryview, header: Header) -> bytes:
    """The colour profile of its APP2 pieces."""
    total = sum(length for _, length in header.icc_at)
    if not 0 < total <= _MAX_PROFILE:
        return b""
    return b"".join(bytes(data[start : start + length]) for start, length in header.icc_at)

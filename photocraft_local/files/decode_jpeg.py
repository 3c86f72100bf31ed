"""JPEG → RGB pixels at a wanted size: libjpeg-turbo (simplejpeg) scales while it decodes.

Owns the scale (n/8, at least twice the wanted size, then bicubic), the per-thread buffers and
the tolerance for cut-off files. Printing colours go through Pillow.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import numpy as np
import simplejpeg
from PIL import Image

from photocraft_local.files.colour import pixels_of, to_srgb
from photocraft_local.files.container import Header
from photocraft_local.files.decode_pillow import decode_pillow
from photocraft_local.files.resample import shrink
from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_BYTES: Final = 512 << 20
_KEPT_BYTES: Final = 48 << 20  # larger buffers are given back after use
_MAX_PROFILE: Final = 4 << 20


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
    source: FileSource, header: Header, size: tuple[int, int]
) -> tuple[NDArray[np.uint8], list[str]]:
    """RGB pixels at ``size`` (as stored, not turned) and flags; raises UnreadablePhoto."""
    if header.channels == 4 or source.size > _MAX_BYTES:
        return decode_pillow(source, header, size)
    data = _buffers.get("file", source.size)
    data = data[: source.read_into(data)]
    profile = _profile(data, header)
    full = size == (header.width, header.height)
    if not full:
        pixels, flags = _decode(source, header, data, (2 * size[0], 2 * size[1]))
    else:
        pixels, flags = _decode(source, header, data, None)
    if pixels is None:
        return decode_pillow(source, header, size)
    if not full:
        pixels = shrink(pixels, size)
    if not profile:
        return pixels, flags
    image, flag = to_srgb(Image.fromarray(pixels), profile)
    return pixels_of(image), flags + ([flag] if flag else [])


def _decode(
    source: FileSource, header: Header, data: memoryview, least: tuple[int, int] | None
) -> tuple[NDArray[np.uint8] | None, list[str]]:
    """Pixels at full size or at a scale that is not below ``least``; None if not possible."""
    options: dict[str, object] = {}
    if least is not None:
        options = {"min_width": least[0], "min_height": least[1]}
        options["buffer"] = _buffers.get("pixels", header.width * header.height * 3)
    for attempt, flag in ((data, ""), (None, ""), (data, "truncated")):
        if attempt is None:
            if bytes(data[-2:]) == b"\xff\xd9":
                continue
            # A missing end mark alone is no fault (some phones leave it out).
            attempt = memoryview(bytes(data) + b"\xff\xd9")
        try:
            pixels = simplejpeg.decode_jpeg(attempt, "RGB", strict=not flag, **options)
        except (ValueError, MemoryError):
            continue
        return pixels, [flag] if flag else []
    return None, []


def _profile(data: memoryview, header: Header) -> bytes:
    """The colour profile of its APP2 pieces."""
    total = sum(length for _, length in header.icc_at)
    if not 0 < total <= _MAX_PROFILE:
        return b""
    return b"".join(bytes(data[start : start + length]) for start, length in header.icc_at)

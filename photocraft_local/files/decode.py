"""Any picture → upright sRGB pixels over white. The one way in which pixels enter the system.

Owns the limits, the choice of decoder and the final turn. Safe to call from many threads; no
setting of Pillow is changed. What a format needs is in ``decode_jpeg``, ``decode_pillow``,
``decode_heif`` and ``decode_raw``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from photocraft_local.errors import PictureTooLarge
from photocraft_local.files.container import Header
from photocraft_local.files.decode_heif import decode_heif
from photocraft_local.files.decode_jpeg import decode_jpeg
from photocraft_local.files.decode_pillow import decode_pillow
from photocraft_local.files.decode_raw import decode_raw
from photocraft_local.files.header import read_header
from photocraft_local.files.metadata import upright_orientation
from photocraft_local.files.source import FileSource
from photocraft_local.records import path_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DECODERS: Final = {"HEIF": decode_heif, "RAW": decode_raw}
# Decoders ask for this much memory before they find out that a file is empty behind its header.
_SUSPICIOUS_PIXELS: Final = 40_000_000
_BYTES_PER_PIXEL: Final = {"JPEG": 6, "WEBP": 12, "AVIF": 14, "HEIF": 10, "JPEG2000": 16}
_SUSPICIOUS_BYTES: Final = 800 << 20
_MAX_PIXELS_PER_BYTE: Final = 400


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """Pixels uint8 (h, w, 3), upright sRGB, contiguous and the caller's own; ``width`` and
    ``height`` are those of the full picture."""

    pixels: NDArray[np.uint8]
    width: int
    height: int
    flags: tuple[str, ...] = ()


def decode_upright(
    path: bytes,
    *,
    short_side: int | None = None,
    exact: bool = True,
    max_pixels: int = 300_000_000,
) -> Decoded:
    """Decode a photo, turned upright, in sRGB, transparency laid over white.

    With ``short_side`` the shorter side of the result is exactly that, or the original's where
    it is smaller; without it the picture has its full size. Raises UnsupportedFormat,
    UnreadablePhoto, or PictureTooLarge when the header states more than ``max_pixels``.

    Not ``exact``: for a caller who resizes anyhow, and at once. The picture comes larger, a JPEG at
    a scale at which its decoder is quick, others in full size; its memory may be written over by
    this thread's next decode.
    """
    with FileSource(path) as source:
        header = read_header(source)
        check_size(source, header, max_pixels)
        if header.format == "JPEG":
            pixels, flags = decode_jpeg(source, header, short_side, exact=exact)
        else:
            decoder = _DECODERS.get(header.format, decode_pillow)
            pixels, flags = decoder(source, header, short_side if exact else None)
    orientation = 1 if header.format == "HEIF" else upright_orientation(header)
    width, height = header.width, header.height
    if orientation >= 5:
        width, height = height, width
    every = dict.fromkeys([*header.flags, *flags])
    upright = turned(pixels, orientation)
    if not upright.flags.writeable:  # Pillow hands out read-only memory, torch warns of it
        upright = upright.copy()
    return Decoded(upright, width, height, tuple(every))


def check_size(source: FileSource, header: Header, max_pixels: int) -> None:
    """Raise PictureTooLarge for more pixels than wanted, or than the file can hold."""
    count = header.width * header.height
    name = path_text(source.path)
    if count > max_pixels:
        raise PictureTooLarge(
            f"{name} has {header.width}x{header.height} pixels, more than {max_pixels}",
            hint="raise the setting max_pixels if the picture is wanted",
        )
    needed = count * _BYTES_PER_PIXEL.get(header.format, 4)
    hollow = count > _SUSPICIOUS_PIXELS and count > source.size * _MAX_PIXELS_PER_BYTE
    if needed > _SUSPICIOUS_BYTES and hollow:
        raise PictureTooLarge(
            f"{name} states {header.width}x{header.height} pixels but has only {source.size} bytes",
            hint="the header is wrong or made to exhaust memory; the file is left out",
        )


def turned(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """Pixels (h, w, 3) with EXIF ``orientation`` 1–8 undone; contiguous."""
    if orientation == 1:
        return pixels
    if orientation in (5, 6, 7, 8):
        pixels = pixels.transpose(1, 0, 2)
    vertical = orientation in (3, 4, 7, 8)
    horizontal = orientation in (2, 3, 6, 7)
    step = (slice(None, None, -1) if vertical else slice(None),
            slice(None, None, -1) if horizontal else slice(None))  # fmt: skip
    return np.ascontiguousarray(pixels[step])

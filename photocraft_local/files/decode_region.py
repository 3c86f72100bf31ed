"""A box out of a photo file, decoded no further down than the box reaches.

libjpeg-turbo's simple interface decodes whole pictures. A baseline JPEG whose header states fewer
rows is a whole picture that ends earlier: the rows below cost nothing. EXIF's orientation is folded
into the box, so that only the box is turned. Other files are decoded whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import simplejpeg
from PIL import Image

from photocraft_local.errors import UsageError
from photocraft_local.files.colour import pixels_of, to_srgb
from photocraft_local.files.container import Header
from photocraft_local.files.decode import check_size, decode_upright, turned
from photocraft_local.files.decode_jpeg import MAX_BYTES, jpeg_profile, read_all
from photocraft_local.files.header import read_header
from photocraft_local.files.metadata import upright_orientation
from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MARGIN: Final = 64  # rows below the box: two of the largest blocks, which its last rows lean on
_WORTH_IT: Final = 0.9  # of the height; above, little is saved

Corners = tuple[int, int, int, int]  # left, top, right, bottom; the last two outside


@dataclass(frozen=True, slots=True, eq=False)
class UpperRows:
    """The first rows of a JPEG as it is stored, from which boxes of the upright picture are cut.

    ``pixels`` are uint8 (rows, width, 3); ``width`` and ``height`` are the stored picture's.
    """

    pixels: NDArray[np.uint8]
    width: int
    height: int
    orientation: int
    profile: bytes

    def cut(self, corners: Corners) -> NDArray[np.uint8] | None:
        """The box, upright sRGB and the caller's own; None for one that reaches further down.

        Raises UsageError for a box outside the picture.
        """
        left, top, right, bottom = stored(corners, self.width, self.height, self.orientation)
        if bottom > len(self.pixels):
            return None
        cut = np.ascontiguousarray(self.pixels[top:bottom, left:right])
        if self.profile:
            cut = pixels_of(to_srgb(Image.fromarray(cut), self.profile)[0])
        return np.array(turned(cut, self.orientation))


def decode_region(
    path: bytes, corners: Corners, *, max_pixels: int = 300_000_000
) -> NDArray[np.uint8]:
    """Pixels uint8 (height, width, 3) of the box of the upright picture, the caller's own.

    The same as cut from the full decode. Raises UsageError for a box that is not inside, and what
    ``decode_upright`` raises.
    """
    rows = decode_rows(path, corners, max_pixels=max_pixels)
    found = rows.cut(corners) if rows else None
    if found is not None:
        return found
    whole = decode_upright(path, max_pixels=max_pixels).pixels
    left, top, right, bottom = corners
    return whole[top:bottom, left:right].copy()


def decode_rows(
    path: bytes, corners: Corners, *, max_pixels: int = 300_000_000
) -> UpperRows | None:
    """The rows down to the box's end; None where the whole picture has to be decoded.

    Raises as ``decode_region``.
    """
    with FileSource(path) as source:
        header = read_header(source)
        check_size(source, header, max_pixels)
        orientation = 1 if header.format == "HEIF" else upright_orientation(header)
        bottom = stored(corners, header.width, header.height, orientation)[3]
        if header.format != "JPEG":
            return None
        return _from_jpeg(source, header, orientation, bottom)


def _from_jpeg(
    source: FileSource, header: Header, orientation: int, bottom: int
) -> UpperRows | None:
    rows = bottom + _MARGIN
    if not header.frame_at or header.channels != 3 or rows > _WORTH_IT * header.height:
        return None
    if source.size > MAX_BYTES:
        return None
    data = read_all(source)
    if not _has_one_scan(data, header.frame_at - 4):
        return None
    data[header.frame_at + 1 : header.frame_at + 3] = rows.to_bytes(2, "big")  # in memory only
    try:
        pixels = simplejpeg.decode_jpeg(data, "RGB", strict=False)
    except (ValueError, MemoryError):
        return None
    profile = jpeg_profile(data, header)
    return UpperRows(pixels[:bottom], header.width, header.height, orientation, profile)


def _has_one_scan(data: memoryview, position: int) -> bool:
    """Whether the first scan after the frame header there holds all three channels."""
    while position + 5 <= len(data) and data[position] == 0xFF:
        if data[position + 1] == 0xDA:
            return data[position + 4] == 3
        position += 2 + int.from_bytes(data[position + 2 : position + 4], "big")
    return False


def stored(corners: Corners, width: int, height: int, orientation: int) -> Corners:
    """The box of the upright picture as it lies in the stored one, which has that size.

    ``turned`` undone, last step first. Raises UsageError for a box outside.
    """
    if orientation >= 5:
        width, height = height, width
    _check(corners, width, height)
    left, top, right, bottom = corners
    if orientation in (3, 4, 7, 8):
        top, bottom = height - bottom, height - top
    if orientation in (2, 3, 6, 7):
        left, right = width - right, width - left
    return (top, left, bottom, right) if orientation >= 5 else (left, top, right, bottom)


def _check(corners: Corners, width: int, height: int) -> None:
    left, top, right, bottom = corners
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        raise UsageError(
            f"the box {corners} does not lie inside the picture, which is {width} pixels wide and "
            f"{height} pixels high",
            hint=f"x + width may be at most {width} and y + height at most {height}",
        )

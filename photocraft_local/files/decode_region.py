"""A box out of a photo file: the box alone is decoded, or the rows down to its end.

libjpeg-turbo's simple interface decodes whole pictures. A part of a baseline JPEG is a picture of
its own (``cut_jpeg``), and one whose header states fewer rows a whole picture that ends earlier.
EXIF's orientation is folded into the box, so that only the box is turned. Other files are decoded
whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import simplejpeg
from PIL import Image

from photocraft_local.errors import UsageError
from photocraft_local.files.colour import pixels_of, to_srgb
from photocraft_local.files.container import Header
from photocraft_local.files.cut_jpeg import cut_jpeg
from photocraft_local.files.decode import check_size, decode_upright, turned
from photocraft_local.files.decode_jpeg import MAX_BYTES, jpeg_profile, read_all
from photocraft_local.files.header import read_header
from photocraft_local.files.metadata import upright_orientation
from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MARGIN: Final = 64  # rows below the box: two of the largest blocks, which its last rows lean on
_WORTH_IT: Final = 0.9  # of the height; above, little is saved
_PART_OF: Final = 0.5  # of the pixels; copying the codes of more costs what is saved

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
        return _upright(self.pixels[top:bottom, left:right], self.profile, self.orientation)


def decode_region(
    path: bytes, corners: Corners, *, max_pixels: int = 300_000_000
) -> NDArray[np.uint8]:
    """Pixels uint8 (height, width, 3) of the box of the upright picture, the caller's own.

    The same as cut from the full decode. Raises UsageError for a box that is not inside, and what
    ``decode_upright`` raises.
    """
    found = decode_part(path, corners, max_pixels=max_pixels)
    if found is None and (rows := decode_rows(path, corners, max_pixels=max_pixels)) is not None:
        found = rows.cut(corners)
    if found is not None:
        return found
    whole = decode_upright(path, max_pixels=max_pixels).pixels
    left, top, right, bottom = corners
    return whole[top:bottom, left:right].copy()


def decode_part(
    path: bytes, corners: Corners, *, max_pixels: int = 300_000_000, least_pixels: int = 0
) -> NDArray[np.uint8] | None:
    """As ``decode_region``, with nothing but the box decoded; None where that cannot be done, is no
    quicker, or the picture has fewer than ``least_pixels``. Raises as ``decode_region``.
    """
    with FileSource(path) as source:
        stated = _stated(source, corners, max_pixels)
        header, (left, top, right, bottom) = stated.header, stated.box
        pixels = header.width * header.height
        if pixels < least_pixels or (right - left) * (bottom - top) > _PART_OF * pixels:
            return None
        data = _codes(source, header)
        if data is None or (part := cut_jpeg(data, stated.box)) is None:
            return None
        try:
            around = simplejpeg.decode_jpeg(part.data, "RGB")
        except (ValueError, MemoryError):
            return None
        cut = around[top - part.top : bottom - part.top, left - part.left : right - part.left]
        return _upright(cut, jpeg_profile(data, header), stated.orientation)


def decode_rows(
    path: bytes, corners: Corners, *, max_pixels: int = 300_000_000
) -> UpperRows | None:
    """The rows down to the box's end; None where the whole picture has to be decoded.

    Raises as ``decode_region``.
    """
    with FileSource(path) as source:
        stated = _stated(source, corners, max_pixels)
        header, bottom = stated.header, stated.box[3]
        rows = bottom + _MARGIN
        if rows > _WORTH_IT * header.height or (data := _codes(source, header)) is None:
            return None
        # In memory only.
        data[header.frame_at + 1 : header.frame_at + 3] = rows.to_bytes(2, "big")
        try:
            pixels = simplejpeg.decode_jpeg(data, "RGB", strict=False)
        except (ValueError, MemoryError):
            return None
        profile = jpeg_profile(data, header)
        return UpperRows(pixels[:bottom], header.width, header.height, stated.orientation, profile)


class _Stated(NamedTuple):
    """What a file says of itself, and the box as it lies in the stored picture."""

    header: Header
    orientation: int
    box: Corners


def _stated(source: FileSource, corners: Corners, max_pixels: int) -> _Stated:
    header = read_header(source)
    check_size(source, header, max_pixels)
    orientation = 1 if header.format == "HEIF" else upright_orientation(header)
    box = stored(corners, header.width, header.height, orientation)
    return _Stated(header, orientation, box)


def _codes(source: FileSource, header: Header) -> memoryview | None:
    """The bytes of a JPEG in colour with one scan, in this thread's buffer."""
    if header.format != "JPEG" or not header.frame_at or header.channels != 3:
        return None
    if source.size > MAX_BYTES:
        return None
    data = read_all(source)
    return data if _has_one_scan(data, header.frame_at - 4) else None


def _upright(cut: NDArray[np.uint8], profile: bytes, orientation: int) -> NDArray[np.uint8]:
    """A cut of the stored picture, upright sRGB and the caller's own."""
    cut = np.ascontiguousarray(cut)
    if profile:
        cut = pixels_of(to_srgb(Image.fromarray(cut), profile)[0])
    return np.array(turned(cut, orientation))


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

"""A part of a JPEG file as a JPEG file of its own, by this package's C extension, where it can.

Codes are copied in whole units, one more on each side than the box needs: what libjpeg-turbo makes
of the part is, byte for byte, what it makes of the whole, and costs as much less. The rest of the
file costs the lengths of its codes. Knows no orientation and decodes nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

import numpy as np

from photocraft_local.files import scaled_jpeg

_log = logging.getLogger(__name__)
_FRAMES: Final = (0xC0, 0xC1)
_SCAN: Final = 0xDA
_KEPT: Final = (*_FRAMES, 0xC4, 0xDB, 0xE0, 0xEE)  # tables, and what the colours depend on
_ROOM: Final = 1 << 16  # bytes by which a part of nearly all may be longer than the file
# The extension writes each DC difference with a code of four bits for its size, 0 to 12.
_DC_TABLE: Final = bytes(3) + bytes((13,)) + bytes(12) + bytes(range(13))


@dataclass(frozen=True, slots=True)
class Part:
    """``left`` and ``top`` are where its first pixel lies in the whole picture."""

    data: bytes
    left: int
    top: int


def cut_jpeg(data: memoryview, box: tuple[int, int, int, int]) -> Part | None:
    """The units that hold the box (left, top, right, bottom; the last two outside) and those around
    them. None: the file is not for it, or is damaged above the box's end."""
    if not scaled_jpeg.chosen().native:
        return None
    from photocraft_local.files import _native

    room = np.empty(len(data) + _ROOM, np.uint8)
    found = _native.cut(data, room, *box)
    if isinstance(found, str):
        _log.debug("no part of a JPEG is cut: %s", found)
        return None
    size, left, top, right, bottom = found
    return Part(_head(data, right - left, bottom - top) + room[:size].tobytes(), left, top)


def _head(data: memoryview, width: int, height: int) -> bytes:
    """All up to the scan, for a picture of that size. The markers have been read before."""
    kept, at = [b"\xff\xd8"], 2
    while True:
        marker = data[at + 1]
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        segment = bytes(data[at:end])
        if marker in _FRAMES:
            sides = height.to_bytes(2, "big") + width.to_bytes(2, "big")
            segment = segment[:5] + sides + segment[9:]
        if marker == _SCAN:
            return b"".join((*kept, _dc_tables(segment), segment))
        if marker in _KEPT:
            kept.append(segment)
        at = end


def _dc_tables(scan: bytes) -> bytes:
    """One for each that the scan asks for; the last one of a number holds."""
    numbers = {scan[6 + 2 * channel] >> 4 for channel in range(scan[4])}
    tables = b"".join(bytes((number,)) + _DC_TABLE for number in sorted(numbers))
    return b"\xff\xc4" + (2 + len(tables)).to_bytes(2, "big") + tables

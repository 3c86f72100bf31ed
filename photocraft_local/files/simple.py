"""GIF, BMP, netpbm and JPEG 2000 headers: size and what makes them unsafe to decode.

None of them is read for EXIF.
"""

from __future__ import annotations

import re
from struct import unpack
from typing import Final

from photocraft_local.files.container import Header
from photocraft_local.files.source import FileSource

_MAX_BLOCKS: Final = 4000
_WINDOW: Final = 4096


def read_gif(source: FileSource) -> Header:
    """The screen and its first frame; a frame off the screen is refused (UnreadablePhoto)."""
    header = Header("GIF", channels=4)
    if len(source.head) < 13:
        raise source.broken("a GIF without a screen")
    header.width, header.height, packed = unpack("<HHB", source.head[6:11])
    position = 13 + (3 << (packed & 7) + 1 if packed & 0x80 else 0)
    for _ in range(_MAX_BLOCKS):
        start = source.read(position, 2)
        if start[:1] == b",":
            rectangle = source.read(position + 1, 9)
            _first_frame(source, header, rectangle)
            if _another_frame(source, position + 10, rectangle[8:]):
                header.add_flag("animated")
            return header
        if start[:1] != b"!" or len(start) < 2:
            break
        position = _after_blocks(source, position + 2)
    raise source.broken("a GIF without a frame")


def _another_frame(source: FileSource, position: int, packed: bytes) -> bool:
    """Whether a second frame starts behind the first one's data; a very long one has none."""
    if not packed:
        return False
    colours = 3 << (packed[0] & 7) + 1 if packed[0] & 0x80 else 0
    position = _after_blocks(source, position + colours + 1)
    for _ in range(_MAX_BLOCKS):
        start = source.read(position, 2)
        if start[:1] != b"!":
            return start[:1] == b","
        position = _after_blocks(source, position + 2)
    return False


def _after_blocks(source: FileSource, position: int) -> int:
    """Where a chain of data blocks ends."""
    window, base = b"", position
    for _ in range(_MAX_BLOCKS):
        if position - base >= len(window):
            window, base = source.read(position, _WINDOW), position
            if not window:
                break
        size = window[position - base]
        position += 1 + size
        if not size:
            break
    return position


def _first_frame(source: FileSource, header: Header, rectangle: bytes) -> None:
    if len(rectangle) < 9:
        raise source.broken("a GIF whose first frame is cut off")
    left, top, width, height = unpack("<HHHH", rectangle[:8])
    if not width or not height:
        raise source.broken("a GIF whose first frame is empty")
    screen = header.width, header.height
    if (screen[0] and left >= screen[0]) or (screen[1] and top >= screen[1]):
        raise source.broken(
            f"its first frame lies at {left},{top}, outside the screen of {screen[0]}x{screen[1]}"
        )
    # Decoders enlarge the screen to hold a frame that sticks out of it.
    header.width = max(screen[0], left + width)
    header.height = max(screen[1], top + height)


def read_bmp(source: FileSource) -> Header:
    """Size of a BMP; raises UnreadablePhoto."""
    header = Header("BMP", channels=3)
    info = source.head[14:30]
    if len(info) < 12:
        raise source.broken("a BMP without a header")
    if info[0] == 12:
        header.width, header.height = unpack("<HH", info[4:8])
    elif len(info) >= 16:
        width, height = unpack("<ii", info[4:12])
        header.width, header.height = width, abs(height)  # negative: top row first
    if header.width <= 0 or not header.height:
        raise source.broken("a BMP without a picture size")
    return header


_PNM_SIZE: Final = re.compile(rb"P[1-6](?:\s+|#[^\n]*\n)+(\d{1,9})(?:\s+|#[^\n]*\n)+(\d{1,9})")


def read_ppm(source: FileSource) -> Header:
    """Size of a PBM, PGM or PPM; raises UnreadablePhoto."""
    found = _PNM_SIZE.match(source.head)
    header = Header("PPM", channels=3)
    if found:
        header.width, header.height = int(found[1]), int(found[2])
    if not header.width or not header.height:
        raise source.broken("a netpbm file without a picture size")
    return header


def read_jpeg2000(source: FileSource) -> Header:
    """Size of a JP2 file or a bare codestream; raises UnreadablePhoto."""
    header = Header("JPEG2000", channels=4)
    head = source.head
    box = head.find(b"ihdr", 0, 4096)
    if head.startswith(b"\xff\x4f") and len(head) >= 24:
        right, bottom, left, top = unpack(">IIII", head[8:24])
        header.width, header.height = right - left, bottom - top
    elif box > 0 and len(head) >= box + 12:
        header.height, header.width = unpack(">II", head[box + 4 : box + 12])
    if header.width <= 0 or header.height <= 0:
        raise source.broken("a JPEG 2000 file without a picture size")
    return header

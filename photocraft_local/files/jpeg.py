"""JPEG and MPO headers: the marker segments before the scan. Decodes nothing.

Source: ITU-T T.81 annex B, EXIF 2.32, XMP part 3, CIPA DC-007 (multi-picture).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from photocraft_local.files.container import Header
from photocraft_local.files.source import HEAD_BYTES, FileSource

_MAX_SEGMENTS: Final = 2000
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_PROGRESSIVE: Final = frozenset([0xC2, 0xC6, 0xCA, 0xCE])
_XMP: Final = b"http://ns.adobe.com/xap/1.0/\0"
_ICC: Final = b"ICC_PROFILE\0"


def read_jpeg(source: FileSource) -> Header:
    """Size, EXIF, XMP and the places of the colour profile; raises UnreadablePhoto."""
    header = Header("JPEG")
    for marker, start, length in _segments(source):
        if marker == 0xE1:
            _application(header, source.read(start, length))
        elif marker == 0xE2:
            kind = source.read(start, 14)
            if kind.startswith(_ICC):
                header.icc_at.append((start + 14, length - 14))
            elif kind.startswith(b"MPF\0"):
                header.add_flag("multi-picture")
        elif marker in _FRAMES and length >= 6 and not header.width:
            frame = source.read(start, 6)
            if len(frame) < 6:
                break
            header.height = int.from_bytes(frame[1:3], "big")
            header.width = int.from_bytes(frame[3:5], "big")
            header.channels = frame[5]
            header.progressive = marker in _PROGRESSIVE
    if not header.width or not header.height:
        raise source.broken("a JPEG without a picture size")
    return header


def _application(header: Header, payload: bytes) -> None:
    if payload.startswith(b"Exif"):
        header.add_exif(payload)
    elif payload.startswith(_XMP) and not header.xmp:
        header.xmp = payload[len(_XMP) :]


def _segments(source: FileSource) -> Iterator[tuple[int, int, int]]:
    """(marker, payload offset, payload length) of each segment up to the first scan."""
    window, base = source.head, 0
    position = 2
    for _ in range(_MAX_SEGMENTS):
        if position + 4 > base + len(window):
            window, base = source.read(position, HEAD_BYTES), position
            if len(window) < 4:
                return
        at = position - base
        if window[at] != 0xFF:
            # Bytes between segments: decoders step to the next marker, so do we.
            found = window.find(b"\xff", at)
            position = base + (found if found >= 0 else len(window))
            continue
        marker = window[at + 1]
        if marker == 0xFF:
            position += 1
        elif marker in (0xDA, 0xD9):
            return
        elif marker <= 0x01 or 0xD0 <= marker <= 0xD8:
            position += 2
        else:
            length = (window[at + 2] << 8) | window[at + 3]
            if length < 2:
                position += 2
                continue
            yield marker, position + 4, length - 2
            position += 2 + length

"""JPEG and MPO headers: the marker segments before the scan. Decodes nothing.

Source: ITU-T T.81 annex B, EXIF 2.32, XMP part 3, CIPA DC-007 (multi-picture).
"""

from __future__ import annotations

from typing import Final

from photocraft_local.files.container import Header
from photocraft_local.files.source import FileSource

_MAX_SEGMENTS: Final = 2000
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_TOLD: Final = _FRAMES | {0xE1, 0xE2, 0xED}
_PIXELS: Final = frozenset([0xC4, 0xDA, 0xD9])  # Huffman tables, scan, end
_ALONE: Final = frozenset([*range(0xD0, 0xD9), 0xFF])  # markers without a length
_WINDOW: Final = 4096
_XMP: Final = b"http://ns.adobe.com/xap/1.0/\0"
_ENOUGH_XMP: Final = 1 << 18
_ICC: Final = b"ICC_PROFILE\0"


def read_jpeg(source: FileSource) -> Header:
    """Size, EXIF, XMP and the places of the colour profile; raises UnreadablePhoto.

    One flat loop: it runs once for every photo of a library.
    """
    header = Header("JPEG")
    window, base = source.head, 0
    end = len(window) - 4
    position = 2
    for _ in range(_MAX_SEGMENTS):
        at = position - base
        if at > end:
            window, base, at = source.read(position, _WINDOW), position, 0
            end = len(window) - 4
            if end < 0:
                break
        if window[at] != 0xFF:
            # Bytes between segments: decoders step to the next marker, so do we.
            found = window.find(b"\xff", at)
            position = base + (found if found >= 0 else len(window))
            continue
        marker = window[at + 1]
        if marker >= 0xC0 and marker not in _ALONE:
            length = (window[at + 2] << 8) | window[at + 3]
            if marker in _TOLD:
                _segment(source, header, marker, position + 4, length - 2)
            elif marker in _PIXELS and (header.width or marker != 0xC4):
                break  # nothing but tables and pixels from here on
            position += 2 + max(length, 2)
        else:
            position += 1 if marker == 0xFF else 2
    if not header.width or not header.height:
        raise source.broken("a JPEG without a picture size")
    return header


def _segment(source: FileSource, header: Header, marker: int, start: int, length: int) -> None:
    """Take what one frame header, APP1, APP2 or APP13 segment says."""
    if marker in _FRAMES:
        frame = source.read(start, 6)
        if len(frame) == 6 and not header.width:
            header.height = (frame[1] << 8) | frame[2]
            header.width = (frame[3] << 8) | frame[4]
            header.channels = frame[5]
            header.frame_at = start if marker in (0xC0, 0xC1) else 0
    elif marker == 0xE1:
        kind = source.read(start, len(_XMP))
        if kind.startswith(b"Exif"):
            header.add_exif_at(source.read, start, length)
        elif kind == _XMP and len(header.xmp) < _ENOUGH_XMP:  # editors may add one of their own
            packet = source.read(start + len(_XMP), length - len(_XMP))
            header.xmp += packet.rstrip(b"\0") if header.xmp else packet
    elif marker == 0xED:
        header.photoshop = header.photoshop or source.read(start, length)
    else:
        kind = source.read(start, 14)
        if kind.startswith(_ICC):
            header.icc_at.append((start + 14, length - 14))
        elif kind.startswith(b"MPF\0"):
            header.add_flag("multi-picture")

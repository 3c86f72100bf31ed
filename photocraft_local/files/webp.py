"""WebP headers: RIFF chunks with size, EXIF, XMP. Source: WebP container specification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from photocraft_local.files.container import Header
from photocraft_local.files.source import FileSource

_MAX_CHUNKS: Final = 10_000
_MAX_BLOCK: Final = 4 << 20


def read_webp(source: FileSource) -> Header:
    """Size, EXIF, XMP; raises UnreadablePhoto."""
    header = Header("WEBP", channels=4)
    for kind, start, length in _chunks(source):
        if kind == b"VP8X" and not header.width:
            data = source.read(start, 10)
            header.width = int.from_bytes(data[4:7], "little") + 1
            header.height = int.from_bytes(data[7:10], "little") + 1
            if data[:1] and data[0] & 0x02:
                header.add_flag("animated")
        elif kind in (b"VP8 ", b"VP8L"):
            _frame(source, header, kind, source.read(start, 10))
        elif kind == b"EXIF" and length <= _MAX_BLOCK:
            header.add_exif(source.read(start, length))
        elif kind == b"XMP " and length <= _MAX_BLOCK:
            header.xmp = source.read(start, length)
    if not header.width or not header.height:
        raise source.broken("a WebP without a picture size")
    return header


def _frame(source: FileSource, header: Header, kind: bytes, data: bytes) -> None:
    if kind == b"VP8L":
        bits = int.from_bytes(data[1:5], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width = int.from_bytes(data[6:8], "little") & 0x3FFF
        height = int.from_bytes(data[8:10], "little") & 0x3FFF
    if header.width and (header.width, header.height) != (width, height):
        # A still picture fills its canvas; a header that says otherwise asks for memory in vain.
        raise source.broken("canvas and picture differ in size")
    header.width, header.height = width, height


def _chunks(source: FileSource) -> Iterator[tuple[bytes, int, int]]:
    position = 12
    for _ in range(_MAX_CHUNKS):
        head = source.read(position, 8)
        if len(head) < 8:
            return
        length = int.from_bytes(head[4:], "little")
        yield head[:4], position + 8, length
        position += 8 + length + (length & 1)

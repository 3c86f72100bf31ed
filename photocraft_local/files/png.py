"""PNG headers: chunks with size, EXIF, XMP and colour profile. Inflates only bounded amounts.

Source: W3C PNG third edition; ``Raw profile type`` texts are ImageMagick's older habit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from photocraft_local.files.container import Header
from photocraft_local.files.source import FileSource

_MAX_CHUNKS: Final = 100_000
_MAX_TEXT: Final = 1 << 20
_XMP_KEY: Final = b"XML:com.adobe.xmp"
_RAW_PROFILE: Final = b"Raw profile type "
_INTERESTING: Final = frozenset([b"IHDR", b"eXIf", b"iTXt", b"tEXt", b"zTXt", b"iCCP", b"acTL"])
SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


def read_png(source: FileSource) -> Header:
    """Size, EXIF, XMP; raises UnreadablePhoto."""
    header = Header("PNG")
    for kind, start, length in chunks(source):
        if kind not in _INTERESTING:
            continue
        if kind == b"IHDR":
            data = source.read(start, 13)
            header.width = int.from_bytes(data[:4], "big")
            header.height = int.from_bytes(data[4:8], "big")
            header.channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}.get(
                data[9:10][0] if data[9:] else 0, 4
            )
        elif kind == b"acTL":
            header.add_flag("animated")
        elif kind == b"iCCP":
            header.icc_at = [(start, length)]
        elif length <= _MAX_TEXT:
            _text_chunk(header, kind, source.read(start, length))
    if not header.width or not header.height:
        raise source.broken("a PNG without a picture size")
    return header


def chunks(source: FileSource) -> Iterator[tuple[bytes, int, int]]:
    """(kind, payload offset, payload length) of each chunk; stops where the file does."""
    position = len(SIGNATURE)
    for _ in range(_MAX_CHUNKS):
        head = source.read(position, 8)
        if len(head) < 8:
            return
        length = int.from_bytes(head[:4], "big")
        yield head[4:], position + 8, length
        if head[4:] == b"IEND":
            return
        position += 12 + length


def colour_profile(source: FileSource, header: Header) -> bytes:
    """The inflated iCCP profile, empty if there is none or it is broken."""
    if not header.icc_at:
        return b""
    start, length = header.icc_at[0]
    data = source.read(start, min(length, 4 << 20))
    _, _, packed = data.partition(b"\0")
    return _inflate(packed[1:])


def _text_chunk(header: Header, kind: bytes, data: bytes) -> None:
    if kind == b"eXIf":
        header.add_exif(data)
        return
    key, _, rest = data.partition(b"\0")
    if key == _XMP_KEY and kind == b"iTXt" and not header.xmp:
        packed = rest[:1] == b"\1"
        value = rest[2:].partition(b"\0")[2].partition(b"\0")[2]  # after language, keyword
        header.xmp = _inflate(value) if packed else value
    elif key.startswith(_RAW_PROFILE) and kind in (b"tEXt", b"zTXt"):
        _raw_profile(header, _inflate(rest[1:]) if kind == b"zTXt" else rest)


def _raw_profile(header: Header, value: bytes) -> None:
    """A profile as hexadecimal text: name, length, digits, one a line."""
    lines = value.split(None, 2)
    if len(lines) < 3:
        return
    try:
        profile = bytes.fromhex("".join(lines[2].decode("ascii").split()))
    except ValueError:
        return
    if profile.startswith(b"Exif"):
        header.add_exif(profile)
    elif b"<x:xmpmeta" in profile and not header.xmp:
        header.xmp = profile[profile.find(b"<") :]


def _inflate(packed: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(packed, 4 * _MAX_TEXT)
    except zlib.error:
        return b""

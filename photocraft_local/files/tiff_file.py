"""TIFF files: their first directory is header and EXIF at once."""

from __future__ import annotations

from struct import error
from typing import Final

from photocraft_local.files.container import Header
from photocraft_local.files.source import FileSource
from photocraft_local.files.tiff import number, read_directories

_DNG_VERSION: Final = 0xC612


def read_tiff(source: FileSource) -> Header:
    """Size, EXIF, XMP; "RAW" as format where the first directory is a digital negative's."""
    header = Header("TIFF", channels=4)
    try:
        header.exif = read_directories(source.read)
    except error as exc:
        raise source.broken("a TIFF whose first directory makes no sense") from exc
    if header.exif is None:
        raise source.broken("a TIFF without a directory")
    tags = header.exif.main
    header.width, header.height = number(tags.get(0x0100)) or 0, number(tags.get(0x0101)) or 0
    packet = tags.get(0x02BC)
    if isinstance(packet, bytes):
        header.xmp = packet
    if _DNG_VERSION in tags:
        header.format = "RAW"
    elif header.width <= 0 or header.height <= 0:
        raise source.broken("a TIFF without a picture size")
    return header

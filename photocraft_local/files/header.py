"""The header of any picture: container by content, one reader for each.

Owns the dispatch and the error for what is no picture. Decodes no pixel.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import error
from typing import Final

from photocraft_local.errors import UnsupportedFormat
from photocraft_local.files.bmff import read_bmff
from photocraft_local.files.container import Header
from photocraft_local.files.jpeg import read_jpeg
from photocraft_local.files.kinds import sniff
from photocraft_local.files.png import read_png
from photocraft_local.files.raw import read_raw
from photocraft_local.files.simple import read_bmp, read_gif, read_jpeg2000, read_ppm
from photocraft_local.files.source import FileSource
from photocraft_local.files.tiff_file import read_tiff
from photocraft_local.files.webp import read_webp
from photocraft_local.records import path_text

_READERS: Final[dict[str, Callable[[FileSource], Header]]] = {
    "JPEG": read_jpeg,
    "PNG": read_png,
    "WEBP": read_webp,
    "GIF": read_gif,
    "BMP": read_bmp,
    "PPM": read_ppm,
    "JPEG2000": read_jpeg2000,
    "HEIF": lambda source: read_bmff(source, "HEIF"),
    "AVIF": lambda source: read_bmff(source, "AVIF"),
    "RAW": read_raw,
}


def read_header(source: FileSource) -> Header:
    """The header of the picture; raises UnsupportedFormat or UnreadablePhoto, naming the file."""
    try:
        return _dispatched(source)
    except (IndexError, ValueError, OverflowError, error) as exc:
        raise source.broken(f"its header makes no sense ({exc})") from exc


def _dispatched(source: FileSource) -> Header:
    kind = sniff(source.head, name=source.path.rpartition(b"/")[2])
    if kind == "TIFF":
        header = read_tiff(source)
        return read_raw(source) if header.format == "RAW" else header
    if kind in _READERS:
        return _READERS[kind](source)
    name = path_text(source.path)
    if kind == "VIDEO":
        raise UnsupportedFormat(f"{name} is a video", hint="only photos are indexed")
    raise UnsupportedFormat(
        f"{name} is no picture that can be read: it starts with {_start(source.head)}",
        hint="read are JPEG, MPO, PNG, WebP, TIFF, GIF, BMP, HEIF, AVIF, JPEG 2000, netpbm, RAW",
    )


def _start(head: bytes) -> str:
    return repr(head[:12].decode("latin-1"))

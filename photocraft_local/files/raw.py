"""RAW files: size and preview through LibRaw (rawpy), EXIF through the TIFF walk or the preview.

Untested on real camera files (none at hand); a made DNG proves the path. See docs/formats.md.
"""

from __future__ import annotations

import io
from struct import error
from typing import Any, Final

from photocraft_local.files.container import Header
from photocraft_local.files.source import FileSource
from photocraft_local.files.tiff import read_directories

_MAX_BYTES: Final = 512 << 20


def read_raw(source: FileSource) -> Header:
    """Size as LibRaw develops it, stored way up; raises UnreadablePhoto."""
    header = Header("RAW", channels=3)
    try:
        header.exif = read_directories(source.read)
    except error:
        header.exif = None
    with_raw = open_raw(source)
    try:
        sizes = with_raw.sizes
        header.width, header.height = int(sizes.width), int(sizes.height)
        header.turned = {0: 1, 3: 3, 5: 8, 6: 6}.get(int(sizes.flip), 1)
    finally:
        with_raw.close()
    return header


def open_raw(source: FileSource) -> Any:
    """The file in LibRaw; close it after use. Raises UnreadablePhoto."""
    import rawpy

    if source.size > _MAX_BYTES:
        raise source.broken(f"a RAW file of {source.size >> 20} MiB, more than 512")
    try:
        return rawpy.imread(io.BytesIO(source.read(0, source.size)))
    except (rawpy.LibRawError, OSError, ValueError) as exc:
        raise source.broken(f"LibRaw cannot open it ({exc})") from exc

"""RAW files: size and preview through LibRaw (rawpy), EXIF through the TIFF walk or the preview.

Untested on real camera files (none at hand); a made DNG proves the path. See docs/formats.md.
"""

from __future__ import annotations

import io
from struct import error
from typing import Any, Final

from photocraft_local.files.container import Header
from photocraft_local.files.source import FileSource
from photocraft_local.files.tiff import Directories, read_directories

_MAX_BYTES: Final = 512 << 20
_CLOCK_NEVER_SET: Final = 1980  # LibRaw gives 1970 for "not stated"


def read_raw(source: FileSource) -> Header:
    """Size as LibRaw develops it, stored way up; raises UnreadablePhoto."""
    header = Header("RAW", channels=3)
    try:
        header.exif = read_directories(source.read)
    except error:
        header.exif = None
    opened = open_raw(source)
    try:
        sizes = opened.sizes
        header.width, header.height = int(sizes.width), int(sizes.height)
        header.turned = {0: 1, 3: 3, 5: 8, 6: 6}.get(int(sizes.flip), 1)
        taken = opened.other.timestamp
    finally:
        opened.close()
    if header.exif is None and taken.year > _CLOCK_NEVER_SET:
        # Containers other than TIFF (CR3, RAF, …): LibRaw reads the exposure's time from them.
        stamp = taken.strftime("%Y:%m:%d %H:%M:%S").encode()
        header.exif = Directories(exif={0x9003: stamp})
    return header


def open_raw(source: FileSource) -> Any:
    """The file in LibRaw; close it after use. Raises UnreadablePhoto."""
    import rawpy

    if source.size > _MAX_BYTES:
        raise source.broken(f"a RAW file of {source.size >> 20} MiB, more than 512")
    try:
        try:
            return rawpy.imread(source.path.decode("utf-8"))  # reads the needed parts only
        except UnicodeDecodeError:
            return rawpy.imread(io.BytesIO(source.read(0, source.size)))
    except (rawpy.LibRawError, OSError, ValueError) as exc:
        raise source.broken(f"LibRaw cannot open it ({exc})") from exc

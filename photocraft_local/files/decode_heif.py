"""HEIC and HEIF → RGB pixels through libheif (pi_heif), which turns the pixels itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from photocraft_local.files.container import Header
from photocraft_local.files.quiet import quiet_pillow
from photocraft_local.files.render import render, target_size
from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_BYTES: Final = 512 << 20
_FAULTS: Final = (OSError, ValueError, EOFError, SyntaxError, RuntimeError, IndexError, MemoryError)


def decode_heif(
    source: FileSource, header: Header, short_side: int | None
) -> tuple[NDArray[np.uint8], list[str]]:
    """RGB pixels, already turned, and flags; raises UnreadablePhoto."""
    import pi_heif

    if source.size > _MAX_BYTES:
        raise source.broken(f"a HEIF file of {source.size >> 20} MiB, more than 512")
    with quiet_pillow():
        try:
            opened = pi_heif.HeifFile(source.read(0, source.size))
            primary = opened[opened.primary_index]
            profile = bytes(primary.info.get("icc_profile") or b"")
            width, height = primary.size
            if width * height > 2 * header.width * header.height:
                raise ValueError(f"its header and its decoder differ: {width}x{height}")
            image = primary.to_pillow()
            header.width, header.height = image.size
            return render(image, target_size(image.width, image.height, short_side), profile)
        except _FAULTS as exc:
            raise source.broken(f"HEIF data cannot be decoded ({exc})") from exc

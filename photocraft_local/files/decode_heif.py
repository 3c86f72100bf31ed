"""HEIC and HEIF → RGB pixels through libheif, which turns the pixels itself.

Calls pi_heif's extension module, not its ``HeifFile``: that one reads the metadata of every
picture in the file on opening, and its reader of damaged metadata kills the process
(pi_heif 1.4.0, found by tests/files/test_files_fuzz.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PIL import Image

from photocraft_local.files.container import Header
from photocraft_local.files.render import render, target_size
from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_BYTES: Final = 512 << 20
_FAULTS: Final = (OSError, ValueError, EOFError, SyntaxError, RuntimeError, MemoryError)


def decode_heif(
    source: FileSource, header: Header, short_side: int | None
) -> tuple[NDArray[np.uint8], list[str]]:
    """RGB pixels, already turned, and flags; raises UnreadablePhoto."""
    if source.size > _MAX_BYTES:
        raise source.broken(f"a HEIF file of {source.size >> 20} MiB, more than 512")
    try:
        primary = _primary(source)
        width, height = primary.size_mode[0]
        if width * height > 2 * header.width * header.height:
            raise ValueError(f"its header and its decoder differ: {width}x{height}")
        profile = _profile(primary)
        data = primary.data
        size, mode = primary.size_mode  # exact only once decoded
        image = Image.frombytes(mode, size, data, "raw", mode, primary.stride)
    except _FAULTS as exc:
        raise source.broken(f"HEIF data cannot be decoded ({exc})") from exc
    header.width, header.height = image.size
    return render(image, target_size(image.width, image.height, short_side), profile)


def _primary(source: FileSource) -> Any:
    """The main picture's handle."""
    import _pi_heif

    one_thread, eight_bits, bgr, tight, wide, decoder, unlimited = (
        1,
        True,
        False,
        True,
        False,
        "",
        False,
    )
    images = _pi_heif.load_file(
        source.read(0, source.size), one_thread, eight_bits, bgr, tight, wide, decoder, unlimited
    )
    pictures = [image for image in images if image is not None]
    if not pictures:
        raise ValueError("no picture in it")
    return next((picture for picture in pictures if picture.primary), pictures[0])


def _profile(picture: Any) -> bytes:
    profile = picture.color_profile
    if profile and profile.get("type") in ("rICC", "prof"):
        return bytes(profile["data"])
    return b""

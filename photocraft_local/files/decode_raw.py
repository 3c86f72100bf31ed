"""RAW → RGB pixels: the embedded preview, or LibRaw's development where it is too small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PIL import Image

from photocraft_local.files.container import Header
from photocraft_local.files.raw import open_raw
from photocraft_local.files.render import render, target_size
from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ASPECT_TOLERANCE: Final = 0.02


def decode_raw(
    source: FileSource, header: Header, short_side: int | None
) -> tuple[NDArray[np.uint8], list[str]]:
    """RGB pixels as stored (``header.turned`` is still to be undone) and flags."""
    import rawpy

    size = target_size(header.width, header.height, short_side)
    opened = open_raw(source)
    try:
        preview = _preview(opened, header, size)
        if preview is not None:
            pixels, flags = render(preview, size, b"")
            return pixels, [*flags, "raw-preview"]
        developed = opened.postprocess(use_camera_wb=True, user_flip=0, output_bps=8)
        pixels, flags = render(Image.fromarray(developed), size, b"")
        return pixels, [*flags, "raw-developed"]
    except (rawpy.LibRawError, OSError, ValueError, MemoryError) as exc:
        raise source.broken(f"LibRaw cannot develop it ({exc})") from exc
    finally:
        opened.close()


def _preview(opened: Any, header: Header, size: tuple[int, int]) -> Image.Image | None:
    """The embedded picture if it is large enough and shows the same frame, not turned."""
    import rawpy
    import simplejpeg

    try:
        thumb = opened.extract_thumb()
        if thumb.format == rawpy.ThumbFormat.JPEG:
            pixels = simplejpeg.decode_jpeg(thumb.data, "RGB", strict=False)
        else:
            pixels = np.asarray(thumb.data)
    except (rawpy.LibRawError, ValueError):
        return None
    height, width = pixels.shape[:2]
    if pixels.ndim != 3 or width < size[0] or height < size[1]:
        return None
    if abs(width / height - header.width / header.height) > _ASPECT_TOLERANCE:
        return None
    return Image.fromarray(np.ascontiguousarray(pixels[..., :3]))

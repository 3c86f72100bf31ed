"""Pixels in, pixels or file bytes out: resizing, letterboxing, PNG and JPEG encoding.

Knows nothing of where the pixels come from.
"""

from __future__ import annotations

import io
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from photocraft_local.imaging.geometry import Fit

Pixels: TypeAlias = NDArray[np.uint8]  # (height, width, 3) upright sRGB

_PADDING = (128, 128, 128)  # neutral: neither a white page nor a black frame of the photo
_JPEG_QUALITY = 90


def resized(pixels: Pixels, width: int, height: int) -> Pixels:
    """Lanczos resize (antialiased when reducing)."""
    if (pixels.shape[1], pixels.shape[0]) == (width, height):
        return pixels
    image = Image.fromarray(pixels).resize(
        (width, height), Image.Resampling.LANCZOS, reducing_gap=3.0
    )
    return np.asarray(image, dtype=np.uint8)


def fitted(pixels: Pixels, fit: Fit) -> Pixels:
    """Resize and, where the fit asks for it, centre on grey padding."""
    content = resized(pixels, fit.width, fit.height)
    if not fit.padded:
        return content
    canvas = np.empty((fit.canvas_height, fit.canvas_width, 3), dtype=np.uint8)
    canvas[:] = _PADDING
    at = fit.content
    canvas[at.y : at.bottom, at.x : at.right] = content
    return canvas


def png_bytes(picture: Pixels | Image.Image) -> bytes:
    """Lossless; the same pixels give the same bytes."""
    buffer = io.BytesIO()
    _image(picture).save(buffer, "PNG", compress_level=4)
    return buffer.getvalue()


def jpeg_bytes(picture: Pixels | Image.Image) -> bytes:
    """A third of the PNG's size or less, for pictures that only a model looks at."""
    buffer = io.BytesIO()
    _image(picture).save(buffer, "JPEG", quality=_JPEG_QUALITY)
    return buffer.getvalue()


def _image(picture: Pixels | Image.Image) -> Image.Image:
    return picture if isinstance(picture, Image.Image) else Image.fromarray(picture)

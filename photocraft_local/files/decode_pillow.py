"""PNG, WebP, TIFF, GIF, BMP, AVIF, JPEG 2000, netpbm and CMYK JPEG through Pillow's plugins.

Owns how they are opened (by class, so that no global limit of Pillow matters), what is kept of
a cut-off file, and PNG's chunk filter. The size was checked before.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PIL import Image, ImageFile

from photocraft_local.files import png
from photocraft_local.files.container import Header
from photocraft_local.files.pieces import FileReader, Pieces
from photocraft_local.files.quiet import quiet_pillow
from photocraft_local.files.render import render
from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PLUGINS: Final = {
    "JPEG": ("PIL.JpegImagePlugin", "JpegImageFile"),
    "PNG": ("PIL.PngImagePlugin", "PngImageFile"),
    "WEBP": ("PIL.WebPImagePlugin", "WebPImageFile"),
    "TIFF": ("PIL.TiffImagePlugin", "TiffImageFile"),
    "GIF": ("PIL.GifImagePlugin", "GifImageFile"),
    "BMP": ("PIL.BmpImagePlugin", "BmpImageFile"),
    "AVIF": ("PIL.AvifImagePlugin", "AvifImageFile"),
    "JPEG2000": ("PIL.Jpeg2KImagePlugin", "Jpeg2KImageFile"),
    "PPM": ("PIL.PpmImagePlugin", "PpmImageFile"),
}
# What Pillow's plugins and decoders raise on broken files.
_FAULTS: Final = (
    OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError,
    MemoryError, OverflowError, AssertionError, RuntimeError, ZeroDivisionError,
    Image.DecompressionBombError,
)  # fmt: skip
_PNG_PIXELS: Final = frozenset([b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"])


def decode_pillow(
    source: FileSource, header: Header, size: tuple[int, int]
) -> tuple[NDArray[np.uint8], list[str]]:
    """RGB pixels at ``size`` (as stored, not turned) and flags; raises UnreadablePhoto."""
    with quiet_pillow():
        try:
            image = _open(source, header)
            if (image.width, image.height) != (header.width, header.height):
                raise ValueError(f"decoder says {image.width}x{image.height}")
            if header.format == "JPEG":
                image.draft(image.mode, (2 * size[0], 2 * size[1]))
            flags = _load(image)
            profile = image.info.get("icc_profile") or png.colour_profile(source, header)
            pixels, more = render(image, size, profile)
        except _FAULTS as exc:
            raise source.broken(f"{header.format} data cannot be decoded ({exc})") from exc
    return pixels, flags + more


def _open(source: FileSource, header: Header) -> ImageFile.ImageFile:
    module, name = _PLUGINS[header.format]
    plugin: Any = getattr(import_module(module), name)
    image: ImageFile.ImageFile = plugin(_file(source, header))
    if header.format == "TIFF":
        image.info.pop("exif", None)
    return image


def _file(source: FileSource, header: Header) -> io.BufferedReader:
    if header.format != "PNG":
        return io.BufferedReader(FileReader(source), 1 << 16)
    # Only the chunks that make pixels: texts may be huge or broken, profiles are read apart.
    kept = [
        (start - 8, length + 12)
        for kind, start, length in png.chunks(source)
        if kind in _PNG_PIXELS
    ]
    return io.BufferedReader(Pieces(source, [(0, len(png.SIGNATURE)), *kept]), 1 << 16)


def _load(image: ImageFile.ImageFile) -> list[str]:
    """Decode; of a cut-off file what is there is kept, the rest stays blank."""
    try:
        image.load()
    except (OSError, SyntaxError, EOFError, ValueError, IndexError):
        if image._im is None or not _has_content(image):
            raise
        image.tile = []
        return ["truncated"]
    return []


def _has_content(image: ImageFile.ImageFile) -> bool:
    box = image.im.getbbox()
    return box is not None

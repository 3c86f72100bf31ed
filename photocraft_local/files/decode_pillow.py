"""PNG, WebP, TIFF, GIF, BMP, AVIF, JPEG 2000, netpbm and CMYK JPEG through Pillow's plugins.

Owns how they are opened (by class, so that no global limit of Pillow matters), what is kept of
a cut-off file, and PNG's chunk filter. The header's size was checked before.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from PIL import Image, ImageFile

from photocraft_local.errors import PictureTooLarge
from photocraft_local.files import png
from photocraft_local.files.container import Header
from photocraft_local.files.pieces import Pieces
from photocraft_local.files.quiet import quiet_pillow
from photocraft_local.files.render import render, target_size
from photocraft_local.files.source import FileSource
from photocraft_local.records import path_text

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
# Pillow's plugins are not strict about what they raise on broken files.
_FAULTS: Final = (
    OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError,
    MemoryError, OverflowError, AssertionError, RuntimeError, ZeroDivisionError,
)  # fmt: skip
_PNG_PIXELS: Final = frozenset([b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"])
_BUFFER: Final = 1 << 16


def decode_pillow(
    source: FileSource, header: Header, short_side: int | None
) -> tuple[NDArray[np.uint8], list[str]]:
    """RGB pixels (as stored, not turned) and flags; raises UnreadablePhoto, PictureTooLarge."""
    with quiet_pillow():
        image, flags = _loaded(source, header, short_side)
        profile = image.info.get("icc_profile") or png.colour_profile(source, header)
        size = target_size(header.width, header.height, short_side)
        try:
            pixels, more = render(image, size, profile)
        except (MemoryError, OSError, ValueError) as exc:
            raise source.broken(f"{image.mode} pixels cannot be converted ({exc})") from exc
    return pixels, flags + more


def _loaded(
    source: FileSource, header: Header, short_side: int | None
) -> tuple[Image.Image, list[str]]:
    """The decoded image in the file's own mode; ``header`` takes the decoder's size."""
    try:
        image = _opened(source, header)
        if image.width * image.height > 2 * header.width * header.height:
            raise ValueError(f"its header and its decoder differ: {image.width}x{image.height}")
        header.width, header.height = image.size
        if header.format == "JPEG":
            wanted = target_size(header.width, header.height, short_side)
            image.draft(image.mode, (2 * wanted[0], 2 * wanted[1]))
        return image, _load(image)
    except Image.DecompressionBombError as exc:
        raise PictureTooLarge(
            f"{path_text(source.path)} is too large for Pillow's {header.format} decoder: {exc}",
            hint="store the picture as JPEG or PNG",
        ) from exc
    except _FAULTS as exc:
        raise source.broken(f"{header.format} data cannot be decoded ({exc})") from exc


def _opened(source: FileSource, header: Header) -> ImageFile.ImageFile:
    module, name = _PLUGINS[header.format]
    plugin: Any = getattr(import_module(module), name)
    image: Any = plugin(_file(source, header))
    if header.format == "TIFF":
        # Pillow would turn TIFFs itself, by a wider reading of the tags than ours.
        image.getexif = Image.Exif
        image._size = image._tile_size
        if image.width * image.height <= 2 * header.width * header.height:
            image.im = cast(Any, Image).core.new(image.mode, image.size)
    return cast(ImageFile.ImageFile, image)


def _file(source: FileSource, header: Header) -> io.BufferedReader:
    pieces = [(0, source.size)]
    if header.format == "PNG":
        # Only the chunks that make pixels: texts may be huge or broken, profiles are read apart.
        kept = [
            (start - 8, length + 12)
            for kind, start, length in png.chunks(source)
            if kind in _PNG_PIXELS
        ]
        pieces = [(0, len(png.SIGNATURE)), *kept]
    return io.BufferedReader(Pieces(source, pieces), _BUFFER)


def _load(image: ImageFile.ImageFile) -> list[str]:
    """Decode; of a cut-off file what is there is kept, the rest stays blank."""
    try:
        image.load()
    except (OSError, SyntaxError, EOFError, ValueError, IndexError):
        if image._im is None or image.im.getbbox() is None:
            raise  # nothing was decoded
        image.tile = []
        return ["truncated"]
    return []

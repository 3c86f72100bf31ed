"""Pictures with their labels drawn on: one picture with a caption, or a sheet of many.

Deterministic: the same pixels and labels give the same bytes. A picture that cannot be read
becomes a labelled placeholder that says why. Knows nothing of the library.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw

from photocraft_local.errors import PhotoError, UsageError
from photocraft_local.files.decode import decode_upright
from photocraft_local.imaging.captions import draw_lines, line_height, wrap
from photocraft_local.imaging.geometry import fit_inside
from photocraft_local.imaging.pictures import Pixels, png_bytes, resized

Picture: TypeAlias = Pixels | bytes | None  # pixels, a file's path, or missing
Item: TypeAlias = tuple[Picture, str]

MAX_SHEET_SIDE = 8192  # px
MAX_SHEET_PIXELS = 24_000_000
MIN_TILE = 48  # px; smaller tiles show nothing

_PAPER = (255, 255, 255)
_INK = (20, 20, 20)
_FRAME = (236, 236, 236)  # what a letterboxed picture stands on
_FAINT = (110, 110, 110)
_GAP = 8  # px around tiles
_CAPTION_LINES = 3


@dataclass(frozen=True, slots=True)
class _Layout:
    columns: int
    rows: int
    tile: int
    text: int  # caption size in px
    title_height: int

    @property
    def cell_height(self) -> int:
        return self.tile + _CAPTION_LINES * line_height(self.text) + _GAP

    @property
    def size(self) -> tuple[int, int]:
        width = self.columns * (self.tile + _GAP) + _GAP
        return width, self.title_height + self.rows * self.cell_height + _GAP

    def fits(self) -> bool:
        width, height = self.size
        return max(width, height) <= MAX_SHEET_SIDE and width * height <= MAX_SHEET_PIXELS


def contact_sheet(
    items: Sequence[Item], *, columns: int | None = None, tile: int = 256, title: str = ""
) -> bytes:
    """A PNG with one captioned square tile an item, in reading order under a title line.

    ``tile`` is the side in px that is aimed at; many items get smaller ones so that the sheet
    stays within 8192 px a side and 24 megapixels. Captions are wrapped to three lines, ``\\n``
    breaks a line. UsageError for no items, or for more than the sheet can hold.
    """
    layout = _layout(len(items), columns, tile, title)
    sheet = Image.new("RGB", layout.size, _PAPER)
    if title:
        lines = wrap(title, layout.text + 2, layout.size[0] - 2 * _GAP, max_lines=2)
        draw_lines(sheet, lines, _GAP, _GAP, size=layout.text + 2, colour=_INK)
    for (picture, label), (x, y) in zip(items, _places(layout), strict=False):
        _draw_tile(sheet, picture, x, y, layout)
        lines = wrap(label, layout.text, layout.tile, max_lines=_CAPTION_LINES)
        draw_lines(sheet, lines, x, y + layout.tile + 2, size=layout.text, colour=_INK)
    return png_bytes(sheet)


def sheet_size(
    count: int, *, columns: int | None = None, tile: int = 256, title: str = ""
) -> tuple[int, int]:
    """(width, height) in px of the sheet that ``contact_sheet`` draws for ``count`` items."""
    return _layout(count, columns, tile, title).size


def labelled(pixels: Pixels, label: str) -> Image.Image:
    """The picture, unscaled, with its label on a white strip below.

    The picture keeps the upper left corner, so that coordinates read off it stay true.
    """
    height, width = pixels.shape[:2]
    text = max(11, min(22, width // 30))
    lines = wrap(label, text, max(width, 120) - 8, max_lines=_CAPTION_LINES)
    strip = len(lines) * line_height(text) + 6
    image = Image.new("RGB", (max(width, 120), height + strip), _PAPER)
    image.paste(Image.fromarray(pixels), (0, 0))
    draw_lines(image, lines, 4, height + 3, size=text, colour=_INK)
    return image


def _layout(count: int, columns: int | None, tile: int, title: str) -> _Layout:
    if count < 1:
        raise UsageError("a contact sheet needs at least one picture")
    if (columns is not None and columns < 1) or tile < MIN_TILE:
        raise UsageError(
            f"a contact sheet cannot have columns={columns} and tile={tile}",
            hint=f"columns must be at least 1, tile at least {MIN_TILE}",
        )
    wanted = columns or min(10, math.ceil(math.sqrt(count * 1.3)))
    wanted = min(wanted, count)
    while True:
        text = max(9, min(15, tile // 16))
        title_height = 2 * line_height(text + 2) + _GAP if title else 0
        layout = _Layout(wanted, math.ceil(count / wanted), tile, text, title_height)
        if layout.fits():
            return layout
        if tile == MIN_TILE:
            raise UsageError(
                f"{count} pictures in {wanted} columns do not fit on one contact sheet",
                hint="put fewer pictures on a sheet",
            )
        tile = max(MIN_TILE, tile * 9 // 10)


def _places(layout: _Layout) -> Iterator[tuple[int, int]]:
    """Upper left corners of the tiles in reading order."""
    for row in range(layout.rows):
        for column in range(layout.columns):
            x = _GAP + column * (layout.tile + _GAP)
            yield x, layout.title_height + _GAP + row * layout.cell_height


def _draw_tile(sheet: Image.Image, picture: Picture, x: int, y: int, layout: _Layout) -> None:
    side = layout.tile
    ImageDraw.Draw(sheet).rectangle((x, y, x + side - 1, y + side - 1), fill=_FRAME)
    try:
        pixels = _pixels(picture, side)
    except PhotoError as exc:
        _draw_placeholder(sheet, str(exc), x, y, layout)
        return
    width, height = fit_inside(pixels.shape[1], pixels.shape[0], side)
    small = Image.fromarray(resized(pixels, width, height))
    sheet.paste(small, (x + (side - width) // 2, y + (side - height) // 2))


def _pixels(picture: Picture, side: int) -> Pixels:
    if picture is None:
        raise PhotoError("not available")
    if isinstance(picture, bytes):
        return decode_upright(picture, short_side=side).pixels
    return np.ascontiguousarray(picture)


def _draw_placeholder(sheet: Image.Image, reason: str, x: int, y: int, layout: _Layout) -> None:
    side, text = layout.tile, layout.text
    pen = ImageDraw.Draw(sheet)
    pen.rectangle((x, y, x + side - 1, y + side - 1), outline=_FAINT)
    pen.line((x, y, x + side - 1, y + side - 1), fill=(214, 214, 214))
    pen.line((x, y + side - 1, x + side - 1, y), fill=(214, 214, 214))
    most = max(1, (side - 8) // line_height(text))
    lines = wrap(f"no picture: {reason}", text, side - 8, max_lines=min(5, most))
    draw_lines(sheet, lines, x + 4, y + 4, size=text, colour=_FAINT)

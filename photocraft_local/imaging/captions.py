"""Text on pictures with Pillow's built-in font: any string is drawn, never an exception.

The font knows little more than ASCII. A letter with an accent is drawn without it, other
characters that it lacks as its empty box, one box each. Drawing is left to right and does not
depend on the machine's fonts.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TypeAlias

from PIL import Image, ImageDraw, ImageFont

Font: TypeAlias = ImageFont.FreeTypeFont
Colour: TypeAlias = tuple[int, int, int]

_MISSING = "\ufffd"  # not in the font either: drawn as its empty box
_ELLIPSIS = "..."


@lru_cache(maxsize=16)
def font(size: int) -> Font:
    """The built-in font at ``size`` px, without any shaping engine of the machine."""
    loaded = ImageFont.load_default(size)
    if not isinstance(loaded, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType; its captions cannot be scaled")
    return loaded


def line_height(size: int) -> int:
    ascent, descent = font(size).getmetrics()
    return ascent + descent


def drawable(text: str) -> str:
    """``text`` with every character replaced that the font cannot draw; line breaks stay."""
    return "".join(char if char == "\n" else _drawable(char) for char in text)


@lru_cache(maxsize=4096)
def _drawable(char: str) -> str:
    if char == " " or unicodedata.category(char) == "Zs":
        return " "
    if _has_glyph(char):
        return char
    base = "".join(
        part for part in unicodedata.normalize("NFKD", char) if not unicodedata.combining(part)
    )
    if base and all(_has_glyph(part) for part in base):
        return base
    return "" if unicodedata.combining(char) else _MISSING


@lru_cache(maxsize=4096)
def _has_glyph(char: str) -> bool:
    if char.isspace() or not char.isprintable():
        return False
    drawn, missing = font(16).getmask(char), font(16).getmask(_MISSING)
    return (drawn.size, bytes(drawn)) != (missing.size, bytes(missing))


def wrap(text: str, size: int, width: int, *, max_lines: int) -> list[str]:
    """``text`` in at most ``max_lines`` lines no wider than ``width`` px; a cut ends in dots."""
    lines: list[str] = []
    for paragraph in drawable(text).split("\n"):
        lines += _wrapped(paragraph, size, width, max_lines + 1 - len(lines))
        if len(lines) > max_lines:
            break
    if len(lines) <= max_lines:
        return lines
    last = lines[max_lines - 1]
    while last and _width(last + _ELLIPSIS, size) > width:
        last = last[:-1]
    return [*lines[: max_lines - 1], last + _ELLIPSIS]


def _wrapped(paragraph: str, size: int, width: int, most: int) -> list[str]:
    """Break at spaces, inside a word only where it alone is too wide; at most ``most`` lines."""
    lines: list[str] = []
    rest = " ".join(paragraph.split())
    while rest and len(lines) < most:
        count = _fitting(rest, size, width)
        if count < len(rest):
            space = rest.rfind(" ", 0, count + 1)
            count = space if space > 0 else count
        lines.append(rest[:count].rstrip())
        rest = rest[count:].lstrip()
    return lines


def _fitting(text: str, size: int, width: int) -> int:
    """How many leading characters fit, at least one."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if _width(text[:middle], size) <= width:
            low = middle
        else:
            high = middle - 1
    return low


def _width(text: str, size: int) -> float:
    return float(font(size).getlength(text))


def draw_lines(
    image: Image.Image, lines: list[str], x: int, y: int, *, size: int, colour: Colour
) -> None:
    """Draw wrapped lines downwards from (x, y), the upper left corner of the first."""
    pen = ImageDraw.Draw(image)
    for index, line in enumerate(lines):
        pen.text((x, y + index * line_height(size)), line, font=font(size), fill=colour)

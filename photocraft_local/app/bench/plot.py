"""The figures as a bar chart in PNG: how much of what the machine allows was reached."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from photocraft_local.app.bench.figures import Figure

if TYPE_CHECKING:
    from PIL import ImageDraw

_WIDTH, _LEFT, _RIGHT, _LINE, _TOP = 1100, 470, 190, 26, 64  # px
_LETTERS = 64  # of a name
_FULL = _WIDTH - _LEFT - _RIGHT
_COLOURS = {
    "decode": "#2a78b5",
    "crops": "#3a9a5b",
    "embed": "#c9822b",
    "search": "#8a55b0",
    "agent": "#b8434e",
}


def plot(figures: Sequence[Figure], title: str) -> bytes:
    """PNG of every figure with a ceiling as a bar, those without as a number; what was not
    measured is told as such."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (_WIDTH, _TOP + _LINE * max(1, len(figures)) + 44), "white")
    draw = ImageDraw.Draw(image)
    draw.font = ImageFont.load_default(13)
    draw.text((12, 10), _plain(title), "black")
    legend = "bar: share of the ceiling that was measured in the same run; line: the ceiling"
    draw.text((12, 32), legend, "#666666")
    for number, figure in enumerate(figures):
        _bar(draw, figure, _TOP + number * _LINE)
    bottom = _TOP + _LINE * len(figures)
    draw.line((_LEFT + _FULL, _TOP - 6, _LEFT + _FULL, bottom), "#444444")
    for percent in (0, 50, 100):
        at = _LEFT + _FULL * percent // 100
        draw.text((at - 10, bottom + 8), f"{percent} %", "#666666")
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _bar(draw: ImageDraw.ImageDraw, figure: Figure, top: int) -> None:
    draw.text((12, top), _plain(_short(f"{figure.stage}: {figure.name}")), "black")
    if figure.value is None:
        draw.text((_LEFT, top), "not measured", "#999999")
        return
    if figure.share is not None:
        wide = max(1, round(_FULL * min(1.0, figure.share)))
        colour = _COLOURS.get(figure.stage, "#777777")
        draw.rectangle((_LEFT, top + 2, _LEFT + wide, top + _LINE - 8), colour)
    number = f"{amount(figure.value)} {figure.unit}"
    if figure.share and figure.share > 1.0:  # something else bounds; the bar ends at the line
        number += f" ({figure.share:.0%})"
    draw.text((_LEFT + _FULL + 8, top), _plain(number), "black")


def _short(name: str) -> str:
    """Of a long one both ends: a model's name stands in front, what was measured behind."""
    return name if len(name) <= _LETTERS else f"{name[:28]} .. {name[-(_LETTERS - 32) :]}"


def amount(value: float) -> str:
    """Three digits or more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _plain(text: str) -> str:
    """Letters that every font has."""
    return text.replace("×", "x").encode("latin-1", "replace").decode("latin-1")

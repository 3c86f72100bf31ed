"""Small plots as inline SVG: bars with whiskers, lines over turns, a histogram.

Drawn here, since three shapes need no plotting library in every installation. Each has a title
and a text for who does not see it. Knows numbers and labels only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from photocraft_local.evaluation.reports.markup import Markup, tag

WIDTH = 720
_LABEL, _RIGHT, _ROW = 190, 120, 26
_PLOT = WIDTH - _LABEL - _RIGHT
_HEIGHT, _FOOT, _TOP = 260, 40, 14
COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1")
_LONGEST = 26


@dataclass(frozen=True, slots=True)
class Bar:
    """``value``, ``low``, ``high`` in 0…1; without whiskers where low is None. ``note`` stands at
    its end."""

    label: str
    value: float
    note: str
    low: float | None = None
    high: float | None = None
    colour: str = COLOURS[0]


def bars(title: str, rows: Sequence[Bar]) -> Markup:
    """Horizontal bars, one a row."""
    height = _TOP + _ROW * len(rows) + 8
    drawn = [part for at, row in enumerate(rows) for part in _bar(row, _TOP + _ROW * at)]
    said = "; ".join(f"{row.label}: {row.note}" for row in rows)
    return _figure(title, said, height, drawn)


def _bar(row: Bar, top: int) -> list[Markup]:
    middle = top + _ROW / 2
    width = _PLOT * _inside(row.value)
    parts = [
        _text(_LABEL - 8, middle + 4, _short(row.label), anchor="end"),
        tag("rect", x=_LABEL, y=top + 4, width=_n(width), height=_ROW - 8, fill=row.colour),
        _text(WIDTH - _RIGHT + 8, middle + 4, row.note),
    ]
    if row.low is not None and row.high is not None:
        left, right = (_LABEL + _PLOT * _inside(end) for end in (row.low, row.high))
        parts.append(_line(left, middle, right, middle))
        parts += [_line(x, middle - 4, x, middle + 4) for x in (left, right)]
    return parts


def lines(
    title: str, x_name: str, xs: Sequence[float], series: Mapping[str, Sequence[float | None]]
) -> Markup:
    """Shares (0…1) over ``xs``; a None leaves a gap."""
    last = max(max(xs, default=1), 1)
    plot = WIDTH - 60 - 20

    def at(x: float, share: float) -> tuple[float, float]:
        return 60 + plot * x / last, _HEIGHT - _FOOT - (_HEIGHT - _FOOT - _TOP) * share

    drawn = [part for share in (0, 0.25, 0.5, 0.75, 1) for part in _grid(*at(0, share), share)]
    for mark in _marks(last):
        drawn.append(_text(at(mark, 0)[0], _HEIGHT - _FOOT + 16, f"{mark:g}", anchor="middle"))
    for number, (name, shares) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = [at(x, y) for x, y in zip(xs, shares, strict=True) if y is not None]
        joined = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        drawn.append(tag("polyline", points=joined, fill="none", stroke=colour, stroke_width=2))
        x = 60 + 220 * number
        drawn.append(tag("rect", x=x, y=_HEIGHT - 15, width=10, height=10, fill=colour))
        drawn.append(_text(x + 15, _HEIGHT - 6, name))
    said = "; ".join(
        f"{name}: {_last(values)} at {x_name} {xs[-1]:g}" for name, values in series.items() if xs
    )
    return _figure(title, said, _HEIGHT, drawn)


def histogram(title: str, unit: str, values: Sequence[float], *, most: int = 24) -> Markup:
    """How many questions took how much."""
    top = max(values, default=0) or 1
    num = min(most, max(4, math.isqrt(len(values)) * 2))
    counts = [0] * num
    for value in values:
        counts[min(num - 1, int(num * value / top))] += 1
    width = (WIDTH - 80) / num
    room = _HEIGHT - _FOOT - _TOP
    drawn = []
    for at, count in enumerate(counts):
        height = room * count / max(counts, default=1) if count else 0
        x, y = 60 + width * at, _HEIGHT - _FOOT - height
        box = {"width": _n(width - 2), "height": _n(height), "fill": COLOURS[0]}
        drawn.append(tag("rect", x=_n(x), y=_n(y), **box))
        if count:
            drawn.append(_text(x + width / 2 - 1, y - 2, str(count), anchor="middle"))
    for share, anchor in ((0, "start"), (0.5, "middle"), (1, "end")):
        x = 60 + (WIDTH - 80) * share
        drawn.append(_text(x, _HEIGHT - 20, f"{_size(top * share)} {unit}", anchor=anchor))
    lowest = _size(min(values, default=0))
    said = f"{len(values)} questions, from {lowest} to {_size(top)} {unit}"
    return _figure(title, said, _HEIGHT, drawn)


def _grid(x: float, y: float, share: float) -> list[Markup]:
    rule = tag("line", x1=_n(x), y1=_n(y), x2=WIDTH - 20, y2=_n(y), stroke="#ddd")
    return [rule, _text(x - 6, y + 4, f"{100 * share:.0f} %", anchor="end")]


def _marks(last: float) -> list[float]:
    step = max(1, math.ceil(last / 10))
    return [float(mark) for mark in range(0, int(last) + 1, step)]


def _figure(title: str, said: str, height: int, drawn: Sequence[Markup]) -> Markup:
    svg = tag(
        "svg",
        tag("title", title),
        tag("desc", said or "no values"),
        *drawn,
        role="img",
        aria_label=f"{title}: {said or 'no values'}",
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
    )
    return tag("figure", tag("figcaption", title), svg)


def _text(x: float, y: float, text: str, anchor: str = "start") -> Markup:
    return tag("text", text, x=_n(x), y=_n(y), text_anchor=anchor, font_size=13)


def _line(x1: float, y1: float, x2: float, y2: float) -> Markup:
    return tag("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), stroke="#222", stroke_width=1.5)


def _last(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{100 * known[-1]:.1f} %" if known else "-"


def _inside(share: float) -> float:
    return 0.0 if math.isnan(share) else min(1.0, max(0.0, share))


def _short(label: str) -> str:
    """The end stays: it says which figure of a part it is."""
    if _width(label) <= _LONGEST:
        return label
    kept = label[: min(_LONGEST, len(label) - 3)]
    while _width(kept) > _LONGEST - 4:
        kept = kept[:-1]
    return f"{kept}…{label[-3:]}"


def _width(text: str) -> int:
    """In letters of Latin; one of Chinese is as wide as two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _size(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")

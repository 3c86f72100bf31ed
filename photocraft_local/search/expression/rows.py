"""Typed tree → rows of time-sorted columns.

A conjunction first narrows the span of rows by time with two binary searches, then looks at the
other conditions inside the span only. Every node gives the rows where it is *true*; what is not
known about a photo is neither true nor false (see nodes.py on negation).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.places.areas import Area
from photocraft_local.places.distance import Box, box_around, haversine_km
from photocraft_local.places.keys import fold
from photocraft_local.places.sectors import Toward
from photocraft_local.search.expression.holidays import holiday_edges
from photocraft_local.search.expression.intervals import Intervals
from photocraft_local.search.expression.nodes import (
    Between,
    Beyond,
    Flagged,
    Has,
    InArea,
    InBox,
    Near,
    OnHoliday,
    Within,
    Words,
)
from photocraft_local.search.expression.tree import And, Node, Or
from photocraft_local.search.sorted_columns import Mask, SortedColumns, WordColumn

# Rows ``start:stop`` where the mask holds (all of them if it is None); no row outside.
Span = tuple[int, int, "Mask | None"]


def rows_where(node: Node, columns: SortedColumns) -> NDArray[np.intp]:
    """The rows that fit, ascending."""
    start, stop, mask = _span(node, columns, 0, len(columns))
    if mask is None:
        return np.arange(start, stop)
    rows = mask.nonzero()[0]
    rows += start
    return rows


def _span(node: Node, columns: SortedColumns, start: int, stop: int) -> Span:
    """The rows of ``start:stop`` where the node is true."""
    if isinstance(node, And):
        return _all_of(node, columns, start, stop)
    if isinstance(node, Or):
        return _any_of(node, columns, start, stop)
    if isinstance(node, Within) and node.field == "time":
        return _between_times(node.intervals, columns, start, stop)
    return start, stop, _MASKS[type(node)](node, columns, slice(start, stop))


def _all_of(node: And, columns: SortedColumns, start: int, stop: int) -> Span:
    mask: Mask | None = None
    for part in node.parts:
        first, last, more = _span(part, columns, start, stop)
        if mask is None:
            mask = more
        else:
            mask = mask[first - start : last - start]
            if more is not None:
                mask = mask & more
        start, stop = first, last
        if start >= stop:
            break
    return start, stop, mask


def _any_of(node: Or, columns: SortedColumns, start: int, stop: int) -> Span:
    mask = np.zeros(stop - start, np.bool_)
    for part in node.parts:
        first, last, more = _span(part, columns, start, stop)
        if more is None:
            mask[first - start : last - start] = True
        else:
            mask[first - start : last - start] |= more
    return start, stop, mask


def _between_times(intervals: Intervals, columns: SortedColumns, start: int, stop: int) -> Span:
    if len(intervals) != 1:
        mask = np.zeros(stop - start, np.bool_)
        for one in intervals:
            first, last, _ = _between_times((one,), columns, start, stop)
            mask[first - start : last - start] = True
        return start, stop, mask
    first, last = columns.times.searchsorted(intervals[0]).tolist()
    start = max(start, first)
    return start, max(start, min(stop, last, columns.num_dated)), None


def _within(node: Within, columns: SortedColumns, rows: slice) -> Mask:
    values = columns.numbers(node.field)[rows]
    mask = np.zeros(len(values), np.bool_)
    for low, high in node.intervals:
        mask |= (values >= max(low, 0)) & (values < high)
    return mask


def _in_box(node: InBox, columns: SortedColumns, rows: slice) -> Mask:
    latitude, longitude = columns.latitude[rows], columns.longitude[rows]
    mask = latitude >= node.south
    mask &= latitude <= node.north
    if node.west <= node.east:
        mask &= longitude >= node.west
        mask &= longitude <= node.east
    else:
        mask &= (longitude >= node.west) | (longitude <= node.east)
    return _other(mask, columns.located[rows]) if node.negative else mask


def _near(node: Near, columns: SortedColumns, rows: slice) -> Mask:
    mask = _within_km(node.latitude, node.longitude, node.km, columns, rows)
    return _other(mask, columns.located[rows]) if node.negative else mask


def _within_km(
    latitude: float, longitude: float, km: float, columns: SortedColumns, rows: slice
) -> Mask:
    # Edges a hair wider, so that rounding in the box never drops a point of the circle.
    box = box_around(latitude, longitude, km * (1 + 1e-9) + 1e-6)
    mask = _box_mask(box, columns, rows)
    inside = np.flatnonzero(mask)
    away = haversine_km(
        latitude, longitude, columns.latitude[rows][inside], columns.longitude[rows][inside]
    )
    mask[inside] = away <= km
    return mask


def _box_mask(box: Box, columns: SortedColumns, rows: slice) -> Mask:
    return _in_box(InBox(*box), columns, rows)


def _in_area(node: InArea, columns: SortedColumns, rows: slice) -> Mask:
    mask = _area_mask(node.area, columns, rows)
    return _other(mask, _placed(node.area, columns, rows)) if node.negative else mask


def _area_mask(area: Area, columns: SortedColumns, rows: slice) -> Mask:
    if area.is_round:
        return _within_km(area.latitude, area.longitude, area.radius_km, columns, rows)
    if area.kind == "continent":
        return _named(columns, "country", area.members, rows)
    mask = _named(columns, "country_code", {fold(area.country_code)}, rows)
    if area.kind in ("region", "county"):
        mask &= _named(columns, "region", {fold(area.region or area.name)}, rows)
    if area.kind == "county":
        mask &= _named(columns, "city", area.members, rows)
    return mask


def _placed(area: Area, columns: SortedColumns, rows: slice) -> Mask:
    """Where it is known whether a photo lies in the area."""
    known: Mask = (
        columns.located[rows] if area.is_round else columns.words("country").codes[rows] > 0
    )
    return known


def _named(columns: SortedColumns, field: str, wanted: AbstractSet[str], rows: slice) -> Mask:
    column = columns.words(field)
    return _has_code(column, column.codes_where(wanted.__contains__), rows)


def _beyond(node: Beyond, columns: SortedColumns, rows: slice) -> Mask:
    latitude, longitude = columns.latitude[rows], columns.longitude[rows]
    mask = Toward(node.area, node.side).contains(latitude, longitude)
    known = columns.located[rows]
    if not node.area.is_round:
        mask &= ~_area_mask(node.area, columns, rows)
        known = known & _placed(node.area, columns, rows)
    return _other(mask, known) if node.negative else mask & known


def _between(node: Between, columns: SortedColumns, rows: slice) -> Mask:
    mask = node.way.contains(columns.latitude[rows], columns.longitude[rows])
    return _other(mask, columns.located[rows]) if node.negative else mask


def _words(node: Words, columns: SortedColumns, rows: slice) -> Mask:
    column = columns.words(node.field)
    mask = _has_code(column, word_codes(node, column), rows)
    return _other(mask, column.codes[rows] > 0) if node.negative else mask


def word_codes(node: Words, column: WordColumn) -> list[int]:
    """Codes of the words of the column that the condition, taken positively, fits."""
    if not node.contains:
        wanted = {fold(value) for value in (*node.values, *node.meant)}
        return column.codes_where(wanted.__contains__)
    # Each part between commas must stand in the text as a run of whole words.
    texts = [[f" {fold(part)} " for part in value.split(",")] for value in node.values]
    if node.field == "camera":  # "nikon" fits "NIKON D750", and "d75" too
        texts = [[part.strip() for part in parts] for parts in texts]
    return column.codes_where(
        lambda word: any(all(part in f" {word} " for part in parts) for parts in texts)
    )


def _has_code(column: WordColumn, codes: list[int], rows: slice) -> Mask:
    values = column.codes[rows]
    if len(codes) == 1:
        mask: Mask = values == codes[0]
        return mask
    table = np.zeros(len(column.words), np.bool_)
    table[codes] = True
    return table[values]


def _flagged(node: Flagged, columns: SortedColumns, rows: slice) -> Mask:
    names = columns.flag_names
    if node.name not in names:
        return np.full(rows.stop - rows.start, node.negative)
    mask: Mask = columns.flags[rows] & (1 << names.index(node.name)) != 0
    return ~mask if node.negative else mask


def _on_holiday(node: OnHoliday, columns: SortedColumns, rows: slice) -> Mask:
    """Rows whose time has an odd number of edges up to it: it lies between two."""
    edges = holiday_edges(node.name)
    mask: Mask = edges.searchsorted(columns.times[rows], side="right") % 2 == 1
    dated = np.arange(rows.start, rows.stop) < columns.num_dated
    return _other(mask, dated) if node.negative else mask


def _has(node: Has, columns: SortedColumns, rows: slice) -> Mask:
    if node.fact == "time":
        mask = np.arange(rows.start, rows.stop) < columns.num_dated
    elif node.fact == "gps":
        mask = columns.located[rows].copy()
    else:
        name = "country" if node.fact == "place" else node.fact
        mask = columns.words(name).codes[rows] > 0
    return ~mask if node.negative else mask


Evaluate = Callable[[Any, SortedColumns, slice], Mask]


def _other(mask: Mask, known: Mask) -> Mask:
    """NOT: false where the condition holds, and where nothing is known."""
    return ~mask & known


_MASKS: dict[type, Evaluate] = {
    Within: _within,
    InBox: _in_box,
    Near: _near,
    InArea: _in_area,
    Beyond: _beyond,
    Between: _between,
    Words: _words,
    Flagged: _flagged,
    Has: _has,
    OnHoliday: _on_holiday,
}

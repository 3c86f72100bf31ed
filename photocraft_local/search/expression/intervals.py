"""Sets of integers as sorted, disjoint, half-open intervals. Knows no fields."""

from __future__ import annotations

Intervals = tuple[tuple[int, int], ...]

LOWEST = -(2**62)
HIGHEST = 2**62


def interval(low: int, high: int) -> Intervals:
    """``low <= x < high``; empty if low >= high."""
    return ((low, high),) if low < high else ()


def complement(intervals: Intervals) -> Intervals:
    gaps = []
    start = LOWEST
    for low, high in intervals:
        if start < low:
            gaps.append((start, low))
        start = high
    if start < HIGHEST:
        gaps.append((start, HIGHEST))
    return tuple(gaps)


def intersection(one: Intervals, other: Intervals) -> Intervals:
    if len(one) == 1 and len(other) == 1:  # nearly always
        (low, high), (low2, high2) = one[0], other[0]
        return interval(low if low > low2 else low2, high if high < high2 else high2)
    return complement(union(complement(one) + complement(other)))


def union(intervals: Intervals) -> Intervals:
    """The same set, whatever order and overlap the intervals come in."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)

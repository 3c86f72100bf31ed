"""How sure a mean is: bootstrap intervals and the test of a paired difference.

``clusters`` are drawn whole where values hang together, e.g. the questions of one user, and the
test flips the sign of whole clusters. The ends are quantiles of the resampled means, further out
the fewer are drawn (Hesterberg 2015, "expanded percentile": plain ones of 10 clusters hold the mean
in 89 % of cases). Of too few they are those of Student's t of the clusters' sums (Liang & Zeger's
robust variance). Seeded, so that a report is the same each time. Knows numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000  # of means, so that ten or more lie beyond either end, and of signs
_AT_ONCE = 1_000_000  # clusters drawn, in memory
_SEED = 20260210
_LEAST_DRAWN = 8  # values or clusters; of 6 the quantiles hold the mean in 92 % of cases, t in 95
_MOST_EXACT = 11  # clusters whose 2**n flips are all looked at
_NORMAL_FROM = 2000  # degrees of freedom
_FLOATS = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """``mean`` of ``num`` values and where it lies with probability ``level``; of no value all are
    NaN, of one cluster the ends are: nothing is known of how clusters differ."""

    mean: float
    low: float
    high: float
    num: int
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class Difference:
    """``interval`` of the mean of ``after - before``; ``p_value`` of a two-sided sign-flip test:
    how often chance alone gives a difference at least as large."""

    interval: Interval
    p_value: float


def interval(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    shares: bool = False,
) -> Interval:
    """``clusters``: of each value; by default each value stands alone. ``shares``: values lie in
    0…1, and so do the ends; where all are 0 or all are 1, the far end is that of the exact binomial
    interval of as many clusters, since no variance is seen then."""
    if not values:
        return Interval(np.nan, np.nan, np.nan, 0, level)
    numbers = np.asarray(values, dtype=np.float64)
    mean, count = float(numbers.mean()), len(numbers)
    sums, sizes = _by_cluster(numbers, clusters)
    num = len(sums)
    if num < 2:
        return Interval(mean, np.nan, np.nan, count, level)
    if shares and mean in (0.0, 1.0):
        far = ((1 - level) / 2) ** (1 / num)
        low, high = (far, 1.0) if mean else (0.0, 1 - far)
    elif num < _LEAST_DRAWN:
        low, high = _by_t(sums, sizes, mean, level)
    else:
        low, high = _resampled(sums, sizes, level)
    if shares:
        low, high = max(0.0, low), min(1.0, high)
    return Interval(mean, low, high, count, level)


def paired(
    before: Sequence[float],
    after: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = _SEED,
) -> Difference:
    """Of the same questions in the same order. Raises ValueError if the lengths differ."""
    steps = [late - early for early, late in zip(before, after, strict=True)]
    around = interval(steps, clusters=clusters, level=level)
    if not steps:
        return Difference(around, np.nan)
    sums, _ = _by_cluster(np.asarray(steps, dtype=np.float64), clusters)
    num = len(sums)
    if num <= _MOST_EXACT:
        bits = np.arange(2**num)[:, None] >> np.arange(num) & 1
        as_large = _as_large(bits, sums)
        return Difference(around, as_large / 2**num)
    rng = np.random.default_rng(seed)
    flips = rng.integers(0, 2, (resamples, num), dtype=np.int8)
    as_large = _as_large(flips, sums)
    return Difference(around, (as_large + 1) / (resamples + 1))


@cache
def t_quantile(share: float, degrees: int) -> float:
    """Where Student's t with whole ``degrees`` of freedom has ``share`` (above a half) below it, by
    bisection of the closed form of its distribution (Abramowitz & Stegun 26.7.3 and 26.7.4)."""
    low, high = 0.0, 1e4
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_below(middle, degrees) < share else (low, middle)
    return (low + high) / 2


def _t_below(value: float, degrees: int) -> float:
    if degrees >= _NORMAL_FROM:
        return _normal_below(value)
    angle = math.atan(value / math.sqrt(degrees))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    is_odd = degrees % 2
    term = math.cos(angle) if is_odd else 1.0
    total = 0.0
    for at in range((degrees - is_odd) // 2):
        total += term
        upper = 2 * at + (2 if is_odd else 1)
        term *= square * upper / (upper + 1)
    inside = 2 / math.pi * (angle + sine * total) if is_odd else sine * total
    return 0.5 + inside / 2


def _normal_below(value: float) -> float:
    return 0.5 + math.erf(value / math.sqrt(2)) / 2


def _resampled(sums: _FLOATS, sizes: _FLOATS, level: float) -> tuple[float, float]:
    num = len(sums)
    reach = math.sqrt(num / (num - 1)) * t_quantile((1 + level) / 2, num - 1)
    beyond = 1 - _normal_below(reach)
    rng, rows = np.random.default_rng(_SEED), max(1, _AT_ONCE // num)
    means = []
    for begin in range(0, RESAMPLES, rows):
        drawn = rng.integers(0, num, (min(rows, RESAMPLES - begin), num))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), (beyond, 1 - beyond))
    return float(low), float(high)


def _by_t(sums: _FLOATS, sizes: _FLOATS, mean: float, level: float) -> tuple[float, float]:
    num, apart = len(sums), sums - mean * sizes
    error = math.sqrt(num / (num - 1) * float((apart**2).sum())) / float(sizes.sum())
    reach = t_quantile((1 + level) / 2, num - 1) * error
    return mean - reach, mean + reach


def _as_large(flips: NDArray[np.integer[Any]], sums: _FLOATS) -> int:
    found = np.abs((flips * 2.0 - 1) @ sums)
    return int(np.count_nonzero(found >= abs(sums.sum()) - 1e-12))


def _by_cluster(numbers: _FLOATS, clusters: Sequence[Hashable] | None) -> tuple[_FLOATS, _FLOATS]:
    """Sum and number of the values of each cluster."""
    if clusters is None:
        return numbers, np.ones(len(numbers))
    if len(clusters) != len(numbers):
        raise ValueError(f"{len(numbers)} values but {len(clusters)} clusters")
    place = {name: at for at, name in enumerate(dict.fromkeys(clusters))}
    codes = [place[name] for name in clusters]
    sums, sizes = np.bincount(codes, numbers), np.bincount(codes)
    return sums.astype(np.float64), sizes.astype(np.float64)

"""How sure a mean is: percentile intervals by resampling, and the test of a paired difference.

Seeded, so that a report is the same each time. ``clusters`` are drawn whole where values hang
together, e.g. the questions of one user. Knows numbers only.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
_SEED = 20260210
_FLOATS = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """``mean`` of ``num`` values and where it lies with probability ``level``; of no value, all
    are NaN."""

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
    resamples: int = RESAMPLES,
    seed: int = _SEED,
) -> Interval:
    """``clusters``: of each value; by default each value stands alone."""
    if not values:
        return Interval(np.nan, np.nan, np.nan, 0, level)
    sums, sizes = _by_cluster(values, clusters)
    means = _resampled(sums, sizes, resamples, np.random.default_rng(seed))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    mean = float(np.mean(np.asarray(values, dtype=np.float64)))
    return Interval(mean, float(low), float(high), len(values), level)


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
    around = interval(steps, clusters=clusters, level=level, resamples=resamples, seed=seed)
    if not steps:
        return Difference(around, np.nan)
    sums, _ = _by_cluster(steps, clusters)
    rng = np.random.default_rng(seed)
    flipped = np.empty(resamples)
    for at in range(resamples):
        flipped[at] = np.dot(rng.integers(0, 2, len(sums)) * 2 - 1, sums)
    as_large = np.count_nonzero(np.abs(flipped) >= abs(sums.sum()) - 1e-12)
    return Difference(around, float((as_large + 1) / (resamples + 1)))


def _by_cluster(
    values: Sequence[float], clusters: Sequence[Hashable] | None
) -> tuple[_FLOATS, _FLOATS]:
    """Sum and number of the values of each cluster."""
    numbers = np.asarray(values, dtype=np.float64)
    if clusters is None:
        return numbers, np.ones(len(numbers))
    if len(clusters) != len(numbers):
        raise ValueError(f"{len(numbers)} values but {len(clusters)} clusters")
    place = {name: at for at, name in enumerate(dict.fromkeys(clusters))}
    codes = [place[name] for name in clusters]
    sums = np.bincount(codes, numbers).astype(np.float64)
    return sums, np.bincount(codes).astype(np.float64)


def _resampled(sums: _FLOATS, sizes: _FLOATS, resamples: int, rng: np.random.Generator) -> _FLOATS:
    means = np.empty(resamples)
    for at in range(resamples):
        drawn = rng.integers(0, len(sums), len(sums))
        means[at] = sums[drawn].sum() / sizes[drawn].sum()
    return means

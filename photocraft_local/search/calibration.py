"""What a similarity means: raw inner products → how far a photo stands out, and where to cut.

A score is a z-score: how many standard deviations a photo's similarity to the query lies above
that of unrelated photos. "Unrelated" is a blend of the encoder's frozen background and the
library itself. The library's part is taken from the whole library, never from the photos that a
filter left: a filter must not change what a score means.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import Calibration
from photocraft_local.search.halves import Singles
from photocraft_local.search.index import ExactIndex

Vector = NDArray[np.float32]

# The library's median and spread know its light, its camera and its habits, but a library that
# is half dogs would call a dog unremarkable: it never outweighs the frozen background, and a
# small one, in which the photos that are looked for are a large share, hardly counts.
_MOST_LIBRARY_SHARE = 0.5
_HALF_SHARE_AT = 300  # photos
_SAMPLE = 2048  # photos of the library; the median of these is good to 3 % of the spread
_PAIR_SAMPLE = 64
_MAD_TO_STD = 1.4826  # for a normal distribution
_LEAST_STD = 1e-3
IMAGE_CUTOFF = 3.0


@dataclass(frozen=True, slots=True)
class Direction:
    """A query vector and how unrelated photos score against it."""

    vector: Vector  # (dim,)
    mean: float
    std: float
    cutoff: float  # as a z-score

    def standardised(self, similarities: Singles) -> Singles:
        return ((similarities - self.mean) / self.std).astype(np.float32)


def combined(directions: list[Direction]) -> tuple[Direction, float]:
    """One direction whose similarity minus its ``mean`` is the mean of all z-scores, and the mean
    of the cut-offs. A text counts as much as all example pictures; the caller sees to that."""
    share = np.float32(1 / len(directions))
    vector = np.sum([d.vector * (share / np.float32(d.std)) for d in directions], axis=0)
    mean = float(sum(d.mean / d.std for d in directions) / len(directions))
    cutoff = sum(d.cutoff for d in directions) / len(directions)
    return Direction(vector.astype(np.float32), mean, 1.0, cutoff), cutoff


class Background:
    """Statistics of unrelated photos for any query vector of one encoder and one library."""

    def __init__(self, index: ExactIndex, frozen: Calibration) -> None:
        self._index = index
        self._frozen = frozen
        self._share = _MOST_LIBRARY_SHARE * len(index) / (len(index) + _HALF_SHARE_AT)

    def text(self, vector: Vector) -> Direction:
        mean, std = self._blended(vector, *self._frozen.against(vector))
        return Direction(vector, mean, std, self._frozen.cutoff)

    def image(self, vector: Vector) -> Direction:
        """Pictures are more alike than a text and a picture, so they have a background and a
        cut-off of their own."""
        if self._frozen.background is not None and len(self._frozen.background) > 1:
            mean, std = self._frozen.against(vector)
        else:
            mean, std = self._between_photos
        mean, std = self._blended(vector, mean, std)
        return Direction(vector, mean, std, IMAGE_CUTOFF)

    def _blended(self, vector: Vector, mean: float, std: float) -> tuple[float, float]:
        if not len(self._sample):
            return mean, max(std, _LEAST_STD)
        own_mean, own_std = _robust(self._sample @ vector)
        share = self._share
        return (
            share * own_mean + (1 - share) * mean,
            max(share * own_std + (1 - share) * std, _LEAST_STD),
        )

    @cached_property
    def _sample(self) -> Singles:
        """(m, dim) photos spread evenly over the library."""
        ids = self._index.photo_ids
        step = -(-len(ids) // _SAMPLE) or 1
        return self._index.vectors_of(ids[::step])

    @cached_property
    def _between_photos(self) -> tuple[float, float]:
        """Mean and spread of similarity between two photos of the library."""
        step = len(self._sample) // _PAIR_SAMPLE or 1
        some = self._sample[::step]
        if len(some) < 3:
            return 0.0, max(self._frozen.std, _LEAST_STD)
        pairs = some @ some.T
        return _robust(pairs[~np.eye(len(some), dtype=np.bool_)])


def _robust(values: Singles) -> tuple[float, float]:
    """Median, and the median distance from it scaled to a standard deviation."""
    middle = np.median(values)
    return float(middle), float(_MAD_TO_STD * np.median(np.abs(values - middle)))

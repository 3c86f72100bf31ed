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

from photocraft_local.embeddings.encoder import Calibration, TextEmbedding
from photocraft_local.search.halves import Singles
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.stores.exact import damaged_row

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
_LEAST_CUTOFF = 0.5
# A picture that is like everything may itself stand out by less than the cut-off, so that never
# comes closer than this share to the score of the picture itself.
_SHARE_OF_ITSELF = 0.8


@dataclass(frozen=True, slots=True)
class Direction:
    """A query vector and how unrelated photos score against it."""

    vector: Vector  # (dim,)
    mean: float
    std: float
    cutoff: float  # as a z-score

    def standardised(self, similarities: Singles) -> Singles:
        return ((similarities - self.mean) / self.std).astype(np.float32)


def combined(directions: list[Direction]) -> Direction:
    """One direction for all of them: the mean of the z-scores, each in units of its own cut-off,
    so that a text, whose scores reach further, does not outweigh an example picture."""
    if len(directions) == 1:
        only = directions[0]
        return Direction(only.vector / np.float32(only.std), only.mean / only.std, 1.0, only.cutoff)
    cutoff = sum(d.cutoff for d in directions) / len(directions)
    scales = [cutoff / (len(directions) * max(d.cutoff, _LEAST_CUTOFF) * d.std) for d in directions]
    pairs = list(zip(directions, scales, strict=True))
    vector = np.sum([d.vector * np.float32(scale) for d, scale in pairs], axis=0)
    mean = sum(d.mean * scale for d, scale in pairs)
    return Direction(vector.astype(np.float32), mean, 1.0, cutoff)


class Background:
    """Statistics of unrelated photos for any query vector of one encoder and one library."""

    def __init__(self, index: ExactIndex, frozen: Calibration, shift: float = 0.0) -> None:
        """``shift`` is added to the cut-off of texts."""
        self._index = index
        self._frozen = frozen
        self._shift = shift
        self._share = _MOST_LIBRARY_SHARE * len(index) / (len(index) + _HALF_SHARE_AT)

    def text(self, text: TextEmbedding) -> Direction:
        """What the query asks of a photo. Raises ValueError if nothing of it was understood."""
        if text.vector is None:
            raise ValueError("a text without a vector has no direction")
        cutoff = self._frozen.cutoff if text.cutoff is None else text.cutoff
        cutoff += self._shift
        mean, std = self._blended(text.vector, *self._frozen.against(text.vector))
        if text.evidence is None:
            return Direction(text.vector, mean, std, cutoff)
        scale = text.weight / std
        return Direction(
            (text.vector * np.float32(scale) + text.evidence).astype(np.float32),
            mean * scale,
            1.0,
            cutoff,
        )

    def image(self, vector: Vector, query: Vector | None = None) -> Direction:
        """Pictures are more alike than a text and a picture, so they have a background and a
        cut-off of their own. ``query``: what to look for in place of the vector itself."""
        query = vector if query is None else query
        if self._frozen.background is not None and len(self._frozen.background) > 1:
            mean, std = self._frozen.against(query)
        else:
            mean, std = self._between_photos
        mean, std = self._blended(query, mean, std)
        itself = (float(vector @ query) - mean) / std
        return Direction(
            query, mean, std, min(self._frozen.image_cutoff, _SHARE_OF_ITSELF * itself)
        )

    def _blended(self, vector: Vector, mean: float, std: float) -> tuple[float, float]:
        if not len(self._sample):
            return mean, max(std, _LEAST_STD)
        own_mean, own_std = self._robust(self._sample @ vector)
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
        sample = self._index.vectors_of(ids[::step])
        if not np.isfinite(sample).all():  # the writer refuses such rows: the file was damaged
            raise damaged_row(None)
        return sample

    @cached_property
    def _between_photos(self) -> tuple[float, float]:
        """Mean and spread of similarity between two photos of the library."""
        step = len(self._sample) // _PAIR_SAMPLE or 1
        some = self._sample[::step]
        if len(some) < 3:
            return 0.0, max(self._frozen.std, _LEAST_STD)
        pairs = some @ some.T
        return self._robust(pairs[~np.eye(len(some), dtype=np.bool_)])

    def _robust(self, values: Singles) -> tuple[float, float]:
        """Median, and the median distance from it scaled to a standard deviation: at least half
        of the encoder's, since bursts of the same picture have next to none."""
        middle = float(np.median(values))
        spread = _MAD_TO_STD * float(np.median(np.abs(values - middle)))
        return middle, max(spread, self._frozen.std / 2, _LEAST_STD)

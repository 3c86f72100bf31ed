"""How well an encoder finds photos by words: ranks, and the sets that its cut-off returns.

A gallery is scored as a search scores a library of just these photos. ``recall@k`` is the share of
the right photos among the first k, ``hit@k`` whether any is; equal scores count against the
encoder. Knows no layout of a data set.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import Encoder, Pixels, Vectors
from photocraft_local.embeddings.pipeline import ahead
from photocraft_local.errors import PhotoError
from photocraft_local.files.decode import decode_upright
from photocraft_local.library.batches import batches
from photocraft_local.library.progress import Progress, silent
from photocraft_local.records import Json
from photocraft_local.search.calibration import Background
from photocraft_local.search.index import ExactIndex

Mask = NDArray[np.bool_]  # (photos,)
KS = (1, 5, 10)
_BATCH = 16
_SET_FIGURES = ("precision", "recall", "f1", "em", "present_empty", "nothing_wrong")


@dataclass(frozen=True, slots=True)
class ScoredQuery:
    """``scores`` of all photos of the gallery, NaN never; a photo is returned from ``cutoff`` on.
    ``judged``: the photos of which it is known whether they are right; None: all."""

    text: str
    scores: NDArray[np.float32]  # (photos,)
    cutoff: float
    relevant: Mask
    judged: Mask | None = None

    @property
    def returned(self) -> Mask:
        found: Mask = self.scores >= self.cutoff
        return found

    def among(self, judged: Mask) -> ScoredQuery:
        """The same query with nothing but these photos in the gallery."""
        return ScoredQuery(self.text, self.scores[judged], self.cutoff, self.relevant[judged])

    def left_out(self) -> ScoredQuery:
        """The same query put to the photos that are not right for it: nothing should come back."""
        judged = self.where_judged()
        return judged.among(~judged.relevant)

    def where_judged(self) -> ScoredQuery:
        return self if self.judged is None else self.among(self.judged)


def embed(
    encoder: Encoder, paths: Sequence[Path], *, workers: int = 1, progress: Progress = silent
) -> tuple[Vectors, dict[int, str]]:
    """Vectors (n, dim) of the pictures that can be used, and of each other one, by its place in
    ``paths``, why not. Raises EncoderError."""
    side = encoder.spec.decode_side
    broken: dict[int, str] = {}

    def decoded(item: tuple[int, Path]) -> Pixels | None:
        try:
            return decode_upright(os.fsencode(item[1]), short_side=side or None).pixels
        except PhotoError as exc:
            broken[item[0]] = exc.message
            return None

    parts = []
    with ThreadPoolExecutor(workers, "decode") as pool:
        pictures = ahead(pool, decoded, enumerate(paths), workers + _BATCH)
        for batch in batches(pictures, _BATCH):
            if usable := [picture for picture in batch if picture is not None]:
                parts.append(encoder.encode_images(usable))
            progress("embed", min(len(paths), len(parts) * _BATCH), len(paths))
    vectors = np.concatenate(parts) if parts else np.zeros((0, encoder.spec.dim), np.float32)
    for at, vector in zip((n for n in range(len(paths)) if n not in broken), vectors, strict=True):
        if not np.isfinite(vector).all():
            broken[at] = "the encoder gives no vector for it"
    return vectors[np.isfinite(vectors).all(axis=1)], broken


class Asker:
    """Scores texts against one gallery as a search does, with that gallery as the library."""

    def __init__(self, encoder: Encoder, photos: Vectors, shift: float = 0.0) -> None:
        """``shift``: added to the encoder's cut-off, as the setting ``cutoff_shift``."""
        self._encoder = encoder
        self._photos = photos
        index = ExactIndex(photos.astype(np.float16), np.arange(1, len(photos) + 1))
        self._background = Background(index, encoder.calibration, shift)

    def ask(self, text: str, relevant: Mask, judged: Mask | None = None) -> ScoredQuery:
        """A query that is not understood finds nothing."""
        embedding = self._encoder.encode_text(text)
        if embedding.vector is None:
            nothing = np.full(len(self._photos), -np.inf, np.float32)
            return ScoredQuery(text, nothing, 0.0, relevant, judged)
        direction = self._background.text(embedding)
        scores = direction.standardised(self._photos @ direction.vector)
        return ScoredQuery(text, scores, direction.cutoff, relevant, judged)


def ranks(queries: Iterable[ScoredQuery]) -> NDArray[np.int64]:
    """1-based rank of each query's best right photo."""
    found = []
    for query in queries:
        best = query.scores[query.relevant].max()
        found.append(int((query.scores[~query.relevant] >= best).sum()) + 1)
    return np.array(found, np.int64)


def ranking_figures(queries: Sequence[ScoredQuery], ks: Sequence[int] = KS) -> dict[str, float]:
    """Means over queries that each have a right photo; of none, an empty dict."""
    asked = [one for one in (q.where_judged() for q in queries) if one.relevant.any()]
    if not asked:
        return {}
    rank = ranks(asked)
    figures = {f"hit_at_{k}": float((rank <= k).mean()) for k in ks}
    figures |= {f"recall_at_{k}": float(np.mean([_recall(q, k) for q in asked])) for k in ks}
    figures["mrr"] = float((1 / rank).mean())
    figures["map"] = float(np.mean([average_precision(query) for query in asked]))
    return {"queries": len(asked), **{name: round(value, 4) for name, value in figures.items()}}


def average_precision(query: ScoredQuery) -> float:
    """Mean, over the right photos, of the precision down to each."""
    hits = query.relevant[_order(query)]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())


def set_figures(queries: Iterable[ScoredQuery], shift: float = 0.0) -> dict[str, float]:
    """What a cut-off, moved by ``shift``, lets through: means over queries that have a right photo.
    ``precision`` of those that return anything; ``em``: exactly the right photos;
    ``present_empty``: share that return nothing; ``nothing_wrong``: that return no wrong photo."""
    lists: dict[str, list[float]] = {name: [] for name in _SET_FIGURES}
    for query in (q.where_judged() for q in queries):
        right, found = query.relevant, query.scores >= query.cutoff + shift
        if not right.any():
            continue
        both = float((right & found).sum())
        lists["present_empty"].append(not found.any())
        lists["nothing_wrong"].append(not (found & ~right).any())
        lists["em"].append(bool((right == found).all()))
        lists["recall"].append(both / float(right.sum()))
        lists["f1"].append(2 * both / float(right.sum() + found.sum()))
        if found.any():
            lists["precision"].append(both / float(found.sum()))
    return {name: _mean(values) for name, values in lists.items()}


def absent_figures(queries: Iterable[ScoredQuery], shift: float = 0.0) -> dict[str, float]:
    """Of queries that no photo answers: the share that return nothing, and how much the others
    return."""
    found = [int((query.scores >= query.cutoff + shift).sum()) for query in queries]
    return {
        "absent_empty": _mean([number == 0 for number in found]),
        "absent_returned": _mean(found),
    }


def plain(figures: dict[str, float]) -> dict[str, Json]:
    """For JSON: None where there is no mean."""
    return {name: None if np.isnan(value) else value for name, value in figures.items()}


def _recall(query: ScoredQuery, k: int) -> float:
    return float(query.relevant[_order(query)[:k]].sum() / query.relevant.sum())


def _order(query: ScoredQuery) -> NDArray[np.int64]:
    """Best first; of equal scores wrong photos come first."""
    order: NDArray[np.int64] = np.lexsort((query.relevant, -query.scores))
    return order


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4) if len(values) else float("nan")

"""Queries by look: text, example pictures, both, and NOT, inside any selection of photos.

Scores are calibrated (calibration.py) and a photo is a match if its score reaches the result's
``cutoff``; there may be none. The filter that ran is part of every result. Knows the encoder
only through its protocol, and nothing of tools.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import Encoder, Likening
from photocraft_local.errors import EncoderError, UsageError
from photocraft_local.records import Hit
from photocraft_local.search.calibration import Background, Direction, combined
from photocraft_local.search.catalog import Catalog
from photocraft_local.search.halves import Singles
from photocraft_local.search.index import ExactIndex
from photocraft_local.search.selection import Selection

Vector = NDArray[np.float32]
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Query:
    """``like`` are unit vectors of example pictures. ``not_text``: what must not be seen.

    With ``top_k`` the best k photos are returned whether they match or not, unless ``cutoff``
    is given; with ``top_k=None`` exactly those that reach the cut-off, possibly none. The
    default cut-off is the encoder's.
    """

    text: str = ""
    like: tuple[Vector, ...] = ()
    not_text: tuple[str, ...] = ()
    selection: Selection | None = None
    top_k: int | None = 20
    cutoff: float | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Best first. ``score >= cutoff`` says that a photo matches."""

    hits: tuple[Hit, ...]
    cutoff: float
    num_candidates: int  # photos inside the filter that have a vector
    num_unindexed: int  # photos inside the filter that have none yet, so could not be found
    filter_echo: str
    understood: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()
    engine: str = ""  # which path searched, and why

    @property
    def matches(self) -> tuple[Hit, ...]:
        """The hits that reach the cut-off."""
        return tuple(hit for hit in self.hits if hit.score >= self.cutoff)


@dataclass(slots=True)
class _Wish:
    """A query in the encoder's space, and what of its words the encoder could use."""

    wanted: list[Direction] = field(default_factory=list)
    unwanted: list[Direction] = field(default_factory=list)
    understood: list[str] = field(default_factory=list)
    not_understood: list[str] = field(default_factory=list)
    possible: bool = True  # False: text was asked for, but no word of it could be used


class Searcher:
    """Search over one state of the library. Only photos of the catalog are ever returned.
    ``cutoff_shift`` is added to the encoder's cut-off of texts."""

    def __init__(
        self, catalog: Catalog, index: ExactIndex, encoder: Encoder, cutoff_shift: float = 0.0
    ) -> None:
        if index.dim != encoder.spec.dim:
            raise EncoderError(
                f"the stored vectors have {index.dim} dimensions, those of the encoder "
                f"{encoder.spec.encoder_id!r} have {encoder.spec.dim}",
                hint="run: photocraft index",
            )
        self._catalog = catalog
        self._index = index.restricted_to(catalog.columns.photo_ids)
        self._encoder = encoder
        self._background = Background(self._index, encoder.calibration, cutoff_shift)

    def photo_vector(self, uid: str) -> Vector:
        """The stored unit vector (dim,) of a photo. Raises UnknownPhoto, SearchError."""
        row = self._catalog.rows_of([uid])
        vector: Vector = self._index.vectors_of(self._catalog.columns.photo_ids[row])[0]
        return vector

    def search(self, query: Query) -> SearchResult:
        """Raises UsageError for a query that asks for nothing or for fewer than one photo."""
        wish = self._wish(query)
        selection = query.selection
        ids = None if selection is None else selection.photo_ids()
        num_candidates = len(self._index) if ids is None else int(self._index.has(ids).sum())
        total = len(self._catalog) if ids is None else len(ids)
        cutoff, scored = self._scored(wish, query, ids)
        return SearchResult(
            hits=scored,
            cutoff=cutoff,
            num_candidates=num_candidates,
            num_unindexed=total - num_candidates,
            filter_echo="" if selection is None else selection.echo,
            understood=tuple(wish.understood),
            not_understood=tuple(wish.not_understood),
            engine=f"{self._index.engine}: {self._index.engine_reason}",
        )

    # -- the query -------------------------------------------------------------------------

    def _wish(self, query: Query) -> _Wish:
        if not query.text.strip() and not query.like and not any(query.not_text):
            raise UsageError(
                "there is nothing to look for",
                hint="give a text, an example picture, or what must not be seen",
            )
        if query.cutoff is not None and not np.isfinite(query.cutoff):
            raise UsageError(
                f"the cut-off is {query.cutoff}", hint="give a number, or leave it out"
            )
        if query.top_k is not None and query.top_k < 1:
            raise UsageError(
                f"top_k must be at least 1, not {query.top_k}", hint="ask for one photo or more"
            )
        wish = _Wish()
        if query.text.strip():
            text = self._direction(query.text, wish)
            wish.possible = text is not None
            wish.wanted += [text] if text else []
        if query.like:
            wish.wanted.append(self._looks(query.like))
        for words in query.not_text:
            unwanted = self._direction(words, wish) if words.strip() else None
            wish.unwanted += [unwanted] if unwanted else []
        if not wish.wanted and not wish.unwanted:
            wish.possible = False
        return wish

    def _direction(self, text: str, wish: _Wish) -> Direction | None:
        embedding = self._encoder.encode_text(text)
        wish.understood += embedding.understood
        wish.not_understood += embedding.not_understood
        return None if embedding.vector is None else self._background.text(embedding)

    def _looks(self, pictures: tuple[Vector, ...]) -> Direction:
        """Example pictures together weigh as much as a text."""
        looks = []
        encoder = self._encoder
        for picture in pictures:
            vector = np.asarray(picture, np.float32)
            if vector.shape != (self._index.dim,) or not np.isfinite(vector).all():
                raise UsageError(
                    f"an example picture's vector of shape {vector.shape} does not fit the "
                    f"encoder's {self._index.dim} dimensions, or holds NaN",
                    hint="embed the picture with the encoder that indexed the library",
                )
            query = encoder.query_of(vector) if isinstance(encoder, Likening) else vector
            looks.append(self._background.image(vector, query))
        return looks[0] if len(looks) == 1 else combined(looks)

    # -- the ranking -----------------------------------------------------------------------

    def _scored(self, wish: _Wish, query: Query, ids: Ids | None) -> tuple[float, tuple[Hit, ...]]:
        wanted = combined(wish.wanted) if wish.wanted else None
        natural = wanted.cutoff if wanted else 0.0 if wish.possible else self._text_cutoff
        cutoff = natural if query.cutoff is None else query.cutoff
        if not wish.possible:
            return cutoff, ()
        if wanted and not wish.unwanted and query.top_k is not None:
            found = self._index.top_k(wanted.vector, query.top_k, ids)
            order, scores = found.photo_ids[0], wanted.standardised(found.scores[0])
        else:
            order, scores = self._all_scores(wanted, wish.unwanted, min(cutoff, natural), ids)
        if query.top_k is None or query.cutoff is not None:
            inside = scores >= cutoff
            order, scores = order[inside], scores[inside]
        return cutoff, self._hits(order[: query.top_k], scores[: query.top_k])

    @property
    def _text_cutoff(self) -> float:
        return self._encoder.calibration.cutoff

    def _all_scores(
        self, wanted: Direction | None, unwanted: list[Direction], cutoff: float, ids: Ids | None
    ) -> tuple[Ids, Singles]:
        """Every candidate's id and score, best first."""
        directions = unwanted if wanted is None else [wanted, *unwanted]
        queries = np.stack([direction.vector for direction in directions])
        similarities = self._index.scores(queries, ids)
        order = self._index.photo_ids if ids is None else ids
        pairs = zip(directions, similarities, strict=True)
        z = np.stack([direction.standardised(line) for direction, line in pairs])
        scores = z[0] if not unwanted else _without(z, wanted, unwanted, cutoff)
        rank = np.argsort(-scores, kind="stable")
        rank = rank[: len(rank) - int(np.isnan(scores).sum())]  # NaN: no vector yet; sorted last
        return order[rank], scores[rank]

    def _hits(self, ids: Ids, scores: Singles) -> tuple[Hit, ...]:
        uids = self._catalog.uids_at(self._catalog.rows_of_ids(ids))
        return tuple(Hit(uid, score) for uid, score in zip(uids, scores.tolist(), strict=True))


def _without(
    z: Singles, wanted: Direction | None, unwanted: list[Direction], cutoff: float
) -> Singles:
    """Scores under NOT. z: (1 + m, n) or (m, n), the wanted one first if there is one.

    What reaches the cut-off of an unwanted text falls below the query's cut-off, however well
    it fits otherwise; what comes near it loses the half of that cut-off's width it has used up.
    Without a wanted text everything matches that stays below, the least alike first.
    """
    limits = np.array([[direction.cutoff] for direction in unwanted], np.float32)
    excess = (z[-len(unwanted) :] - limits).max(axis=0)  # >= 0: it is what must not be there
    if wanted is None:
        result: Singles = (np.float32(cutoff) - excess).astype(np.float32)
        excluded = excess >= 0
        return np.where(excluded, np.minimum(result, np.float32(cutoff - 1e-3)), result)
    half = np.float32(limits.min() / 2)
    result = z[0] - np.maximum(excess + half, 0)
    return np.where(excess >= 0, np.minimum(result, np.float32(cutoff) - 1 - excess), result)

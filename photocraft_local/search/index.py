"""Exact inner-product search over the memory-mapped fp16 store, whole or within a set of photos.

Owns which photo a row belongs to and which photos can be found; the rows themselves are searched
by a vector store (stores/), all of which give the same answers. Knows nothing of words or
calibration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import LibraryCorrupt, SearchError, UsageError
from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.row_lookup import Ids, RowLookup
from photocraft_local.search.stores.choice import make_store
from photocraft_local.search.stores.store import Found, VectorStore

_GROUP_BYTES = 1 << 28  # of work space that a group of queries may take in a store


class TopK(NamedTuple):
    """Best first. Both (b, m) with m = min(k, number of candidates with a vector)."""

    photo_ids: Ids
    scores: Singles


class ExactIndex:
    """Brute force over unit vectors (n, dim) float16 and their photo ids (n,) int64.

    ``present`` are the photos that exist now (default: every id in the store); rows of other
    photos are unreachable. A photo id that occurs twice counts once, by its last row.
    ``engine`` is a store or the name of one ('auto', 'native', 'faiss', 'numpy', 'faiss-gpu');
    ``engine_reason`` says what 'auto' chose and why.
    """

    def __init__(
        self,
        vectors: Halves,
        photo_ids: Ids,
        *,
        present: Ids | None = None,
        engine: str | VectorStore = "auto",
    ) -> None:
        if vectors.ndim != 2 or vectors.dtype != np.float16 or len(vectors) != len(photo_ids):
            raise LibraryCorrupt(
                f"vector store of shape {vectors.shape} {vectors.dtype} does not fit "
                f"{len(photo_ids)} photo ids",
                hint="run 'photocraft index' again to rebuild it",
            )
        self._store = np.asarray(vectors)
        self._ids = np.ascontiguousarray(photo_ids, np.int64)
        self._lookup = RowLookup(self._ids)
        self._set_present(present)
        self.store = make_store(engine, self._store) if isinstance(engine, str) else engine

    def restricted_to(self, present: Ids) -> ExactIndex:
        """The same store, of which only the ``present`` photos can be reached."""
        return ExactIndex(self._store, self._ids, present=present, engine=self.store)

    def followed(self, vectors: Halves, photo_ids: Ids) -> ExactIndex | None:
        """The index over the file as it is now, by the same store: only rows that were added go
        there, rows that were erased are let go. None if the file is not this one grown. This
        index stays what it is, for whoever still searches by it."""
        before = len(self._ids)
        if len(photo_ids) < before or vectors.shape[1] != self.dim:
            return None
        gone = np.flatnonzero(self._ids != photo_ids[:before])
        if (photo_ids[gone] >= 0).any():
            return None  # compacted: other rows stand there
        if len(gone):
            self.store.remove(gone)
        if len(photo_ids) > before:
            self.store.grow(vectors, photo_ids)
        return ExactIndex(vectors, photo_ids, engine=self.store)

    @property
    def engine(self) -> str:
        return self.store.name

    @property
    def engine_reason(self) -> str:
        return self.store.reason

    def __len__(self) -> int:
        """Number of photos that can be found."""
        return len(self._live)

    @property
    def dim(self) -> int:
        return int(self._store.shape[1])

    @property
    def photo_ids(self) -> Ids:
        """The photos that can be found, in the store's order."""
        return self._ids[self._live]

    def has(self, photo_ids: Ids) -> NDArray[np.bool_]:
        """Which of the photos are present and have a vector."""
        return self._live_rows(photo_ids) >= 0

    def vectors_of(self, photo_ids: Ids) -> Singles:
        """Vectors (len(photo_ids), dim) float32 of photos that ``has`` says are there."""
        rows = self._live_rows(photo_ids)
        if (rows < 0).any():
            missing = np.asarray(photo_ids)[rows < 0]
            raise SearchError(
                f"no vector is stored for photo id {int(missing[0])}",
                hint="run 'photocraft index' to embed new photos",
            )
        return self._store[rows].astype(np.float32)

    def top_k(self, queries: Singles, k: int, photo_ids: Ids | None = None) -> TopK:
        """The k photos with the highest inner product, among ``photo_ids`` or all present ones.

        queries: (b, dim) or (dim,), finite. Ids without a vector are passed over; duplicates
        count once. Raises UsageError for k < 1, a NaN, or a wrong dimension.
        """
        queries = self._checked(queries)
        if k < 1:
            raise UsageError(f"k must be at least 1, not {k}", hint="ask for one photo or more")
        rows = self._live if photo_ids is None else self._chosen_rows(photo_ids)
        k = min(k, len(rows))
        if k == 0 or len(queries) == 0:
            shape = (len(queries), k)
            return TopK(np.empty(shape, np.int64), np.empty(shape, np.float32))
        # A batch of any size is worked on in groups that fit into memory.
        group = max(1, _GROUP_BYTES // (48 * k + 16 * self.dim))
        every = None if len(rows) == len(self._ids) else rows
        try:
            scores, best = self._grouped(queries, k, every, group)
            if every is None and best.max() >= len(self._ids):
                # The store has followed the file since: its new rows are not this index's.
                scores, best = self._grouped(queries, k, rows, group)
            return TopK(self._ids[best], scores)
        except MemoryError as exc:
            raise _too_much(len(queries), k) from exc

    def scores(self, queries: Singles, photo_ids: Ids | None = None) -> Singles:
        """Inner products (b, m), or (m,) for one query (dim,): with ``photo_ids`` in their order
        (NaN where a photo has no vector), else with ``self.photo_ids``."""
        matrix = self._checked(queries)
        rows = self._live if photo_ids is None else self._live_rows(photo_ids)
        known = rows >= 0
        try:
            result = self.store.scores(matrix, rows if known.all() else rows[known])
            if not known.all():
                found = result
                result = np.full((len(matrix), len(rows)), np.nan, np.float32)
                result[:, known] = found
        except MemoryError as exc:
            raise _too_much(len(matrix), len(rows)) from exc
        return result[0] if np.ndim(queries) == 1 else result

    def _grouped(self, queries: Singles, k: int, rows: Rows | None, group: int) -> Found:
        parts = [
            part
            for at in range(0, len(queries), group)
            for part in self._halved(queries[at : at + group], k, rows)
        ]
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _halved(self, queries: Singles, k: int, rows: Rows | None) -> list[Found]:
        """The answer to a group, in parts where memory is short. Raises MemoryError where one
        query is too much."""
        try:
            return [self.store.top_k(queries, k, rows)]
        except MemoryError:
            if len(queries) < 2:
                raise
        middle = len(queries) // 2  # outside of the handler: the traceback holds the work space
        halves = (queries[:middle], queries[middle:])
        return [part for half in halves for part in self._halved(half, k, rows)]

    # -- rows ------------------------------------------------------------------------------

    def _set_present(self, present: Ids | None) -> None:
        wanted = self._ids if present is None else np.asarray(present, np.int64)
        rows = self._lookup.rows_of(wanted[wanted >= 0])  # an erased row has the id -1
        live = np.zeros(len(self._ids), np.bool_)
        live[rows[rows >= 0]] = True
        self._live_mask = live
        self._live: Rows = np.flatnonzero(live)

    def _live_rows(self, photo_ids: Ids) -> Rows:
        """Row of each photo, -1 where it has no vector or is not present."""
        rows = self._lookup.rows_of(np.asarray(photo_ids, np.int64))
        if len(self._live) < len(self._ids) and len(rows):
            return np.where((rows >= 0) & self._live_mask[rows], rows, -1)
        return rows

    def _chosen_rows(self, photo_ids: Ids) -> Rows:
        """Rows of the present photos among ``photo_ids``, ascending, each once."""
        rows = self._live_rows(photo_ids)
        if len(rows) > 1 and not (rows[1:] > rows[:-1]).all():
            rows = np.unique(rows)
        return rows[np.searchsorted(rows, 0) :] if len(rows) and rows[0] < 0 else rows

    def _checked(self, queries: Singles) -> Singles:
        matrix = np.atleast_2d(np.asarray(queries, np.float32))
        if matrix.ndim != 2 or matrix.shape[1] != self.dim:
            raise UsageError(
                f"query vectors of shape {np.shape(queries)} for a store of {self.dim} dimensions",
                hint="embed the query with the encoder that made the store",
            )
        if not np.isfinite(matrix).all():
            raise UsageError(
                "a query vector holds NaN or infinity",
                hint="the picture or text could not be embedded; try another",
            )
        return np.ascontiguousarray(matrix)


def _joined(parts: list[Found]) -> Found:
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _too_much(num_queries: int, num_results: int) -> SearchError:
    return SearchError(
        f"{num_results:,} results for {num_queries:,} queries at once do not fit into memory",
        hint="ask for fewer results, or with fewer queries at a time",
    )

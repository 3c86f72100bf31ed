"""Exact inner-product search over the memory-mapped fp16 store, whole or within a set of photos.

Rows are never copied as a whole: they are widened block by block, or scanned in place by FAISS.
Only photos that were declared present are ever returned. Knows nothing of words or calibration.
"""

from __future__ import annotations

import threading
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import LibraryCorrupt, SearchError, UsageError
from photocraft_local.search.faiss_scan import FaissScan, choose_engine
from photocraft_local.search.halves import HalfProducts, Halves, Rows, Singles
from photocraft_local.search.ranking import BestRows

Ids = NDArray[np.int64]

# FAISS scores one query at 0.2 ns an element; widening costs 0.6 once and serves all queries.
_FAISS_UP_TO = 3  # queries
_PANEL_SCORES = 1 << 20  # float32 scores held at once: 4 MiB


class TopK(NamedTuple):
    """Best first. Both (b, m) with m = min(k, number of candidates with a vector)."""

    photo_ids: Ids
    scores: Singles


class ExactIndex:
    """Brute force over unit vectors (n, dim) float16 and their photo ids (n,) int64.

    ``present`` are the photos that exist now (default: every id in the store); rows of other
    photos are unreachable. A photo id that occurs twice counts once, by its last row.
    ``engine`` is 'auto', 'faiss' or 'numpy'; ``engine_reason`` says what 'auto' chose and why.
    """

    def __init__(
        self,
        vectors: Halves,
        photo_ids: Ids,
        *,
        present: Ids | None = None,
        engine: Literal["auto", "faiss", "numpy"] = "auto",
    ) -> None:
        if vectors.ndim != 2 or vectors.dtype != np.float16 or len(vectors) != len(photo_ids):
            raise LibraryCorrupt(
                f"vector store of shape {vectors.shape} {vectors.dtype} does not fit "
                f"{len(photo_ids)} photo ids",
                hint="run 'photocraft index' again to rebuild it",
            )
        self._store = np.asarray(vectors)
        self._ids = np.ascontiguousarray(photo_ids, np.int64)
        self._lookup = _RowLookup(self._ids)
        self._engine = engine
        self._set_present(present)
        self.engine, self.engine_reason = choose_engine(engine, self._store.size)
        self._faiss: FaissScan | None = None
        self._own = threading.local()

    def restricted_to(self, present: Ids) -> ExactIndex:
        """The same store, of which only the ``present`` photos can be reached."""
        return ExactIndex(self._store, self._ids, present=present, engine=self._engine)

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
        if self.engine == "faiss" and len(queries) <= _FAISS_UP_TO:
            scores, best = self._scan().top_k(queries, k, rows)
        else:
            scores, best = self._panels(queries, k, rows)
        return TopK(self._ids[best], scores)

    def scores(self, queries: Singles, photo_ids: Ids | None = None) -> Singles:
        """Inner products (b, m), or (m,) for one query (dim,): with ``photo_ids`` in their order
        (NaN where a photo has no vector), else with ``self.photo_ids``."""
        matrix = self._checked(queries)
        rows = self._live if photo_ids is None else self._live_rows(photo_ids)
        known = rows >= 0
        kernel = self._kernel()
        if known.all():
            result = np.empty((len(matrix), len(rows)), np.float32)
            kernel.of_rows(matrix, rows, result)
        else:
            found = np.empty((len(matrix), int(known.sum())), np.float32)
            kernel.of_rows(matrix, rows[known], found)
            result = np.full((len(matrix), len(rows)), np.nan, np.float32)
            result[:, known] = found
        return result[0] if np.ndim(queries) == 1 else result

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

    # -- scores ----------------------------------------------------------------------------

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

    def _kernel(self) -> HalfProducts:
        """The calling thread's: its buffers are worth keeping, a page fault costs a microsecond."""
        if not hasattr(self._own, "kernel"):
            self._own.kernel = HalfProducts(self._store)
        kernel: HalfProducts = self._own.kernel
        return kernel

    def _scan(self) -> FaissScan:
        if self._faiss is None:
            self._faiss = FaissScan(self._store)
        return self._faiss

    def _panels(self, queries: Singles, k: int, rows: Rows) -> tuple[Singles, Rows]:
        """Top k of a batch: widen, multiply, keep the best, a few MiB of scores at a time.

        The chosen rows are gathered however many pass: that adds a seventh to their cost, and
        scanning the others too with 64 queries never paid (1M × 512, up to 95 % passing).
        """
        best = BestRows(len(queries), k)
        kernel = self._kernel()
        width = max(256, _PANEL_SCORES // len(queries))
        panel = np.empty((len(queries), min(width, len(rows))), np.float32)
        for at in range(0, len(rows), width):
            chosen = rows[at : at + width]
            part = panel[:, : len(chosen)]
            kernel.of_rows(queries, chosen, part)
            best.add(part, chosen)
        return best.sorted()


class _RowLookup:
    """Photo id → row of the store, the last one where an id occurs twice."""

    def __init__(self, ids: Ids) -> None:
        self._sorted: tuple[Ids, Rows] | None = None
        self._table: NDArray[np.int32] | None = None
        top = max(0, int(ids.max(initial=0)))
        if top < 8 * len(ids) + 1024:
            # Ids are the database's row keys, so a table is small: one look-up a photo.
            self._table = np.full(top + 1, -1, np.int32)
            kept = np.flatnonzero(ids >= 0)
            self._table[ids[kept]] = kept
        else:
            order = np.argsort(ids, kind="stable")
            self._sorted = (ids[order], order)

    def rows_of(self, photo_ids: Ids) -> Rows:
        """Row of each id, -1 where there is none."""
        if self._table is not None:
            known = (photo_ids >= 0) & (photo_ids < len(self._table))
            if known.all():
                return self._table[photo_ids].astype(np.intp)
            return np.where(known, self._table[np.where(known, photo_ids, 0)], -1).astype(np.intp)
        assert self._sorted is not None
        ids, order = self._sorted
        if not len(ids):
            return np.full(len(photo_ids), -1, np.intp)
        at = np.searchsorted(ids, photo_ids, side="right") - 1
        return np.where((at >= 0) & (ids[at] == photo_ids), order[at], -1)

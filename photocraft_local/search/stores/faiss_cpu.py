"""The store that asks FAISS on the CPU for a query or three, and NumPy for batches."""

from __future__ import annotations

import numpy as np

from photocraft_local.search.faiss_scan import FaissScan
from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.row_lookup import Ids
from photocraft_local.search.stores.exact import settled, single_precision_error
from photocraft_local.search.stores.plain import PlainStore
from photocraft_local.search.stores.store import Found

# FAISS scores one query at 0.2 ns an element; widening costs 0.6 once and serves all queries.
_FAISS_UP_TO = 3  # queries


class FaissStore:
    """FAISS's fp16 index over the mapped pages: gathers few rows, masks many (faiss_scan.py)."""

    name = "faiss"

    def __init__(self, store: Halves, reason: str = "") -> None:
        self.reason = reason
        self.grow(store)

    def top_k(self, queries: Singles, k: int, rows: Rows | None) -> Found:
        """``VectorStore.top_k``."""
        store, plain, scan = self._held
        if len(queries) > _FAISS_UP_TO:
            return plain.top_k(queries, k, rows)
        chosen = np.arange(len(store)) if rows is None else rows
        return settled(
            lambda some, wide: scan.top_k(some, wide, chosen),
            store,
            queries,
            k,
            len(chosen),
            single_precision_error(queries.shape[1]),
        )

    def scores(self, queries: Singles, rows: Rows | None) -> Singles:
        """``VectorStore.scores``, by NumPy: FAISS hands out the best only."""
        return self._held[1].scores(queries, rows)

    def grow(self, vectors: Halves, photo_ids: Ids | None = None) -> None:
        """``VectorStore.grow``: the new map, of which nothing is copied."""
        store = np.ascontiguousarray(vectors)
        # All three at once: a search ends with what it began with.
        self._held = store, PlainStore(store), FaissScan(store)

    def remove(self, rows: Rows) -> None:
        """``VectorStore.remove``: the file's owner zeroes them; no memory is held."""

"""The store that searches by this package's C extension, in the mapped pages themselves.

No copy of the vectors is made and no row is left out of reach of the processor's prefetching: a
random 1 % of a million rows is read at the speed at which memory gives it.
"""

from __future__ import annotations

import numpy as np

from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.row_lookup import Ids
from photocraft_local.search.stores.exact import damaged_row
from photocraft_local.search.stores.store import Found


def vector_code() -> str | None:
    """Name of the best vector instructions that the extension has here; '' if none; None
    without the extension."""
    try:
        from photocraft_local.search import _native
    except ImportError:
        return None
    return _native.vectors()


class NativeStore:
    """``vectors`` names less than what the processor has, for comparisons."""

    name = "native"

    def __init__(self, store: Halves, reason: str = "", *, vectors: str | None = None) -> None:
        from photocraft_local.search import _native

        self._native = _native
        self.reason = reason
        self._code = _native.vectors() if vectors is None else vectors
        self._store = np.ascontiguousarray(store)  # a memory map stays one: no copy

    def top_k(self, queries: Singles, k: int, rows: Rows | None) -> Found:
        """``VectorStore.top_k``. One query or a hundred: each row is read once for all."""
        scores = np.empty((len(queries), k), np.float32)
        found = np.empty((len(queries), k), np.int64)
        damaged = self._native.top_k(
            self._store, _whole(rows), np.ascontiguousarray(queries), scores, found, self._code
        )
        if damaged is not None:
            raise damaged_row(damaged)
        return scores, found.astype(np.intp, copy=False)

    def scores(self, queries: Singles, rows: Rows | None) -> Singles:
        """``VectorStore.scores``."""
        store = self._store  # one and the same, whatever grows meanwhile
        count = len(store) if rows is None else len(rows)
        scores = np.empty((len(queries), count), np.float32)
        queries = np.ascontiguousarray(queries)
        self._native.scores(store, _whole(rows), queries, scores, self._code)
        return scores

    def grow(self, vectors: Halves, photo_ids: Ids | None = None) -> None:
        """``VectorStore.grow``: the new map, of which nothing is copied."""
        self._store = np.ascontiguousarray(vectors)

    def remove(self, rows: Rows) -> None:
        """``VectorStore.remove``: the file's owner zeroes them; no memory is held."""


def _whole(rows: Rows | None) -> np.ndarray | None:
    return None if rows is None else np.ascontiguousarray(rows, np.int64)

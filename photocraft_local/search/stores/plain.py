"""The store that needs nothing but NumPy: rows are widened block by block and multiplied."""

from __future__ import annotations

import threading

import numpy as np

from photocraft_local.search.halves import HalfProducts, Halves, Rows, Singles
from photocraft_local.search.ranking import BestRows
from photocraft_local.search.row_lookup import Ids
from photocraft_local.search.stores.exact import settled, single_precision_error
from photocraft_local.search.stores.store import Found

_PANEL_SCORES = 1 << 20  # float32 scores held at once: 4 MiB


class PlainStore:
    """NumPy's."""

    name = "numpy"

    def __init__(self, store: Halves, reason: str = "") -> None:
        self.reason = reason
        self.grow(store)

    def top_k(self, queries: Singles, k: int, rows: Rows | None) -> Found:
        """``VectorStore.top_k``."""
        held = self._held
        chosen = np.arange(len(held.store)) if rows is None else rows
        return settled(
            lambda some, wide: _panels(held.kernel(), some, wide, chosen),
            held.store,
            queries,
            k,
            len(chosen),
            single_precision_error(queries.shape[1]),
        )

    def scores(self, queries: Singles, rows: Rows | None) -> Singles:
        """``VectorStore.scores``."""
        held = self._held
        chosen = np.arange(len(held.store)) if rows is None else rows
        scores = np.empty((len(queries), len(chosen)), np.float32)
        held.kernel().exact_of_rows(queries, chosen, scores)
        return scores

    def grow(self, vectors: Halves, photo_ids: Ids | None = None) -> None:
        """``VectorStore.grow``: the new map, of which nothing is copied."""
        self._held = _Held(np.asarray(vectors))

    def remove(self, rows: Rows) -> None:
        """``VectorStore.remove``: the file's owner zeroes them; no memory is held."""


class _Held:
    """A map and each thread's buffers over it: a search ends with what it began with, whatever
    the store takes in meanwhile."""

    def __init__(self, store: Halves) -> None:
        self.store = store
        self._own = threading.local()

    def kernel(self) -> HalfProducts:
        """The calling thread's: its buffers are worth keeping, a page fault costs a microsecond."""
        if not hasattr(self._own, "kernel"):
            self._own.kernel = HalfProducts(self.store)
        kernel: HalfProducts = self._own.kernel
        return kernel


def _panels(kernel: HalfProducts, queries: Singles, k: int, rows: Rows) -> Found:
    """Top k of a batch: widen, multiply, keep the best, a few MiB of scores at a time.

    The chosen rows are gathered however many pass: that adds a seventh to their cost, and
    scanning the others too with 64 queries never paid (1M × 512, up to 95 % passing).
    """
    best = BestRows(len(queries), k)
    width = max(256, _PANEL_SCORES // len(queries))
    panel = np.empty((len(queries), min(width, len(rows))), np.float32)
    for at in range(0, len(rows), width):
        chosen = rows[at : at + width]
        part = panel[:, : len(chosen)]
        kernel.of_rows(queries, chosen, part)
        best.add(part, chosen)
    return best.sorted()

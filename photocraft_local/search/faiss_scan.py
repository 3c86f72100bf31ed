"""FAISS over the memory-mapped fp16 store, without a copy of it.

FAISS's scalar-quantizer index of type fp16 stores exactly what the store's file holds, so the
index is given a view of the mapped pages instead of codes of its own. It answers few queries at
a time; batches go through search/halves.py, where one widening serves all queries.
"""

from __future__ import annotations

import importlib.util
import logging
from typing import Any, Literal

import numpy as np

from photocraft_local.errors import MissingExtraError
from photocraft_local.search.halves import Halves, Rows, Singles

log = logging.getLogger(__name__)

Engine = Literal["faiss", "numpy"]

# Importing FAISS takes 0.2 s of CPU, as much as a hundred NumPy scans of 10k × 384. From 2**25
# elements (65k × 512) on, a NumPy scan takes 10 ms more than FAISS's, and a process that
# searches such a library has other costs of that size anyway.
_FAISS_FROM_ELEMENTS = 1 << 25
_GATHER_ROWS = 1 << 14


def choose_engine(wanted: str, num_elements: int) -> tuple[Engine, str]:
    """The engine for a store of that many numbers, and the reason in words."""
    present = importlib.util.find_spec("faiss") is not None
    if wanted == "faiss" and not present:
        raise MissingExtraError("faiss", "cpu", "the FAISS search engine")
    choice: tuple[Engine, str]
    if wanted == "faiss":
        choice = "faiss", "asked for"
    elif wanted == "numpy":
        choice = "numpy", "asked for"
    elif num_elements < _FAISS_FROM_ELEMENTS:
        choice = "numpy", "a library of this size is scanned faster than FAISS is imported"
    elif present:
        choice = "faiss", "a large library, and FAISS is installed"
    else:
        choice = "numpy", "FAISS is not installed (extra 'cpu'); same results, slower"
    log.debug("exact search runs on %s: %s", *choice)
    return choice


class FaissScan:
    """Top-k of one or a few queries over all rows or chosen ones."""

    def __init__(self, store: Halves) -> None:
        try:
            import faiss
        except ImportError as exc:
            raise MissingExtraError("faiss", "cpu", "the FAISS search engine") from exc
        self._faiss = faiss
        self._store = np.ascontiguousarray(store)  # a memory map stays one: no copy
        self._whole = self._view(self._store)
        row = np.dtype((np.void, self._store.strides[0]))
        self._raw = self._store.view(row)[:, 0]

    def top_k(
        self, queries: Singles, k: int, rows: Rows, *, scan_from: float
    ) -> tuple[Singles, Rows]:
        """Scores and rows (b, k), best first, among ``rows`` (ascending, at least k)."""
        if len(rows) == len(self._store):
            return self._search(self._whole, queries, k)
        if len(rows) >= scan_from * len(self._store):
            return self._search(self._whole, queries, k, self._bitmap(rows))
        return self._gathered(queries, k, rows)

    def _gathered(self, queries: Singles, k: int, rows: Rows) -> tuple[Singles, Rows]:
        found = []
        for at in range(0, len(rows), _GATHER_ROWS):
            chosen = rows[at : at + _GATHER_ROWS]
            part = np.take(self._raw, chosen).view(np.float16).reshape(len(chosen), -1)
            scores, best = self._search(self._view(part), queries, min(k, len(chosen)))
            found.append((scores, chosen[best]))
        if len(found) == 1:
            return found[0]
        scores = np.concatenate([one for one, _ in found], axis=1)
        places = np.concatenate([one for _, one in found], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(scores, order, 1), np.take_along_axis(places, order, 1)

    def _view(self, rows: Halves) -> Any:
        """An index whose codes are the given rows themselves; they must outlive it."""
        faiss = self._faiss
        kind = faiss.ScalarQuantizer.QT_fp16
        index = faiss.IndexScalarQuantizer(rows.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
        address = faiss.cast_integer_to_void_ptr(int(rows.ctypes.data))
        vector = faiss.MaybeOwnedVectorUInt8
        index.codes = vector.create_view(address, rows.nbytes, index.codes.owner)
        index.ntotal = len(rows)
        return index

    def _bitmap(self, rows: Rows) -> Any:
        faiss: Any = self._faiss  # its stubs describe the C++ constructors
        passing = np.zeros(len(self._store), np.bool_)
        passing[rows] = True
        selector = faiss.IDSelectorBitmap(np.packbits(passing, bitorder="little"))
        return faiss.SearchParameters(sel=selector)

    @staticmethod
    def _search(index: Any, queries: Singles, k: int, params: Any = None) -> tuple[Singles, Rows]:
        scores, rows = index.search(queries, k, params=params)
        return scores, rows

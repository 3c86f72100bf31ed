"""FAISS over the memory-mapped fp16 store, without a copy of it.

FAISS's scalar-quantizer index of type fp16 stores exactly what the store's file holds, so the
index is given a view of the mapped pages instead of codes of its own. It answers few queries at
a time; batches go through search/halves.py, where one widening serves all queries.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import MissingExtraError
from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.ranking import BestRows

log = logging.getLogger(__name__)

Engine = Literal["faiss", "numpy"]

# Importing FAISS takes 0.2 s of CPU, as much as a hundred NumPy scans of 10k × 384. From 2**25
# elements (65k × 512) on, a NumPy scan takes 10 ms more than FAISS's, and a process that
# searches such a library has other costs of that size anyway.
_FAISS_FROM_ELEMENTS = 1 << 25
# Share of rows from which a scan with one bit test a row beats gathering the rows that pass. A
# random row costs a cache miss and a copy, a scan reads in order: at 100k × 512 they meet at
# 3 %, at 1M × 512 at 6 to 10 % (benchmarks/filtered_search.py prints the sweep).
SCAN_FROM = 0.04
_GATHER_ELEMENTS = 1 << 20  # 2 MiB of halves at a time: the copy is still in the L2 cache


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
    elif "faiss" in sys.modules:
        choice = "faiss", "FAISS is loaded already"
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
        self._own = threading.local()

    def top_k(self, queries: Singles, k: int, rows: Rows) -> tuple[Singles, Rows]:
        """Scores and rows (b, k), best first, among ``rows`` (ascending, at least k)."""
        if len(rows) == len(self._store):
            return self._search(self._whole, queries, k)
        if len(rows) >= SCAN_FROM * len(self._store):
            return self._search(self._whole, queries, k, self._bitmap(rows))
        return self._gathered(queries, k, rows)

    def _gathered(self, queries: Singles, k: int, rows: Rows) -> tuple[Singles, Rows]:
        buffer, index = self._gatherer()
        best = BestRows(len(queries), k)
        for at in range(0, len(rows), len(buffer)):
            chosen = rows[at : at + len(buffer)]
            # mode="clip" writes straight into the buffer; the default checks through a copy.
            self._raw.take(chosen, out=buffer[: len(chosen)], mode="clip")
            index.ntotal = len(chosen)
            scores, places = self._search(index, queries, min(k, len(chosen)))
            if len(chosen) == len(rows):
                return scores, chosen[places]
            best.add_each(scores, chosen[places])
        return best.sorted()

    def _gatherer(self) -> tuple[NDArray[np.void], Any]:
        """A buffer for gathered rows and an index over it, for the calling thread only."""
        if not hasattr(self._own, "gatherer"):
            size = max(1, _GATHER_ELEMENTS // self._store.shape[1])
            buffer = np.empty(size, self._raw.dtype)
            halves = buffer.view(np.float16).reshape(size, -1)
            self._own.gatherer = (buffer, self._view(halves))
        gatherer: tuple[NDArray[np.void], Any] = self._own.gatherer
        return gatherer

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

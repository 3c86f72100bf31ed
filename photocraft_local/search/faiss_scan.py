"""FAISS over the memory-mapped fp16 store, without a copy of it.

FAISS's scalar-quantizer index of type fp16 stores exactly what the store's file holds, so the
index is given a view of the mapped pages instead of codes of its own. It answers few queries at
a time; batches go through search/halves.py, where one widening serves all queries. What imports
FAISS asks ``load_faiss``.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import MissingExtraError, SearchError
from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.ranking import BestRows

# Share of rows from which a scan with one bit test a row beats gathering the rows that pass. A
# random row costs a cache miss and a copy, a scan reads in order: at 100k × 512 they meet at
# 3 %, at 1M × 512 at 6 to 10 % (benchmarks/filtered_search.py prints the sweep).
SCAN_FROM = 0.04
_GATHER_ELEMENTS = 1 << 20  # 2 MiB of halves at a time: the copy is still in the L2 cache


def load_faiss() -> Any:
    """FAISS's module. Raises MissingExtraError if it is not installed, SearchError if it is and
    cannot be loaded: faiss-gpu without NVIDIA's libraries says so by a RuntimeError."""
    try:
        import faiss
    except ImportError as exc:
        raise MissingExtraError("faiss", "cpu", "the FAISS search engine") from exc
    except (RuntimeError, OSError) as exc:
        raise SearchError(
            f"FAISS is installed but cannot be loaded: {exc}",
            hint="set vector_store = 'auto' to search without it; or install the extra 'cpu', or"
            " 'gpu' with NVIDIA's libraries",
        ) from exc
    return faiss


class FaissScan:
    """Top-k of one or a few queries over all rows or chosen ones."""

    def __init__(self, store: Halves) -> None:
        self._faiss = load_faiss()
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

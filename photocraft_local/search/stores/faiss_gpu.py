"""The store that keeps an fp16 copy of the vectors on a GPU, by FAISS's flat index.

FAISS's GPU indexes take an ``IDSelector`` and ignore it without a word, so none is ever given. A
filter either gathers: the rows that pass are copied to the GPU and searched there by themselves;
or it masks: the whole index is asked for more rows than are wanted and those that do not pass are
dropped, which is exact where enough are left. Which of both is cheaper is measured on the GPU that
is there. FAISS rounds queries to fp16; stores/exact.py makes up for it.

No GPU has run this yet: tests drive it by a stand-in for the module.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from photocraft_local.errors import SearchError
from photocraft_local.search.faiss_scan import load_faiss
from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.ranking import BestRows
from photocraft_local.search.row_lookup import Ids
from photocraft_local.search.stores.exact import settled
from photocraft_local.search.stores.store import Found, VectorStore

MOST_ROWS = 2048  # that FAISS's GPU code hands back for a query
_ERROR = 2.0**-10  # of a product with a query in fp16, twice over
_UPLOAD_ELEMENTS = 1 << 24  # float32 numbers that are added at once: 64 MiB
_GATHER_BYTES = 1 << 28  # of gathered vectors that are on the GPU at once
_SAMPLE = 4096  # rows by which the way of filtering is chosen
_MASK_SPARE = 1.2


class FaissGpuStore:
    """``beside`` is a store on the CPU over the same rows: it answers what the GPU cannot (more
    than MOST_ROWS results, all scores)."""

    name = "faiss-gpu"

    def __init__(self, store: Halves, beside: VectorStore, *, device: int = 0) -> None:
        faiss = load_faiss()
        if fault := no_gpu(faiss, device):
            raise SearchError(
                f"FAISS cannot search on a GPU here: {fault}",
                hint="set vector_store = 'auto', or install the extra 'gpu' on a machine with one",
            )
        self._faiss = faiss
        self._beside = beside
        self._lock = threading.Lock()  # FAISS's GPU resources belong to one thread at a time
        self._resources: Any = faiss.StandardGpuResources()
        config = faiss.GpuIndexFlatConfig()
        config.useFloat16 = True
        config.device = self._device = device
        self._index: Any = faiss.GpuIndexFlatIP(self._resources, store.shape[1], config)
        self._store = store[:0]
        self._seconds: tuple[float, float] | None = None
        self.filtered_by = ""  # 'gather' or 'mask': how the latest filter ran
        self.grow(store)

    @property
    def reason(self) -> str:
        return f"GPU {self._device}, {self._store.nbytes / (1 << 20):,.0f} MiB of fp16 vectors"

    def top_k(self, queries: Singles, k: int, rows: Rows | None) -> Found:
        """``VectorStore.top_k``."""
        with self._lock:
            store = self._store
        num_rows = len(store) if rows is None else len(rows)

        def chosen() -> Rows:
            return np.arange(num_rows) if rows is None else rows

        def fetch(some: Singles, wide: int) -> Found:
            if wide > MOST_ROWS:
                return self._beside.top_k(some, wide, chosen())
            with self._lock:
                # Rows may have come since this search began: they are kept out like any other.
                whole = rows is None and len(store) == len(self._store)
                return self._search(some, wide) if whole else self._within(some, wide, chosen())

        return settled(fetch, store, queries, k, num_rows, _ERROR)

    def scores(self, queries: Singles, rows: Rows | None) -> Singles:
        """``VectorStore.scores``, on the CPU: FAISS hands out the best only."""
        return self._beside.scores(queries, rows)

    def grow(self, vectors: Halves, photo_ids: Ids | None = None) -> None:
        """``VectorStore.grow``: only what is new goes to the GPU. Raises SearchError where it
        does not fit there."""
        step = max(1, _UPLOAD_ELEMENTS // vectors.shape[1])
        with self._lock:
            for at in range(int(self._index.ntotal), len(vectors), step):
                with _in_its_memory(self._device):
                    self._index.add(vectors[at : at + step].astype(np.float32))
            self._store = np.ascontiguousarray(vectors)
        self._beside.grow(vectors, np.empty(0, np.int64) if photo_ids is None else photo_ids)

    def remove(self, rows: Rows) -> None:
        """``VectorStore.remove``: the copies stay on the GPU, out of reach, to the end of the
        process."""

    def _search(self, queries: Singles, k: int) -> Found:
        with _in_its_memory(self._device):
            scores, rows = self._index.search(queries, k)
        return scores, rows

    def _within(self, queries: Singles, k: int, rows: Rows) -> Found:
        wide = math.ceil(k * len(self._store) / len(rows) * _MASK_SPARE)
        fits = wide <= min(MOST_ROWS, len(self._store))
        gather, scan = self._measured() if fits else (0.0, math.inf)
        self.filtered_by = "gather" if gather * len(rows) < scan else "mask"
        if self.filtered_by == "gather":
            return self._gathered(queries, k, rows)
        passing = np.zeros(len(self._store), np.bool_)
        passing[rows] = True
        scores, found = self._search(queries, wide)
        passes = passing[found] & (found >= 0)
        # Those that pass first, each part in its own order: the best stay ahead.
        order = np.argsort(~passes, axis=1, kind="stable")[:, :k]
        scores = np.take_along_axis(scores, order, axis=1)
        found = np.take_along_axis(found, order, axis=1)
        short = passes.sum(axis=1) < k
        if short.any():
            scores[short], found[short] = self._gathered(queries[short], k, rows)
        return scores, found

    def _gathered(self, queries: Singles, k: int, rows: Rows) -> Found:
        best = BestRows(len(queries), k)
        step = max(k, _GATHER_BYTES // (2 * self._store.shape[1]))
        # FAISS wants both sides in one type; fp16 halves what crosses the bus.
        halves = queries.astype(np.float16)
        for at in range(0, len(rows), step):
            chosen = rows[at : at + step]
            with _in_its_memory(self._device):
                scores, places = self._faiss.knn_gpu(
                    self._resources,
                    halves,
                    np.asarray(self._store[chosen]),
                    min(k, len(chosen)),
                    metric=self._faiss.METRIC_INNER_PRODUCT,
                    device=self._device,
                )
            best.add_each(scores, np.where(places >= 0, chosen[places], -1))
        return best.sorted()

    def _measured(self) -> tuple[float, float]:
        """Seconds for gathering one row, and for searching all of them, on this GPU."""
        if self._seconds is None:
            rng = np.random.default_rng(0)
            number = min(_SAMPLE, len(self._store))
            rows = np.sort(rng.choice(len(self._store), number, replace=False))
            query = np.zeros((1, self._store.shape[1]), np.float32)
            gather = _quickest(lambda: self._gathered(query, 1, rows))
            self._seconds = gather / number, _quickest(lambda: self._search(query, 1))
        return self._seconds


@contextmanager
def _in_its_memory(device: int) -> Iterator[None]:
    try:
        yield
    except RuntimeError as exc:  # what FAISS raises for all that its GPU code meets
        raise SearchError(
            f"FAISS failed on GPU {device}: {str(exc)[:200]}",
            hint="set vector_store = 'auto' to search on the CPU, or free GPU memory",
        ) from exc


def no_gpu(faiss: Any, device: int = 0) -> str:
    """Why this FAISS cannot use the GPU, '' if it can."""
    if not hasattr(faiss, "StandardGpuResources"):
        return "it is the build for CPUs (extra 'cpu')"
    number = faiss.get_num_gpus()
    return "" if number > device else f"GPU {device} is wanted, {number} are seen"


def _quickest(run: Callable[[], object]) -> float:
    spent = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        spent.append(time.perf_counter() - start)
    return min(spent)

"""The store that keeps an fp16 copy of the vectors on a GPU, by FAISS's flat index.

FAISS's GPU indexes take an ``IDSelector`` and ignore it without a word, so none is ever given. A
filter gathers: the rows that pass are copied to the GPU and searched there by themselves; or it
gathers on the device, from a second copy that torch holds there (device_rows.py), where there is
torch and room for it; or it masks: the whole index is asked for more rows than are wanted and those
that do not pass are dropped, which is exact where enough are left. Which is cheapest is measured on
the GPU that is there. Queries are rounded to fp16; stores/exact.py makes up for it.

No GPU has run this yet: tests drive it by a stand-in for the module.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from photocraft_local.errors import SearchError
from photocraft_local.search.faiss_scan import load_faiss
from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.ranking import BestRows
from photocraft_local.search.row_lookup import Ids
from photocraft_local.search.stores.device_rows import DeviceRows, quickest, torch_device
from photocraft_local.search.stores.exact import settled
from photocraft_local.search.stores.store import Found, VectorStore

MOST_ROWS = 2048  # that FAISS's GPU code hands back for a query
_ERROR = 2.0**-10  # of a product with a query in fp16, twice over
_UPLOAD_ELEMENTS = 1 << 24  # float32 numbers that are added at once: 64 MiB
_GATHER_BYTES = 1 << 28  # of gathered vectors that are on the GPU at once
_SAMPLE = 4096  # rows by which the way of filtering is chosen
_MASK_SPARE = 1.2
_log = logging.getLogger(__name__)


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
        self.filtered_by = ""  # 'gather', 'device' or 'mask': how the latest filter ran
        self._resident: DeviceRows | None = None  # made by the first filter
        self._lack = ""  # why there is none and never will be
        self.grow(store)

    @property
    def reason(self) -> str:
        held = f"GPU {self._device}, {self._store.nbytes / (1 << 20):,.0f} MiB of fp16 vectors"
        if self._lack:
            return f"{held}; filtered rows come from the host, since {self._lack}"
        if self._resident is not None:
            return f"{held}, twice, so that filtered rows are gathered there"
        return held

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
                    self._add(vectors[at : at + step].astype(np.float32))
            self._store = np.ascontiguousarray(vectors)
        self._beside.grow(vectors, np.empty(0, np.int64) if photo_ids is None else photo_ids)

    def remove(self, rows: Rows) -> None:
        """``VectorStore.remove``: the copies stay on the GPU, out of reach, to the end of the
        process."""

    def _search(self, queries: Singles, k: int) -> Found:
        with _in_its_memory(self._device):
            scores, rows = self._index.search(queries, k)
        return scores, rows

    def _add(self, vectors: Singles) -> None:
        try:
            self._index.add(vectors)
        except RuntimeError:
            if self._resident is None:
                raise
            self._go_without(SearchError("FAISS's own copy wants its memory"))
            self._index.add(vectors)

    def _within(self, queries: Singles, k: int, rows: Rows) -> Found:
        wide = math.ceil(k * len(self._store) / len(rows) * _MASK_SPARE)
        try:
            return self._by_cheapest(queries, k, rows, wide)
        except RuntimeError as exc:  # torch's, memory first of all; FAISS's are SearchErrors
            self._go_without(exc)
        return self._by_cheapest(queries, k, rows, wide)

    def _by_cheapest(self, queries: Singles, k: int, rows: Rows, wide: int) -> Found:
        self.filtered_by = self._cheapest(len(rows), wide)
        if self.filtered_by == "mask":
            return self._masked(queries, k, rows, wide)
        return self._gathered(queries, k, rows)

    def _cheapest(self, number: int, wide: int) -> str:
        """The way for ``number`` rows; ``wide`` is what a mask would ask for."""
        resident = self._followed()
        fits = wide <= min(MOST_ROWS, len(self._store))
        if not fits and resident is None:
            return "gather"
        gather, scan = self._measured()
        costs = {"device": math.inf if resident is None else resident.seconds(number)}
        costs |= {"mask": scan if fits else math.inf, "gather": gather * number}
        return min(costs, key=lambda way: costs[way])

    def _followed(self) -> DeviceRows | None:
        """The device's second copy, as long as the store. None where there is none."""
        if self._lack:
            return None
        try:
            if self._resident is None:
                self._resident = DeviceRows(*torch_device(self._device), self._store.shape[1])
            self._resident.follow(self._store)
        except (SearchError, RuntimeError) as exc:
            self._go_without(exc)
        return self._resident

    def _go_without(self, cause: Exception) -> None:
        """Say so, once: without a second copy every filter still runs."""
        self._lack = cause.message if isinstance(cause, SearchError) else str(cause)[:200]
        resident, self._resident = self._resident, None
        if resident is not None:
            resident.release()
        _log.warning("filtered rows come from the host, not from the GPU's memory: %s", self._lack)

    def _masked(self, queries: Singles, k: int, rows: Rows, wide: int) -> Found:
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
        if self._resident is not None and self.filtered_by != "gather":
            return self._resident.best(queries, k, rows)
        return self._from_host(queries, k, rows)

    def _from_host(self, queries: Singles, k: int, rows: Rows) -> Found:
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
        """Seconds for gathering one row from the host, and for searching all, on this GPU."""
        if self._seconds is None:
            rng = np.random.default_rng(0)
            number = min(_SAMPLE, len(self._store))
            rows = np.sort(rng.choice(len(self._store), number, replace=False))
            query = np.zeros((1, self._store.shape[1]), np.float32)
            gather = quickest(lambda: self._from_host(query, 1, rows))
            self._seconds = gather / number, quickest(lambda: self._search(query, 1))
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

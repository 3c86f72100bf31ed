"""Exact search inside a filter: ours over the memory-mapped fp16 store against FAISS with an
IDSelectorBitmap, and NumPy.

The peer has its vectors in memory, once as IndexFlatIP (float32) and once as a scalar quantizer
of fp16, and its bitmap ready; the faster of the two counts. We start from photo ids. Ceiling for
one query: reading the chosen rows once. Everything runs on one thread and is timed as CPU time.
``anonymous_mib`` is the largest growth of the process's anonymous memory while our index is
opened and searched (polled every 2 ms), before any peer exists.
"""

from __future__ import annotations

import os

# Before NumPy is loaded: a BLAS helper thread spins on after its product, and its CPU time would
# be counted against whatever runs next.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _common import arguments, finish, interleaved, machine, ratio, table

from photocraft_local.app.bench.search_stage import made_vectors
from photocraft_local.search.index import ExactIndex

DIM = 512
K = 50
BATCH = 64
SELECTED = 0.01
_BLOCK = 20_000


def queries(number: int) -> np.ndarray:
    rows = np.random.default_rng(6).standard_normal((number, DIM), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def anonymous_mib() -> float:
    status = Path("/proc/self/status").read_text("ascii")
    line = next(line for line in status.splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


class AnonymousPeak:
    """Largest growth of anonymous memory between enter and exit, in MiB."""

    def __enter__(self) -> AnonymousPeak:
        self.start = self.peak = anonymous_mib()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.002):
            self.peak = max(self.peak, anonymous_mib())

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.growth = max(self.peak, anonymous_mib()) - self.start


def memory_of_ours(store: np.memmap, ids: np.ndarray, chosen: np.ndarray) -> float:
    """Open, then search one and 64 queries: within 1 %, within half, and everything."""
    many = queries(BATCH)
    half = ids[::2]
    with AnonymousPeak() as peak:
        index = ExactIndex(store, ids)
        for batch in (1, BATCH) if len(ids) <= 200_000 else (1, 8):
            for within in (chosen, half, None):
                index.top_k(many[:batch], K, within)
        index.top_k(many, K, chosen)
        index.scores(many[0])
    return peak.growth


class Peers:
    """FAISS with all vectors in memory, and NumPy on the chosen rows."""

    def __init__(self, faiss: Any, store: np.memmap, rows: np.ndarray) -> None:
        metric = faiss.METRIC_INNER_PRODUCT
        quantizer = faiss.ScalarQuantizer.QT_fp16
        singles = np.empty(store.shape, np.float32)
        for at in range(0, len(store), _BLOCK):
            singles[at : at + _BLOCK] = store[at : at + _BLOCK]
        self._held = [singles, np.array(store)]  # the indexes look at these arrays
        self.flat = self._filled(faiss, faiss.IndexFlatIP(DIM), 0)
        self.halves = self._filled(faiss, faiss.IndexScalarQuantizer(DIM, quantizer, metric), 1)
        mask = np.zeros(len(store), np.bool_)
        mask[rows] = True
        bitmap = faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
        self.params = faiss.SearchParameters(sel=bitmap)

    def _filled(self, faiss: Any, index: Any, which: int) -> Any:
        """The index over one of the arrays: ``add`` would copy gigabytes again and again."""
        rows = self._held[which]
        address = faiss.cast_integer_to_void_ptr(int(rows.ctypes.data))
        vector = faiss.MaybeOwnedVectorUInt8
        index.codes = vector.create_view(address, rows.nbytes, index.codes.owner)
        index.ntotal = len(rows)
        return index

    def methods(self, vectors: np.ndarray) -> dict[str, Callable[[], Any]]:
        return {
            "FAISS Flat f32 + IDSelectorBitmap": lambda: self.flat.search(
                vectors, K, params=self.params
            ),
            "FAISS SQ fp16 + IDSelectorBitmap": lambda: self.halves.search(
                vectors, K, params=self.params
            ),
        }


def brute_force(store: np.memmap, rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """NumPy: gather, cast, multiply, partition. Scores (b, K), best first."""
    scores = vectors @ store[rows].astype(np.float32).T
    kept = np.argpartition(scores, -K, axis=1)[:, -K:]
    return -np.sort(-np.take_along_axis(scores, kept, axis=1), axis=1)


def recall(found: np.ndarray, truth: np.ndarray) -> float:
    """Share of the true top K whose score was reached; equal scores are as good."""
    return float((found >= truth - 2e-6).mean())


def measure(faiss: Any, folder: Path, n: int, quick: bool) -> dict[str, Any]:
    store = made_vectors(folder, n, DIM)
    ids = np.arange(1, n + 1)
    rows = np.sort(np.random.default_rng(7).choice(n, round(n * SELECTED), replace=False))
    chosen = ids[rows]
    anonymous = memory_of_ours(store, ids, chosen)
    index = ExactIndex(store, ids)
    peers = Peers(faiss, store, rows)
    result: dict[str, Any] = {"n": n, "anonymous_mib": round(anonymous, 1), "recall": 1.0}
    lines = []
    for batch, rounds in ((1, 31), (BATCH, 7 if n < 500_000 else 3 if quick else 7)):
        vectors = queries(batch)
        methods = {
            **peers.methods(vectors),
            "NumPy gather + cast + matmul": lambda v=vectors: brute_force(store, rows, v),
            "read of the chosen rows": lambda: np.asarray(store).view(np.uint64)[rows].max(),
            "ours": lambda v=vectors: index.top_k(v, K, chosen),
        }
        timings = interleaved(methods, rounds=rounds)
        ratios = {name: ratio(timings, name, "ours") for name in methods}
        result[f"vs_idselector_batch{batch}"] = round(
            min(value for name, value in ratios.items() if "FAISS" in name), 2
        )
        found = index.top_k(vectors, K, chosen).scores
        result["recall"] = min(result["recall"], recall(found, brute_force(store, rows, vectors)))
        lines += [
            [batch, name, f"{t.median * 1e3:.3f}", f"{t.spread:.0%}", f"{ratios[name]:.2f}"]
            for name, t in timings.items()
        ]
    print(f"\n{n} × {DIM}, {SELECTED:.0%} of them chosen, k = {K}; {index.engine_reason}")
    table(lines, ["batch", "method", "CPU ms", "spread", "time / ours"])
    if not quick:
        sweep(store, ids)
    return result


def sweep(store: np.memmap, ids: np.ndarray) -> None:
    """One query at every share of rows: the C extension, and FAISS gathering and scanning; where
    these two meet is SCAN_FROM."""
    from photocraft_local.search import faiss_scan

    ours, index = ExactIndex(store, ids), ExactIndex(store, ids, engine="faiss")
    lines = []
    kept = faiss_scan.SCAN_FROM
    for share in (0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.1, 0.3, 1.0):
        rng = np.random.default_rng(8)
        chosen = np.sort(rng.choice(ids, round(len(ids) * share), replace=False))
        line: list[object] = [f"{share:.1%}"]
        for switch in (2.0, 0.0):
            faiss_scan.SCAN_FROM = switch
            spent = interleaved({"x": lambda c=chosen: index.top_k(queries(1), K, c)}, rounds=7)
            line.append(f"{spent['x'].median * 1e3:.3f}")
        spent = interleaved({"x": lambda c=chosen: ours.top_k(queries(1), K, c)}, rounds=7)
        lines.append([*line, f"{spent['x'].median * 1e3:.3f}"])
    faiss_scan.SCAN_FROM = kept
    print("\none query, CPU ms by share of rows that pass (all rows: no filter is left to apply)")
    table(lines, ["passing", "FAISS gathered", "FAISS scanned", ours.engine])


def main() -> None:
    options = arguments(__doc__ or "")
    import faiss

    faiss.omp_set_num_threads(1)
    print(machine(["numpy", "faiss-cpu"]), f"pid {os.getpid()}")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        # The large one first: memory that an earlier run gave back would hide what it takes.
        large = measure(faiss, Path(folder), 1_000_000, options.quick)
        small = measure(faiss, Path(folder), 100_000, options.quick)
    print(f"\n{time.monotonic() - start:.0f} s")
    # A claim holds at both sizes or not at all.
    worst = {key: min(small[key], large[key]) for key in small if key.startswith("vs_")}
    by_size = {str(one["n"]): one for one in (small, large)}
    recall_at_both = min(small["recall"], large["recall"])
    finish({**large, **worst, "recall": recall_at_both, "by_n": by_size})


if __name__ == "__main__":
    main()

"""Exact search in 1 M × 512 vectors: ours over the fp16 store on disk against NumPy and FAISS with
all vectors in memory.

Without a filter the peer is NumPy's product with a float32 copy (and, for comparison, over the
fp16 file itself); in a random 1 % it is FAISS with an IDSelectorBitmap that is ready, as float32 or
as fp16, the faster of the two. We start from photo ids and a memory-mapped file that the library's
own code wrote. Everything runs on one thread in one process and is timed as CPU time, in rounds of
rotated order; medians count. Ceiling: reading the bytes of those rows once, in order.
``recall`` is the share of the true best rows, by double precision, that came back in the right
order, over all of these searches.
"""

from __future__ import annotations

import os

# Before NumPy is loaded: a BLAS helper thread spins on after its product, and its CPU time would
# be counted against whatever runs next.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _common import Timing, arguments, finish, interleaved, machine, ratio, table
from filtered_search import BATCH, DIM, SELECTED, K, Peers, queries

from photocraft_local.app.bench.search_stage import unit_blocks
from photocraft_local.search.index import ExactIndex
from photocraft_local.storage.rows import RowStore

N = 1_000_000
_SLICE = 2048  # rows that NumPy widens at once: small enough that no page is fetched anew


def written(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Ids and rows of a store of the library's own format: distinct unit vectors."""
    store = RowStore.create(folder / "space", DIM, {"encoder_id": "none", "revision": "1"})
    at = 1
    for block in unit_blocks(N, DIM):
        store.append(np.arange(at, at + len(block)), block)
        at += len(block)
    return RowStore.open(folder / "space").snapshot()


def best_of(scores: np.ndarray) -> np.ndarray:
    kept = np.argpartition(scores, -K)[-K:]
    return kept[np.argsort(-scores[kept])]


def over_file(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """NumPy without a copy of all: widened block by block."""
    parts = [
        rows[at : at + _SLICE].astype(np.float32) @ query for at in range(0, len(rows), _SLICE)
    ]
    return best_of(np.concatenate(parts))


def truth(rows: np.ndarray, some: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The best K photo ids of each query among ``chosen`` rows, by double precision."""
    scores = np.empty((len(some), len(chosen)), np.float32)
    for at in range(0, len(chosen), _SLICE):
        block = rows[chosen[at : at + _SLICE]].astype(np.float64)
        scores[:, at : at + len(block)] = some.astype(np.float64) @ block.T
    return chosen[np.argsort(-scores, axis=1, kind="stable")[:, :K]] + 1


def shown(timings: dict[str, Timing], what: str) -> list[list[object]]:
    return [
        [
            what,
            name,
            f"{t.median * 1e3:.3f}",
            f"{t.spread:.0%}",
            f"{ratio(timings, name, OURS):.2f}",
        ]
        for name, t in timings.items()
    ]


OURS = "ours"
FLOOR = "read of all rows in order (ceiling)"
CEILING = "their bytes at that rate (ceiling)"
_FILE = "NumPy over the fp16 file"


class Search:
    """What is measured, over one store."""

    def __init__(self, faiss: Any, folder: Path) -> None:
        self.ids, self.rows = written(folder)
        self.index = ExactIndex(self.rows, self.ids)
        self.chosen = np.sort(np.random.default_rng(7).choice(N, round(N * SELECTED), False))
        self.peers = Peers(faiss, self.rows, self.chosen)
        self.words = np.asarray(self.rows).view(np.uint64)
        self.singles = self.peers._held[0]
        self.lines: list[list[object]] = []
        self.result: dict[str, Any] = {"recall": 1.0}

    def unfiltered(self, rounds: int) -> None:
        one = queries(1)
        methods: dict[str, Callable[[], Any]] = {
            "NumPy float32 in memory": lambda: best_of(self.singles @ one[0]),
            "FAISS Flat float32 in memory": lambda: self.peers.flat.search(one, K),
            "FAISS SQ fp16 in memory": lambda: self.peers.halves.search(one, K),
            FLOOR: lambda: self.words.max(),
            OURS: lambda: self.index.top_k(one, K),
        }
        timings = interleaved(methods, rounds=rounds)
        # Ten times as slow: one run of it beside the others tells enough.
        slow = interleaved({_FILE: lambda: over_file(self.rows, one[0])}, rounds=1)[_FILE].median
        over = slow / timings[OURS].median
        in_memory = ratio(timings, "NumPy float32 in memory", OURS)
        self.result["vs_numpy_batch1"] = round(min(in_memory, over), 2)
        self.result["vs_numpy_over_file_batch1"] = round(over, 2)
        self.result["share_of_ceiling_batch1"] = round(ratio(timings, FLOOR, OURS), 2)
        self.read_seconds = timings[FLOOR].median
        self._check(one, None)
        self.lines += shown(timings, "all, 1 query")
        self.lines.append(["all, 1 query", _FILE, f"{slow * 1e3:.3f}", "", f"{over:.2f}"])

    def filtered(self, batch: int, rounds: int) -> None:
        some, chosen = queries(batch), self.ids[self.chosen]
        methods = {
            **self.peers.methods(some),
            OURS: lambda: self.index.top_k(some, K, chosen),
        }
        timings = interleaved(methods, rounds=rounds)
        fastest = min(ratio(timings, name, OURS) for name in methods if "FAISS" in name)
        self.result[f"vs_idselector_1pct_batch{batch}"] = round(fastest, 2)
        self._check(some, chosen)
        what = f"1 %, {batch} quer{'y' if batch == 1 else 'ies'}"
        floor, ours = self.read_seconds * SELECTED, timings[OURS].median
        self.result[f"share_of_ceiling_1pct_batch{batch}"] = round(floor / ours, 2)
        self.lines.append([what, CEILING, f"{floor * 1e3:.3f}", "", f"{floor / ours:.2f}"])
        self.lines += shown(timings, what)

    def _check(self, some: np.ndarray, chosen: np.ndarray | None) -> None:
        rows = np.arange(N) if chosen is None else self.chosen
        found = self.index.top_k(some, K, chosen).photo_ids
        right = float((found == truth(self.rows, some, rows)).mean())
        self.result["recall"] = min(self.result["recall"], right)


def main() -> None:
    options = arguments(__doc__ or "")
    import faiss

    faiss.omp_set_num_threads(1)
    print(machine(["numpy", "faiss-cpu"]), flush=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        search = Search(faiss, Path(folder))
        search.unfiltered(9 if options.quick else 31)
        search.filtered(1, 31)
        search.filtered(BATCH, 5 if options.quick else 15)
    engine = f"{search.index.engine}: {search.index.engine_reason}"
    print(f"{N:,} × {DIM}, {N * DIM * 2 / 1e9:.2f} GB on disk, k = {K}; ours is {engine}")
    table(search.lines, ["rows", "method", "CPU ms", "spread", "time / ours"])
    print(f"\n{time.monotonic() - start:.0f} s")
    finish({**search.result, "engine": search.index.engine})


if __name__ == "__main__":
    main()

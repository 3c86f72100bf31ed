"""The vector store on a GPU beside NumPy's: the same rows and scores, and how long it takes.

Figures are of this run. ``bytes_of_all`` at the GPU's memory bandwidth is the floor of a search of
everything, a share of it that of a filter.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from server_check.findings import Report

DIM = 768
K = 50
NAME = "vectors on the GPU"


def check_vectors(report: Report, num_rows: int = 1_000_000) -> None:
    """``num_rows`` × DIM vectors of random numbers, 1.5 GB for a million."""
    import numpy as np

    from photocraft_local.errors import PhotocraftError
    from photocraft_local.search.stores.faiss_gpu import FaissGpuStore
    from photocraft_local.search.stores.plain import PlainStore

    rng = np.random.default_rng(0)
    try:
        one = _drawn(rng, 1)  # opens the device, and tells at once where there is none
        FaissGpuStore(one, PlainStore(one))
    except PhotocraftError as lack:
        report.absent(NAME, lack.message)
        return
    vectors = _drawn(rng, num_rows)
    plain = PlainStore(vectors)
    start = time.perf_counter()
    store = FaissGpuStore(vectors, plain)
    upload = time.perf_counter() - start
    queries = rng.standard_normal((64, DIM)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    for share in (0.001, 0.01, 0.1, 0.5, 1.0):
        rows = np.sort(rng.choice(num_rows, max(K, round(num_rows * share)), replace=False))
        name = f"{NAME}: {share:.1%} of {num_rows:,} × {DIM} as on the CPU"
        _check_filter(report, name, store, plain, queries, None if share == 1.0 else rows)
    gather, scan = store._measured()
    report.check(
        f"{NAME}: the way of filtering is measured",
        gather > 0 and scan > 0,
        gather_row_us=round(gather * 1e6, 4),
        scan_all_ms=round(scan * 1e3, 3),
        gather_up_to_rows=int(scan / gather),
        filters=store.reason,
        upload_s=round(upload, 2),
        bytes_of_all=vectors.nbytes,
    )


def _check_filter(
    report: Report, name: str, store: Any, plain: Any, queries: Any, rows: Any
) -> None:
    """``rows`` (m,) pass, or all of them (None)."""
    import numpy as np

    found, wanted = store.top_k(queries[:4], K, rows), plain.top_k(queries[:4], K, rows)
    report.check(
        name,
        all(np.array_equal(mine, theirs) for mine, theirs in zip(found, wanted, strict=True)),
        one_query_ms=_median_ms(lambda: store.top_k(queries[:1], K, rows)),
        batch_64_ms=_median_ms(lambda: store.top_k(queries, K, rows)),
        by="no filter" if rows is None else store.filtered_by,
    )


def _drawn(rng: Any, num_rows: int) -> Any:
    import numpy as np

    vectors = np.empty((num_rows, DIM), np.float16)
    for at in range(0, num_rows, 10_000):
        block = rng.standard_normal((min(10_000, num_rows - at), DIM), dtype=np.float32)
        block /= np.linalg.norm(block, axis=1, keepdims=True)
        vectors[at : at + len(block)] = block
    return vectors


def _median_ms(run: Callable[[], object]) -> float:
    spent = []
    run()
    for _ in range(7):
        start = time.perf_counter()
        run()
        spent.append(time.perf_counter() - start)
    return round(1000 * statistics.median(spent), 3)

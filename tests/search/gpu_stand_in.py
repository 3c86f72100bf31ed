"""A stand-in for the ``faiss`` module of faiss-gpu: the calls that the store makes, with the traps
of the real one. It rounds to fp16, takes a selector and ignores it, hands back at most 2,048 rows,
puts ties in an order of its own, and runs out of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

METRIC_INNER_PRODUCT = 0
MOST = 2048


def get_num_gpus() -> int:
    return 1


class StandardGpuResources:
    pass


class GpuIndexFlatConfig:
    useFloat16 = False
    device = 0


def _best(queries: Any, rows: Any, k: int) -> tuple[Any, Any]:
    assert 1 <= k <= MOST
    scores = queries.astype(np.float16).astype(np.float32) @ rows.astype(np.float32).T
    order = np.argsort(-scores[:, ::-1], axis=1, kind="stable")[:, :k]
    found = len(rows) - 1 - order  # ties: the last row first
    best = np.take_along_axis(scores, found, axis=1)
    short = k - best.shape[1]
    return (
        np.pad(best, ((0, 0), (0, short)), constant_values=-np.inf),
        np.pad(found, ((0, 0), (0, short)), constant_values=-1),
    )


class GpuIndexFlatIP:
    def __init__(self, resources: Any, dim: int, config: GpuIndexFlatConfig) -> None:
        assert isinstance(resources, StandardGpuResources)
        assert config.useFloat16
        self.rows = np.empty((0, dim), np.float16)
        self.room = 1 << 30
        self.added: list[int] = []

    @property
    def ntotal(self) -> int:
        return len(self.rows)

    def add(self, rows: Any) -> None:
        assert rows.dtype == np.float32
        if (len(self.rows) + len(rows)) * rows.shape[1] * 2 > self.room:
            raise RuntimeError("Error in allocMemoryHandle: out of memory")
        self.rows = np.concatenate([self.rows, rows.astype(np.float16)])
        self.added.append(len(rows))

    def search(self, queries: Any, k: int, params: Any = None) -> tuple[Any, Any]:
        return _best(queries, self.rows, k)


def knn_gpu(
    resources: Any, queries: Any, rows: Any, k: int, *, metric: int, device: int
) -> tuple[Any, Any]:
    assert queries.dtype == rows.dtype == np.float16
    assert (metric, device) == (METRIC_INNER_PRODUCT, 0)
    return _best(queries, rows, k)

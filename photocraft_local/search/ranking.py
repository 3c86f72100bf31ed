"""The k best of many scores, panel by panel, with bounded memory.

Knows nothing of vectors: it is fed panels of scores and the row that each column belongs to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Rows = NDArray[np.intp]


class BestRows:
    """Keeps, for each of b queries, the k rows with the highest scores seen so far."""

    def __init__(self, num_queries: int, k: int) -> None:
        self._k = k
        self._scores = np.empty((num_queries, 0), np.float32)
        self._rows = np.empty((num_queries, 0), np.intp)

    def add(self, scores: Singles, rows: Rows) -> None:
        """Take in a panel: scores (b, m), and the m rows of its columns."""
        if self._scores.shape[1] < self._k:
            self._add_all(scores, rows)
        else:
            self._add_better(scores, rows)

    def add_each(self, scores: Singles, rows: Rows) -> None:
        """As ``add``, where each query has columns of its own: both (b, m)."""
        self._keep(
            np.concatenate([self._scores, scores], axis=1),
            np.concatenate([self._rows, rows], axis=1),
        )

    def sorted(self) -> tuple[Singles, Rows]:
        """Scores and rows (b, ≤ k), best first; among equal scores the lower row is first."""
        by_row = np.argsort(self._rows, axis=1)
        rows = np.take_along_axis(self._rows, by_row, axis=1)
        scores = np.take_along_axis(self._scores, by_row, axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")
        return (
            np.take_along_axis(scores, order, axis=1),
            np.take_along_axis(rows, order, axis=1),
        )

    def _add_all(self, scores: Singles, rows: Rows) -> None:
        if self._scores.shape[1] == 0 and scores.shape[1] > self._k:  # nothing to join it with
            best = np.argpartition(scores, -self._k, axis=1)[:, -self._k :]
            self._scores, self._rows = np.take_along_axis(scores, best, axis=1), rows[best]
        else:
            self.add_each(scores, np.broadcast_to(rows, scores.shape))

    def _keep(self, scores: Singles, rows: Rows) -> None:
        if scores.shape[1] > self._k:
            best = np.argpartition(scores, -self._k, axis=1)[:, -self._k :]
            scores = np.take_along_axis(scores, best, axis=1)
            rows = np.take_along_axis(rows, best, axis=1)
        self._scores, self._rows = scores, rows

    def _add_better(self, scores: Singles, rows: Rows) -> None:
        """Once k rows are known, few columns of a panel beat the worst of them."""
        better = np.flatnonzero(scores > self._scores.min(axis=1, keepdims=True))
        if not len(better):
            return
        num_queries = len(scores)
        query, column = np.divmod(better, scores.shape[1])
        queries = np.concatenate([np.repeat(np.arange(num_queries), self._k), query])
        pool = np.concatenate([self._scores.ravel(), scores.ravel()[better]])
        pool_rows = np.concatenate([self._rows.ravel(), rows[column]])
        order = np.lexsort((pool_rows, -pool, queries))
        starts = np.searchsorted(queries[order], np.arange(num_queries))
        best = order[starts[:, None] + np.arange(self._k)]
        self._scores, self._rows = pool[best], pool_rows[best]

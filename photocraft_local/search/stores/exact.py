"""What a score is, and how an engine that rounds differently comes to the same answer.

A score is the inner product in double precision, rounded once to single. An engine that sums in
single precision, or hands back ties in any order, is asked for a few more rows than are wanted;
once the last of them is worse than the k-th by more than both can be off, no other row can belong
to the answer, and the few are scored again here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from photocraft_local.errors import LibraryCorrupt
from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.stores.store import Found

# (queries, how many) → that many of the best rows of each query, in any order among near ties
Fetch: TypeAlias = Callable[[Singles, int], Found]

_SPARE = 8  # rows beyond k that are asked for at least
_MORE = 4  # times as many, where these were all near ties
_LONGEST_ROW = 2.0  # of the store's unit vectors: plenty


def single_precision_error(dim: int) -> float:
    """Of an inner product that is summed in single precision in any order, over the lengths."""
    return float((dim + 16) * 2.0**-24 * _LONGEST_ROW)


def settled(
    fetch: Fetch, vectors: Halves, queries: Singles, k: int, num_rows: int, error: float
) -> Found:
    """The k best among ``num_rows`` candidates as ``VectorStore.top_k`` promises them.

    ``fetch`` gets the queries in unit length, since narrow numbers have no room for much longer or
    shorter ones; ``error`` is how far one of its scores may be off.
    """
    scores = np.empty((len(queries), k), np.float32)
    rows = np.empty((len(queries), k), np.intp)
    units = _unit_length(queries)
    open_ = np.arange(len(queries))
    wide = min(num_rows, k + max(_SPARE, k // 8))
    while len(open_):
        rough, found = fetch(units[open_], wide)
        if (found < 0).any():
            raise damaged_row(None)
        rough = -np.sort(-rough, axis=1)
        done = rough[:, k - 1] - 2 * error > rough[:, -1]
        done |= wide == num_rows
        for at in np.flatnonzero(done).tolist():
            scores[open_[at]], rows[open_[at]] = _best(vectors, queries[open_[at]], found[at], k)
        open_ = open_[~done]
        wide = min(num_rows, _MORE * wide)
    return scores, rows


def _unit_length(queries: Singles) -> Singles:
    """Each query (dim,) by its length; one of zeros stays."""
    wide = queries.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    units: Singles = (wide / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return units


def _best(vectors: Halves, query: Singles, rows: Rows, k: int) -> tuple[Singles, Rows]:
    rows = np.sort(rows)
    scores = exact_scores(vectors, query, rows)
    order = np.argsort(-scores, kind="stable")[:k]
    return scores[order], rows[order]


def exact_scores(vectors: Halves, query: Singles, rows: Rows) -> Singles:
    """(m,) scores of rows (m,) for a query (dim,). Raises LibraryCorrupt for one that is none."""
    wide = query.astype(np.float64)
    scores = np.empty(len(rows), np.float32)
    step = max(1, (1 << 18) // max(1, len(query)))
    for at in range(0, len(rows), step):
        block = vectors[rows[at : at + step]].astype(np.float64)
        block *= wide
        # Not a product of matrices: this sum does not depend on where a row stands.
        block.sum(axis=1, out=(sums := np.empty(len(block))))
        scores[at : at + step] = sums
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise damaged_row(int(rows[bad[0]]))
    return scores


def damaged_row(row: int | None) -> LibraryCorrupt:
    """The error for a row that holds NaN or infinity; None: it is not known which."""
    which = "a vector" if row is None or row < 0 else f"vector {row}"
    return LibraryCorrupt(
        f"{which} of the library's store holds NaN or infinity: its file is damaged",
        hint="remove the folder of these vectors (photocraft doctor names it) and run: photocraft"
        " index; it embeds the photos anew",
    )

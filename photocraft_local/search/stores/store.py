"""What a vector store is to the rest of the search. Rows are the currency: row i is the i-th
vector of the library's file, whatever engine holds a copy of it.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.row_lookup import Ids

Found: TypeAlias = tuple[Singles, Rows]  # scores and rows, (b, k) both


class VectorStore(Protocol):
    """Exact search over n rows. Safe to use from several threads at once."""

    @property
    def name(self) -> str: ...

    @property
    def reason(self) -> str:
        """Why this store, or what it runs on, in words."""
        ...

    def top_k(self, queries: Singles, k: int, rows: Rows | None) -> Found:
        """The k best of each query, best first; among equal scores the lower row comes first.

        queries: (b, dim) float32, finite, b >= 1. ``rows``: ascending, those that may be found;
        None: all. k is at most their number. Raises LibraryCorrupt where it meets a row that
        holds no finite numbers.
        """
        ...

    def scores(self, queries: Singles, rows: Rows | None) -> Singles:
        """Inner products (b, len(rows)) in the order of ``rows``, which may be any."""
        ...

    def grow(self, vectors: Halves, photo_ids: Ids) -> None:
        """Take in the rows that stand behind those that are known: ``vectors`` (n, dim) and
        ``photo_ids`` (n,) are the file as it is now. What was copied stays. A search that runs
        meanwhile answers for the rows that it began with, or for all of these."""
        ...

    def remove(self, rows: Rows) -> None:
        """Give these rows' memory back where there is any. Never asked for again; the numbers of
        other rows stay."""
        ...

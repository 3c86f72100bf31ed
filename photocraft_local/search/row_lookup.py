"""Photo id → row of the vector file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from photocraft_local.search.halves import Rows

Ids = NDArray[np.int64]


class RowLookup:
    """Photo id → row of the store, the last one where an id occurs twice."""

    def __init__(self, ids: Ids) -> None:
        self._sorted: tuple[Ids, Rows] | None = None
        self._table: NDArray[np.int32] | None = None
        top = max(0, int(ids.max(initial=0)))
        if top < 8 * len(ids) + 1024:
            # Ids are the database's row keys, so a table is small: one look-up a photo.
            self._table = np.full(top + 1, -1, np.int32)
            kept = np.flatnonzero(ids >= 0)
            self._table[ids[kept]] = kept
        else:
            order = np.argsort(ids, kind="stable")
            self._sorted = (ids[order], order)

    def rows_of(self, photo_ids: Ids) -> Rows:
        """Row of each id, -1 where there is none."""
        if self._table is not None:
            known = (photo_ids >= 0) & (photo_ids < len(self._table))
            if known.all():
                return self._table[photo_ids].astype(np.intp)
            return np.where(known, self._table[np.where(known, photo_ids, 0)], -1).astype(np.intp)
        assert self._sorted is not None
        ids, order = self._sorted
        if not len(ids):
            return np.full(len(photo_ids), -1, np.intp)
        at = np.searchsorted(ids, photo_ids, side="right") - 1
        return np.where((at >= 0) & (ids[at] == photo_ids), order[at], -1)

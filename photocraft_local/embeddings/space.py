"""A vector space on disk: the vectors of one encoder and the photos they belong to.

Row ↔ photo goes by an explicit id column. Two encoders never share a space: the folder is named
after the four facts that make vectors comparable, and the header repeats them. The file format
is storage/rows.py; knows nothing of search.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from photocraft_local.embeddings.encoder import EncoderSpec, Vectors
from photocraft_local.errors import EncoderError
from photocraft_local.storage.rows import ERASED, RowStore, damaged

UNIT_TOLERANCE = 1e-2  # of a row's length; fp16 rounding alone stays below 1e-3

__all__ = ["ERASED", "VectorSpace", "usable_rows"]


class VectorSpace:
    """Unit vectors (n, dim) float16 and photo ids (n,) int64, row by row.

    A reader sees the rows that were complete when it opened the space, and those that it added
    itself; ``refresh`` looks again. A row whose photo was forgotten is zero and its id is -1;
    rows of photos that are gone stay until compaction, so search goes by the library's ids.
    """

    def __init__(self, store: RowStore, spec: EncoderSpec) -> None:
        self.spec = spec
        self._store = store
        self._mapped = store.rows(0)
        self.refresh()

    @classmethod
    def open(cls, folder: Path, spec: EncoderSpec, *, create: bool = False) -> VectorSpace:
        """Open the space in ``folder``, by custom ``library.spaces_folder / spec.space_id``.

        Raises LibraryNotFound, and LibraryCorrupt for a header of another encoder or dimension
        and for files that are cut short.
        """
        facts = {k: v for k, v in dataclasses.asdict(spec).items() if k not in _NOT_IDENTITY}
        store = RowStore.create(folder, spec.dim, facts) if create else RowStore.open(folder)
        if store.facts != facts or store.dim != spec.dim:
            raise damaged(
                folder,
                f"it holds vectors of {store.facts} × {store.dim}, not of {facts} × {spec.dim}",
            )
        return cls(store, spec)

    @property
    def folder(self) -> Path:
        return self._store.folder

    @property
    def made(self) -> str:
        """Tells it from a space of the same encoder that once stood in the same place."""
        return self._store.made

    @property
    def vectors(self) -> NDArray[np.float16]:
        """(n, dim) float16, memory-mapped, read-only."""
        if len(self._mapped) != len(self):
            self._mapped = self._store.rows(len(self))
        return self._mapped

    @property
    def photo_ids(self) -> NDArray[np.int64]:
        """(n,) the photo of each row; -1 where it was forgotten."""
        return self._ids[: self._count]

    def __len__(self) -> int:
        """Rows, erased ones included: the n of ``vectors`` and ``photo_ids``."""
        return self._count

    def refresh(self) -> None:
        """Take in what other processes added or erased since."""
        self._ids, self._mapped = self._store.snapshot()
        self._count = len(self._ids)
        self._known = np.zeros(1, np.bool_)
        self._mark(self._ids[self._ids > 0])

    def append(self, photo_ids: Iterable[int] | NDArray[np.int64], vectors: Vectors) -> None:
        """Add vectors (n, dim) float32 of photos; on disk when it returns, or not at all.

        Raises EncoderError for rows that are not finite or not of unit length, ValueError for
        shapes that do not fit and for photos that have a row already, StorageFull.
        """
        ids = np.asarray(photo_ids, np.int64)
        if vectors.shape != (len(ids), self.spec.dim):
            raise ValueError(f"{vectors.shape} vectors for {len(ids)} photos × {self.spec.dim}")
        bad = np.flatnonzero(~usable_rows(vectors))
        if len(bad):
            raise EncoderError(
                f"the encoder {self.spec.encoder_id!r} gave {len(bad)} of {len(ids)} vectors that "
                "are not finite or not of unit length; none of them was stored",
                hint="run: photocraft doctor",
            )
        if self._store.count != len(self):
            self.refresh()
        if len(np.unique(ids)) < len(ids) or (ids < 1).any() or len(self.pending(ids)) < len(ids):
            raise ValueError("a photo has one row, and an id above 0")
        self._store.append(ids, vectors.astype(np.float16))
        self._grow(ids)

    def pending(self, photo_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of ``photo_ids`` that have no row, in their order."""
        known = np.zeros(len(photo_ids), np.bool_)
        inside = photo_ids < len(self._known)
        known[inside] = self._known[photo_ids[inside]]
        return photo_ids[~known]

    def compact(self, keep_ids: NDArray[np.int64]) -> int:
        """Drop the rows of all other photos; returns how many. Needs room for a copy."""
        dropped = self._store.compact(np.asarray(keep_ids, np.int64))
        self.refresh()
        return dropped

    def _grow(self, ids: NDArray[np.int64]) -> None:
        """Take in rows that were just appended, at a cost that does not grow with the space."""
        needed = self._count + len(ids)
        if needed > len(self._ids):
            room = np.empty(max(needed, len(self._ids) * 2) - len(self._ids), np.int64)
            self._ids = np.concatenate([self._ids, room])
        self._ids[self._count : needed] = ids
        self._count = needed
        self._mark(ids)

    def _mark(self, ids: NDArray[np.int64]) -> None:
        """``_known[i]``: the photo i has a row. One byte a photo."""
        top = int(ids.max(initial=0))
        if top >= len(self._known):
            self._known = np.concatenate([self._known, np.zeros(top + 1, np.bool_)])
        self._known[ids] = True


_NOT_IDENTITY = {"dim", "decode_side"}


def usable_rows(vectors: Vectors) -> NDArray[np.bool_]:
    """(n,) which rows of (n, dim) are finite and of unit length."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    usable: NDArray[np.bool_] = np.abs(lengths - 1.0) < UNIT_TOLERANCE  # nan compares false
    return usable

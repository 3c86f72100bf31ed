"""A folder of fixed-width rows beside a column of ids, appended to so that a kill loses nothing.

Layout: ``header.json`` (facts about the rows, names of the two files), ``vectors.f16`` (rows),
``ids.i64`` (one little-endian int64 a row, the commit record). Rows reach the disk before their
ids do: a row counts once its id is complete, and whatever stands behind the last complete id is
a torn tail that the next append cuts. Erased rows are zeroed and their id becomes -1.
Knows nothing of photos or encoders.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import LibraryCorrupt, LibraryNotFound
from photocraft_local.storage.atomic import (
    overwrite_at,
    replace_tail,
    write_atomically,
    write_parts,
)
from photocraft_local.storage.faults import corrupt, mapped

FORMAT_VERSION = 1
ERASED = -1

HEADER = "header.json"
_HIGHEST_ID = 1 << 31  # far above the photos of a life; anything higher is no id
_COPY_ROWS = 4096
_ATTEMPTS = 3
_ENDLESS = np.uint16(0x7C00)  # the exponent's bits, all set in what is no number

Rows = NDArray[np.float16]
Ids = NDArray[np.int64]


class RowStore:
    """Rows (n, dim) float16 and ids (n,) int64, all ids above 0 but those of erased rows.

    One writer at a time (the caller's lock sees to it), readers at any time.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._adopt(_read_header(folder))

    @classmethod
    def create(cls, folder: Path, dim: int, facts: Mapping[str, Any]) -> RowStore:
        """A new store without rows; an existing one is opened as it is. ``made`` is a word by
        which a copy elsewhere tells it from one that once stood in the same place."""
        with mapped(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not (folder / HEADER).exists():
                _write_first(folder, dim, facts)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> RowStore:
        """Raises LibraryNotFound, or LibraryCorrupt if header and files do not fit."""
        store = cls(folder)
        store.snapshot()
        return store

    def snapshot(self) -> tuple[Ids, Rows]:
        """Ids and rows as they are on disk now, after other processes' appends and compactions.

        Raises LibraryCorrupt if header and files do not fit.
        """
        for _ in range(_ATTEMPTS):
            self._adopt(_read_header(self.folder))
            # A compaction between reading the header and the files takes the files away.
            if self._files_exist():
                self._check_sizes()
                ids = self.ids()  # before the rows: each id that is read has its row
                self._check_ids(ids)
                return ids, self.rows(len(ids))
        raise damaged(self.folder, "a file that its header names is gone")

    @property
    def count(self) -> int:
        """Complete rows on disk now, erased ones included."""
        return _size(self._ids_path) // 8

    def rows(self, count: int) -> Rows:
        """The first ``count`` rows, memory-mapped and read-only."""
        if count == 0:
            return np.empty((0, self.dim), np.float16)
        with mapped(self._rows_path):
            return np.memmap(self._rows_path, np.float16, "r", shape=(count, self.dim))

    def ids(self) -> Ids:
        """A copy of the id column, row by row; -1 where a row was erased."""
        with mapped(self._ids_path):
            raw = self._ids_path.read_bytes()
        return np.frombuffer(raw, "<i8", count=len(raw) // 8).astype(np.int64)

    def check_numbers(self) -> None:
        """Reads all rows. Raises LibraryCorrupt where one holds NaN or infinity."""
        _, rows = self.snapshot()
        bits = rows.view(np.uint16)
        for at in range(0, len(bits), _COPY_ROWS):
            bad = ((bits[at : at + _COPY_ROWS] & _ENDLESS) == _ENDLESS).any(axis=1)
            if bad.any():
                row = at + int(bad.argmax())
                raise damaged(self._rows_path, f"row {row} holds NaN or infinity")

    def append(self, ids: Ids, rows: Rows) -> None:
        """Add rows; they count only when everything is on disk. A failure leaves what was.

        Raises StorageFull.
        """
        count = self.count
        with mapped(self._rows_path):
            replace_tail(self._rows_path, count * self._row_bytes, rows.tobytes())
            replace_tail(self._ids_path, count * 8, ids.astype("<i8").tobytes())

    def erase(self, ids: Ids) -> int:
        """Zero the rows of these ids and drop the ids at once. Returns how many there were."""
        where = np.flatnonzero(np.isin(self.ids(), ids)).tolist()
        if where:
            zeros = bytes(self._row_bytes)
            gone = np.array(ERASED, "<i8").tobytes()
            with mapped(self.folder):
                overwrite_at(self._rows_path, [row * self._row_bytes for row in where], zeros)
                overwrite_at(self._ids_path, [row * 8 for row in where], gone)
        return len(where)

    def compact(self, keep: Ids) -> int:
        """Rewrite the store with the rows of ``keep`` only, in their order; returns the number
        dropped. One rename switches to the new files, so a kill leaves the old state or the new
        one; open readers see the old files until they open the store again."""
        ids = self.ids()
        wanted = np.flatnonzero(np.isin(ids, keep) & (ids > 0))
        if len(wanted) == len(ids):
            return 0
        generation = self._generation + 1
        names = (f"vectors-{generation}.f16", f"ids-{generation}.i64")
        old = (self._rows_path, self._ids_path)
        with mapped(self.folder):
            write_parts(self.folder / names[0], self._parts(wanted, len(ids)))
            write_parts(self.folder / names[1], [ids[wanted].astype("<i8").tobytes()])
            _write_header(self.folder, self.dim, self.facts, generation, names, self.made)
            self._adopt(_read_header(self.folder))
            for path in old:
                path.unlink()
        return len(ids) - len(wanted)

    def _adopt(self, header: Mapping[str, Any]) -> None:
        self.dim: int = header["dim"]
        self.facts: dict[str, Any] = header["facts"]
        self.made = str(header.get("made", ""))  # '' in folders of an older release
        self._generation: int = header["generation"]
        self._rows_path: Path = self.folder / header["files"][0]
        self._ids_path: Path = self.folder / header["files"][1]

    @property
    def _row_bytes(self) -> int:
        return 2 * self.dim

    def _parts(self, wanted: NDArray[np.intp], total: int) -> Iterator[bytes]:
        rows = self.rows(total)
        for start in range(0, len(wanted), _COPY_ROWS):
            yield rows[wanted[start : start + _COPY_ROWS]].tobytes()

    def _files_exist(self) -> bool:
        return self._rows_path.exists() and self._ids_path.exists()

    def _check_sizes(self) -> None:
        # Ids are read first: a writer puts rows on disk before their ids.
        needed = self.count * self._row_bytes
        found = _size(self._rows_path)
        if found < needed:
            raise damaged(
                self._rows_path,
                f"{self.count} vectors of {self.dim} numbers need {needed} bytes, it has {found}",
            )

    def _check_ids(self, ids: Ids) -> None:
        if len(ids) and (ids.max() > _HIGHEST_ID or ids.min() < ERASED or not ids.all()):
            raise damaged(self._ids_path, "it holds numbers that are no ids of photos")


def damaged(path: Path, cause: str) -> LibraryCorrupt:
    """The error for a store that cannot be used. Vectors are derived data: they can be made anew
    and the library keeps everything else."""
    folder = path if path.is_dir() else path.parent
    return corrupt(
        path,
        cause,
        hint=f"remove the folder {folder} and run: photocraft index; it embeds the photos anew",
    )


def _read_header(folder: Path) -> dict[str, Any]:
    path = folder / HEADER
    try:
        with mapped(path):
            text = path.read_bytes() if path.exists() else None
        if text is None:
            raise LibraryNotFound(f"there are no vectors in {folder}", hint="run: photocraft index")
        header = json.loads(text)
        version, dim = header["format"], header["dim"]
        complete = (
            len(header["files"]) == 2
            and all(Path(name).name == name for name in header["files"])  # none of another folder
            and isinstance(header["facts"], dict)
            and isinstance(header["generation"], int)
            and type(dim) is int
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise damaged(path, f"it is no header of vectors ({exc!r})") from exc
    if version != FORMAT_VERSION or not complete or dim < 1:
        raise damaged(path, f"format {version!r} with {dim!r} numbers a vector is not readable")
    return dict(header)


def _write_first(folder: Path, dim: int, facts: Mapping[str, Any]) -> None:
    names = ("vectors.f16", "ids.i64")
    for name in names:
        write_parts(folder / name, [])
    _write_header(folder, dim, facts, 1, names, secrets.token_hex(4))


def _write_header(
    folder: Path,
    dim: int,
    facts: Mapping[str, Any],
    generation: int,
    names: tuple[str, str],
    made: str,
) -> None:
    header = {
        "format": FORMAT_VERSION,
        "dim": dim,
        "facts": dict(facts),
        "generation": generation,
        "files": names,
        "made": made,
    }
    write_atomically(folder / HEADER, json.dumps(header, indent=1, sort_keys=True).encode())


def _size(path: Path) -> int:
    with mapped(path):
        return path.stat().st_size

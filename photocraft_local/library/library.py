"""The library folder and its photos: open it, read photos, columns, events and crops.

The one object that the layers above hold. Changes are in sync.py, forget.py and compact.py;
knows nothing of what vectors mean, of search or of models.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import UnknownPhoto
from photocraft_local.library import compact, events, forget, old_crops, status
from photocraft_local.library.columns import LibraryColumns, read_columns
from photocraft_local.library.crops import Box, Crop, CropStore
from photocraft_local.library.folder import DATABASE, LOCK, SPACES, prepare_folder
from photocraft_local.library.named_places import NamedPlaceStore
from photocraft_local.library.names import FlagTable
from photocraft_local.library.rows import PhotoReader
from photocraft_local.library.schema import MIGRATIONS, PhotoState
from photocraft_local.library.uids import normalise, one_slip_away, split_crop
from photocraft_local.records import Event, Photo, Skipped
from photocraft_local.settings import Settings
from photocraft_local.storage.database import Database
from photocraft_local.storage.faults import mapped
from photocraft_local.storage.lock import WriteLock

_SHORTEST_BUSY_SECONDS = 1.0  # other processes' transactions are shorter
_PRESENT = int(PhotoState.PRESENT)
NO_EVENTS = "off"  # what the library has events of, where they are switched off


class Library:
    """One library folder. Use ``Library.open`` as a context manager."""

    def __init__(self, path: Path, database: Database, settings: Settings) -> None:
        self.path = path
        self.settings = settings
        self.database = database
        self.flags = FlagTable(database)
        self.spaces_folder = path / SPACES
        self.forget_hooks: list[Callable[[forget.Forgotten], None]] = []
        """Called for each forgotten photo; must bear being called again after a crash."""
        self.crops = CropStore(database, path / "crops")
        self.named_places = NamedPlaceStore(self)
        self._lock = WriteLock(path / LOCK)
        self._offline_roots = _offline_roots(database)

    @classmethod
    def open(cls, path: Path, *, create: bool = False, settings: Settings) -> Library:
        """Open a library folder (mode 0700), or make one.

        Raises LibraryNotFound, LibraryTooNew, LibraryCorrupt, LibraryLocked, StorageFull, and
        UsageError for a file or a folder that holds something else.
        """
        path = path.expanduser().absolute()
        with mapped(path):
            prepare_folder(path, create)
        busy = max(_SHORTEST_BUSY_SECONDS, settings.lock_wait_seconds)
        database = Database.open(path / DATABASE, MIGRATIONS, create=create, busy_seconds=busy)
        try:
            return cls(path, database, settings)
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- photos

    def photos(self, *, include_offline: bool = True) -> Iterator[Photo]:
        """Present photos by ascending id; those whose files are gone never come."""
        for photo in self._reader().read(self.present_ids().tolist()):
            if include_offline or not photo.offline:
                yield photo

    def photo(self, uid: str) -> Photo:
        """The photo of a UID; for a crop's UID its parent. Raises UnknownPhoto."""
        wanted = normalise(uid)
        crop = split_crop(wanted)
        photo_id = self.database.value(
            f"SELECT photo_id FROM photos WHERE uid = ? AND state = {_PRESENT}",  # noqa: S608
            (crop[0] if crop else wanted,),
        )
        found = [] if photo_id is None else list(self._reader().read([photo_id]))
        if not found:
            raise self.unknown(uid)
        return found[0]

    def unknown(self, uid: str) -> UnknownPhoto:
        """The error for a UID that is not there, with near matches in its hint."""
        return UnknownPhoto(
            f"there is no photo {uid!r} in this library", hint=self._near(normalise(uid))
        )

    def photos_by_id(self, ids: Iterable[int]) -> dict[int, Photo]:
        """Present photos among ``ids``, in the order of ``ids``."""
        wanted = [int(photo_id) for photo_id in ids]
        found = {photo.photo_id: photo for photo in self._reader().read(wanted)}
        return {photo_id: found[photo_id] for photo_id in wanted if photo_id in found}

    def count(self) -> int:
        """Number of present photos."""
        return int(
            self.database.value(f"SELECT count(*) FROM photos WHERE state = {_PRESENT}")  # noqa: S608
        )

    def present_ids(self) -> NDArray[np.int64]:
        """Ids of all present photos, ascending."""
        return self.database.integers(
            f"SELECT photo_id FROM photos WHERE state = {_PRESENT} ORDER BY photo_id"  # noqa: S608
        )

    def columns(self) -> LibraryColumns:
        """All present photos as NumPy columns."""
        return read_columns(self.database, self.flags, self._offline_roots, self.generation())

    # --- the rest

    def roots(self) -> list[bytes]:
        """The folders that were indexed, offline ones too."""
        return [path for (path,) in self.database.rows("SELECT path FROM roots ORDER BY path")]

    def offline_roots(self) -> list[bytes]:
        """Those of ``roots`` that are not mounted now."""
        rows = self.database.rows("SELECT root_id, path FROM roots ORDER BY path")
        return [path for root_id, path in rows if root_id in self._offline_roots]

    def skipped(self) -> list[Skipped]:
        """Every file that was found but is no photo of the library, and why; by path."""
        return status.skipped(self.database)

    def status(self) -> status.LibraryCounts:
        """Counts, skipped files and roots."""
        offline = int(self.columns().offline.sum())
        return status.read_status(self.database, offline, self.roots(), self.offline_roots())

    def events(self) -> list[Event]:
        """Events by start time; computed at the end of each sync."""
        return events.read_events(self.database)

    @property
    def has_events(self) -> bool:
        """Whether syncs compute them."""
        sql = "SELECT value FROM meta WHERE key = 'events_of'"
        return bool(self.database.value(sql) != NO_EVENTS)

    def generation(self) -> int:
        """A number that changes with each committed change of photos; crops are none."""
        return int(self.database.value("SELECT value FROM meta WHERE key = 'generation'"))

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Hold the library for writing; a thread that holds it may take it again.

        Raises LibraryLocked, naming the holder, after ``settings.lock_wait_seconds``.
        """
        with self._lock.hold(self.settings.lock_wait_seconds):
            forget.finish_pending(self)
            yield

    @contextmanager
    def changes(self) -> Iterator[Database]:
        """One transaction, which gives the library a new generation."""
        try:
            with self.database.transaction():
                yield self.database
                self.database.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
        except BaseException:
            self.flags.reload()
            raise

    def mark_unusable(self, photo_id: int, reason: str, message: str) -> None:
        """Its pixels cannot be used: out of the photos, into ``skipped``. Inside ``changes``."""
        self.database.execute(
            "UPDATE photos SET state = ?, reason = ?, message = ?, event_id = NULL, trip_id = NULL"
            " WHERE photo_id = ?",
            (int(PhotoState.UNUSABLE), reason, message, photo_id),
        )

    def add_flags(self, photo_id: int, words: Iterable[str]) -> None:
        """Doubts that only decoding showed. Inside ``changes``."""
        self.database.execute(
            "UPDATE photos SET flags = flags | ? WHERE photo_id = ?",
            (self.flags.mask(words), photo_id),
        )

    def refresh_roots(self) -> None:
        """Look again which roots are mounted."""
        self._offline_roots = _offline_roots(self.database)

    def forget(self, uid: str) -> forget.Forgotten:
        """Remove all that is known of one photo, or one crop; see forget.py."""
        return forget.forget(self, uid)

    def compact(self) -> compact.Compacted:
        """Drop photos that are gone from disk, and vectors of no photo; see compact.py."""
        return compact.compact(self)

    def remove_root(self, root: bytes) -> int:
        """Stop knowing a folder; see compact.py."""
        return compact.remove_root(self, root)

    # --- crops

    def add_crop(self, parent_uid: str, box: Box, png: bytes) -> str:
        """Keep a crop (upright pixels of the parent); its UID, the same for the same box."""
        parent = self.photo(parent_uid)
        # No new generation: a question that zooms in is not the one that changes the library.
        with self.database.transaction():
            return self.crops.add(parent.photo_id, parent.uid, box, png)

    def crop(self, uid: str) -> Crop:
        """Raises UnknownPhoto."""
        return self.crops.get(normalise(uid))

    def crop_picture(self, uid: str) -> Path:
        """The file of a crop, cut again if it was cleared. Raises UnknownPhoto, UnreadablePhoto."""
        return old_crops.picture_of(self, self.crop(uid))

    def space_folders(self) -> list[Path]:
        """Folders of the vector spaces, one an encoder that was ever used."""
        if not self.spaces_folder.is_dir():
            return []
        return sorted(path.parent for path in self.spaces_folder.glob("*/header.json"))

    def _reader(self) -> PhotoReader:
        return PhotoReader(self.database, self.flags, self._offline_roots)

    def _near(self, uid: str) -> str:
        candidates = list(set(one_slip_away(uid[:12])))
        found: list[str] = []
        for start in range(0, len(candidates), 500):
            piece = candidates[start : start + 500]
            marks = ",".join("?" * len(piece))
            sql = f"SELECT uid FROM photos WHERE state = {_PRESENT} AND uid IN ({marks})"  # noqa: S608
            found += [row[0] for row in self.database.rows(sql, piece)]
        if found:
            return f"did you mean {', '.join(sorted(found)[:5])}?"
        return "UIDs are listed by: photocraft list"


def _offline_roots(database: Database) -> frozenset[int]:
    rows = database.rows("SELECT root_id, path, online FROM roots")
    return frozenset(
        root_id
        for root_id, path, online in rows
        if not online or not Path(os.fsdecode(path)).is_dir()
    )

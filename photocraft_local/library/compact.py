"""Giving room back: photos that are gone from disk, their crops, rows of vectors that belong to
no photo, and pictures of crops that nobody used for long (old_crops.py). Killed at any moment, it
leaves a library that a later run compacts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from photocraft_local.errors import UsageError
from photocraft_local.library import old_crops, spaces
from photocraft_local.library.schema import FileState, PhotoState, Role
from photocraft_local.records import path_text
from photocraft_local.storage.rows import RowStore

if TYPE_CHECKING:
    from photocraft_local.library.library import Library


@dataclass(frozen=True, slots=True)
class Compacted:
    """What was dropped; ``vectors`` counts rows in the spaces of all encoders."""

    photos: int
    vectors: int
    crops: int  # pictures of crops that were cleared
    crop_bytes: int


_GONE = f"""
SELECT photo_id, uid FROM photos WHERE state != {int(PhotoState.PRESENT)} AND NOT EXISTS (
    SELECT 1 FROM files WHERE files.photo_id = photos.photo_id AND role = {int(Role.PHOTO)}
      AND files.state != {int(FileState.MISSING)})"""  # noqa: S608


def compact(library: Library) -> Compacted:
    """Drop what belongs to no file any more. Raises LibraryLocked, StorageFull."""
    with library.write_lock():
        gone = library.database.rows(_GONE)
        ids = [(photo_id,) for photo_id, _ in gone]
        # Rows first: a vector without a photo is harmless, ids are never given out twice.
        with library.changes() as database:
            database.execute_many("DELETE FROM files WHERE photo_id = ?", ids)
            database.execute_many("DELETE FROM crops WHERE parent_id = ?", ids)
            database.execute_many("DELETE FROM photos WHERE photo_id = ?", ids)
        for _, uid in gone:
            library.crops.remove_files(uid)
        keep = library.database.integers("SELECT photo_id FROM photos")
        spaces.sweep(library)
        stores = [RowStore.open(folder) for folder in library.space_folders()]
        vectors = sum(store.compact(keep) for store in stores)
        settings = library.settings
        most = settings.crops_megabytes * 1_000_000
        cleared = old_crops.clear(library, most_bytes=most, days=settings.crops_days)
        library.database.vacuum()
    return Compacted(len(gone), vectors, cleared.crops, cleared.size)


def remove_root(library: Library, root: bytes) -> int:
    """Stop knowing a folder, mounted or not; its photos are missing unless another folder holds
    them, and come back with their vectors if it is indexed again before a compaction.

    Returns the number of photos that went missing. Raises UsageError for an unknown folder.
    """
    with library.write_lock():
        root_id = library.database.value("SELECT root_id FROM roots WHERE path = ?", (root,))
        if root_id is None:
            known = ", ".join(path_text(path) for path in library.roots()) or "none"
            raise UsageError(
                f"the folder {path_text(root)} was never indexed", hint=f"indexed folders: {known}"
            )
        with library.changes() as database:
            database.execute("DELETE FROM files WHERE root_id = ?", (root_id,))
            database.execute("DELETE FROM roots WHERE root_id = ?", (root_id,))
            lost = database.change(
                "UPDATE photos SET state = ?, event_id = NULL, trip_id = NULL WHERE state = ?"
                " AND NOT EXISTS (SELECT 1 FROM files WHERE files.photo_id = photos.photo_id"
                " AND role = ? AND files.state != ?)",
                (
                    int(PhotoState.MISSING),
                    int(PhotoState.PRESENT),
                    int(Role.PHOTO),
                    int(FileState.MISSING),
                ),
            )
        library.refresh_roots()
        return lost

"""Forgetting one photo for good: vector, crops, rows, and whatever the hooks know of it.

The wish is recorded first, in the transaction that takes the photo out of every result; a kill
at any later moment is made good when the library is next opened for writing. Only the digest
stays, so that indexing does not bring the photo back while its file is still there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from photocraft_local.files.fingerprint import digest_file
from photocraft_local.library.schema import Role
from photocraft_local.library.uids import normalise, split_crop
from photocraft_local.storage.rows import RowStore

if TYPE_CHECKING:
    from photocraft_local.library.library import Library

REASON = "forgotten"
MESSAGE = "forgotten on request; the file itself was not touched"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten. ``photo_id`` is 0 for a single crop."""

    uid: str
    photo_id: int


def forget(library: Library, uid: str) -> Forgotten:
    """Forget a photo, or one crop by the crop's UID. Raises UnknownPhoto."""
    crop = split_crop(normalise(uid))
    with library.write_lock():
        if crop:
            return _forget_crop(library, normalise(uid), crop[1])
        photo_id, uid, digest = _row(library, uid)
        with library.changes() as database:
            database.execute(
                "INSERT OR REPLACE INTO forgotten VALUES (?, ?, ?)", (digest, photo_id, uid)
            )
            database.execute(
                "UPDATE files SET role = ?, photo_id = NULL, reason = ?, message = ?"
                " WHERE photo_id = ?",
                (int(Role.SKIPPED), REASON, MESSAGE, photo_id),
            )
            database.execute("DELETE FROM crops WHERE parent_id = ?", (photo_id,))
            database.execute("DELETE FROM photos WHERE photo_id = ?", (photo_id,))
        finish_pending(library)
        return Forgotten(uid, photo_id)


def finish_pending(library: Library) -> None:
    """Do what is left of every recorded wish; the caller holds the write lock."""
    pending = library.database.rows("SELECT uid, photo_id FROM forgotten WHERE uid IS NOT NULL")
    for uid, photo_id in pending:
        _erase_vectors(library, photo_id)
        library.crops.remove_files(uid)
        for hook in library.forget_hooks:
            hook(Forgotten(uid, photo_id))
        with library.changes() as database:
            database.execute(
                "UPDATE forgotten SET uid = NULL, photo_id = NULL WHERE photo_id = ?", (photo_id,)
            )
        library.database.checkpoint()  # the log still holds the deleted rows


def remember(library: Library, path: bytes) -> bool:
    """Take back the wish for the photo at ``path``: the next sync indexes it again.

    False if no such wish is known. Raises PhotoError if the file cannot be read.
    """
    digest = bytes.fromhex(digest_file(path))
    with library.write_lock(), library.changes() as database:
        if database.value("SELECT 1 FROM forgotten WHERE digest = ?", (digest,)) is None:
            return False
        database.execute("DELETE FROM forgotten WHERE digest = ?", (digest,))
        database.execute("UPDATE files SET size = -1 WHERE reason = ?", (REASON,))
        return True


def _row(library: Library, uid: str) -> tuple[int, str, bytes]:
    """Id, UID and digest of a photo in any state: a deleted one can be forgotten as well."""
    sql = "SELECT photo_id, uid, digest FROM photos WHERE uid = ?"
    found = library.database.row(sql, (normalise(uid),))
    if found is None:
        raise library.unknown(uid)
    return found[0], found[1], found[2]


def _forget_crop(library: Library, uid: str, number: int) -> Forgotten:
    crop = library.crop(uid)
    parent = library.photo(crop.parent_uid)
    with library.changes():
        library.crops.remove(parent.photo_id, parent.uid, number)
    for hook in library.forget_hooks:
        hook(Forgotten(uid, 0))
    return Forgotten(uid, 0)


def _erase_vectors(library: Library, photo_id: int) -> None:
    """Zero the photo's row in every vector space, those of earlier encoders too."""
    for folder in library.space_folders():
        RowStore.open(folder).erase(np.array([photo_id], np.int64))

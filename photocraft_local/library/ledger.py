"""What a sync writes: file rows, photo rows and how the two follow each other.

Every method but ``known`` needs the caller's transaction. Knows nothing of walking or reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from photocraft_local.files.walk import FoundFile
from photocraft_local.library.forget import MESSAGE as FORGOTTEN_MESSAGE
from photocraft_local.library.forget import REASON as FORGOTTEN
from photocraft_local.library.inspect import Inspected
from photocraft_local.library.names import FlagTable, camera_id, place_id
from photocraft_local.library.roots import signed
from photocraft_local.library.rows import seconds_of
from photocraft_local.library.schema import FileState, PhotoState, Role
from photocraft_local.library.uids import make_uid
from photocraft_local.records import FileMetadata, PlaceName
from photocraft_local.storage.database import Database

ANY_TIME = -1  # as a size: the file is looked into again whatever its size and time say

_KNOWN = """
SELECT path, file_id, state, role, photo_id, size, mtime_ns, device,
       sidecar, sidecar_mtime_ns, reason
FROM files WHERE path IN ({marks})"""

_PUT_FILE = """
INSERT INTO files (root_id, path, state, role, photo_id, size, mtime_ns, inode, device,
                   sidecar, sidecar_mtime_ns, reason, message)
VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (path) DO UPDATE SET root_id = excluded.root_id, state = 0, role = excluded.role,
    photo_id = excluded.photo_id, size = excluded.size, mtime_ns = excluded.mtime_ns,
    inode = excluded.inode, device = excluded.device, sidecar = excluded.sidecar,
    sidecar_mtime_ns = excluded.sidecar_mtime_ns, reason = excluded.reason,
    message = excluded.message
RETURNING file_id"""

_LOSE = f"""
UPDATE photos SET state = {int(PhotoState.MISSING)}, event_id = NULL, trip_id = NULL
WHERE photo_id = ? AND state = {int(PhotoState.PRESENT)} AND NOT EXISTS (
    SELECT 1 FROM files WHERE files.photo_id = photos.photo_id AND role = {int(Role.PHOTO)}
      AND files.state != {int(FileState.MISSING)})"""  # noqa: S608


class KnownFile(NamedTuple):
    """A row of ``files``."""

    file_id: int
    state: int
    role: int
    photo_id: int | None
    size: int
    mtime_ns: int
    device: int
    sidecar: bytes | None
    sidecar_mtime_ns: int | None
    reason: str


class KnownPhoto(NamedTuple):
    photo_id: int
    state: int
    has_time: bool
    has_position: bool


class Ledger:
    """Writes of one sync."""

    def __init__(self, database: Database, flags: FlagTable) -> None:
        self._database = database
        self._flags = flags

    def known(self, paths: Sequence[bytes]) -> dict[bytes, KnownFile]:
        """Rows of these paths; at most a few hundred at a time."""
        sql = _KNOWN.format(marks=",".join("?" * len(paths)))
        return {row[0]: KnownFile(*row[1:]) for row in self._database.rows(sql, paths)}

    def photo_of(self, digest: bytes) -> KnownPhoto | None:
        row = self._database.row(
            "SELECT photo_id, state, taken_seconds IS NOT NULL, latitude IS NOT NULL"
            " FROM photos WHERE digest = ?",
            (digest,),
        )
        return KnownPhoto(row[0], row[1], bool(row[2]), bool(row[3])) if row else None

    def is_forgotten(self, digest: bytes) -> bool:
        sql = "SELECT 1 FROM forgotten WHERE digest = ?"
        return self._database.value(sql, (digest,)) is not None

    def add_photo(self, found: Inspected) -> int:
        """A new photo; its id."""
        photo_id = self._database.execute(
            "INSERT INTO photos (uid, digest, format, width, height) VALUES (?, ?, ?, ?, ?)",
            (
                make_uid(found.digest, self._is_taken),
                found.digest,
                found.metadata.format,
                found.metadata.width,
                found.metadata.height,
            ),
        )
        self.describe(photo_id, found.metadata)
        return photo_id

    def describe(self, photo_id: int, metadata: FileMetadata) -> None:
        """Set everything that a header or sidecar says; place names are looked up later, unless an
        address was given."""
        taken, point, address = metadata.taken, metadata.location, metadata.address
        place = PlaceName(address, "", "", "", 0.0) if address else None
        time_flags = self._flags.mask(taken.flags if taken else ())
        self._database.execute(
            "UPDATE photos SET taken_seconds = ?, taken_micros = ?, offset_minutes = ?,"
            " time_source = ?, time_flags = ?, latitude = ?, longitude = ?, place_id = ?,"
            " place_km = ?, place_asked = ?, camera_id = ?, flags = ? WHERE photo_id = ?",
            (
                seconds_of(taken.local) if taken else None,
                taken.local.microsecond if taken else 0,
                taken.offset_minutes if taken else None,
                taken.source if taken else "",
                time_flags,
                point.latitude if point else None,
                point.longitude if point else None,
                place_id(self._database, place) if place else None,
                place.distance_km if place else None,
                int(place is not None),
                camera_id(self._database, metadata.camera),
                self._flags.mask(metadata.flags) | time_flags,
                photo_id,
            ),
        )

    def put_photo_file(self, root_id: int, found: Inspected, photo_id: int) -> int:
        """The lead of a group holds this photo; its row's id."""
        group = found.group
        sidecar = group.sidecar
        return self._put(
            root_id,
            group.lead,
            Role.PHOTO,
            photo_id=photo_id,
            sidecar=sidecar.path if sidecar else None,
            sidecar_mtime_ns=sidecar.mtime_ns if sidecar else None,
        )

    def put_companion(self, root_id: int, file: FoundFile, photo_id: int) -> int:
        return self._put(root_id, file, Role.COMPANION, photo_id=photo_id)

    def put_skipped(
        self, root_id: int, file: FoundFile, reason: str, message: str, *, retry: bool = False
    ) -> int:
        size = ANY_TIME if retry else file.size
        return self._put(root_id, file, Role.SKIPPED, reason=reason, message=message, size=size)

    def put_forgotten(self, root_id: int, file: FoundFile) -> int:
        return self.put_skipped(root_id, file, FORGOTTEN, FORGOTTEN_MESSAGE)

    def set_file_state(self, file_ids: Iterable[int], state: FileState) -> None:
        self._database.execute_many(
            "UPDATE files SET state = ?, reason = iif(role = 2, reason, ''),"
            " message = iif(role = 2, message, '') WHERE file_id = ?",
            ((int(state), file_id) for file_id in file_ids),
        )

    def set_unreachable(self, file_id: int, reason: str, message: str) -> None:
        """A known file that cannot be looked at now: kept, and reported."""
        self._database.execute(
            "UPDATE files SET state = ?, reason = ?, message = ? WHERE file_id = ?",
            (int(FileState.CLOSED), reason, message, file_id),
        )

    def set_device(self, moved: Iterable[tuple[int, int]]) -> None:
        """(device, file_id) pairs: device numbers change when drives are mounted anew."""
        self._database.execute_many("UPDATE files SET device = ? WHERE file_id = ?", moved)

    def drop_files(self, file_ids: Iterable[int]) -> None:
        self._database.execute_many(
            "DELETE FROM files WHERE file_id = ?", ((file_id,) for file_id in file_ids)
        )

    def lose_if_gone(self, photo_id: int) -> bool:
        """Mark a photo missing if no path holds it any more; whether it became so."""
        return self._database.change(_LOSE, (photo_id,)) > 0

    def restore_if_missing(self, photo_id: int) -> bool:
        """Mark a missing photo present; whether it was missing."""
        sql = "UPDATE photos SET state = ? WHERE photo_id = ? AND state = ?"
        states = (int(PhotoState.PRESENT), photo_id, int(PhotoState.MISSING))
        return self._database.change(sql, states) > 0

    def has_other_path(self, photo_id: int) -> bool:
        sql = "SELECT 1 FROM files WHERE photo_id = ? AND role = ? AND state != ?"
        states = (photo_id, int(Role.PHOTO), int(FileState.MISSING))
        return self._database.value(sql, states) is not None

    def _is_taken(self, uid: str) -> bool:
        return self._database.value("SELECT 1 FROM photos WHERE uid = ?", (uid,)) is not None

    def _put(
        self,
        root_id: int,
        file: FoundFile,
        role: Role,
        *,
        photo_id: int | None = None,
        size: int | None = None,
        sidecar: bytes | None = None,
        sidecar_mtime_ns: int | None = None,
        reason: str = "",
        message: str = "",
    ) -> int:
        values = (
            root_id,
            file.path,
            int(role),
            photo_id,
            file.size if size is None else size,
            file.mtime_ns,
            signed(file.inode),
            signed(file.device),
            sidecar,
            sidecar_mtime_ns,
            reason,
            message,
        )
        return int(self._database.value(_PUT_FILE, values))

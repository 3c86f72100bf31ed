"""Crops: parts of a photo that have a UID and a PNG of their own, made while a question runs.

One crop a parent and box. The files live in the library folder; knows nothing of pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from photocraft_local.errors import UnknownPhoto
from photocraft_local.library.uids import split_crop
from photocraft_local.storage.atomic import write_atomically
from photocraft_local.storage.database import Database
from photocraft_local.storage.faults import mapped

Box = tuple[int, int, int, int]  # x1, y1, x2, y2 in upright pixels of the parent, x2, y2 outside


@dataclass(frozen=True, slots=True)
class Crop:
    uid: str
    parent_uid: str
    box: Box
    path: Path  # a PNG file, unless it was cleared: old_crops.py cuts it again


class CropStore:
    """Rows in the database, pictures in ``folder``; changes need the caller's transaction."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder

    @property
    def folder(self) -> Path:
        return self._folder

    def files(self) -> list[Path]:
        """All that lies in the folder, rows or not; what a crash left of a write, too."""
        return list(self._folder.iterdir()) if self._folder.is_dir() else []

    def add(self, parent_id: int, parent_uid: str, box: Box, png: bytes) -> str:
        """UID of the crop; the one that is there already for the same parent and box."""
        known = self._database.value(
            "SELECT number FROM crops WHERE parent_id = ? AND (x1, y1, x2, y2) = (?, ?, ?, ?)",
            (parent_id, *box),
        )
        if known is not None and self._path(parent_uid, known).exists():
            return f"{parent_uid}.c{known}"
        number = known or 1 + self._database.value(
            "SELECT ifnull(max(number), 0) FROM crops WHERE parent_id = ?", (parent_id,)
        )
        path = self._path(parent_uid, number)
        with mapped(path):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_atomically(path, png)
        if known is None:
            self._database.execute(
                "INSERT INTO crops VALUES (?, ?, ?, ?, ?, ?)", (parent_id, number, *box)
            )
        return f"{parent_uid}.c{number}"

    def get(self, uid: str) -> Crop:
        """Raises UnknownPhoto."""
        parts = split_crop(uid)
        row = parts and self._database.row(
            "SELECT x1, y1, x2, y2 FROM crops JOIN photos ON parent_id = photo_id"
            " WHERE uid = ? AND number = ?",
            parts,
        )
        if not parts or not row:
            raise UnknownPhoto(
                f"there is no crop {uid!r}", hint="crops are made by zoom_in, which gives their UID"
            )
        return Crop(uid, parts[0], row, self._path(*parts))

    def remove(self, parent_id: int, parent_uid: str, number: int | None = None) -> None:
        """Delete one crop of a photo, or all of them: rows first, then pictures."""
        self._database.execute(
            "DELETE FROM crops WHERE parent_id = ?1 AND (?2 IS NULL OR number = ?2)",
            (parent_id, number),
        )
        self.remove_files(parent_uid, number)

    def remove_files(self, parent_uid: str, number: int | None = None) -> None:
        pattern = f"{parent_uid}.c{'*' if number is None else number}.png"
        with mapped(self._folder):
            for path in self._folder.glob(pattern):
                path.unlink(missing_ok=True)

    def _path(self, parent_uid: str, number: int) -> Path:
        return self._folder / f"{parent_uid}.c{number}.png"

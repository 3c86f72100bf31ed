"""What there is to say about a library: counts, and every skipped file with its reason."""

from __future__ import annotations

from dataclasses import dataclass

from photocraft_local.library.schema import FileState, PhotoState, Role
from photocraft_local.records import Skipped
from photocraft_local.storage.database import Database


@dataclass(frozen=True, slots=True)
class LibraryCounts:
    """Counts of photos and files; ``skipped`` is complete and sorted by path."""

    photos: int  # present, offline ones included
    offline: int  # present photos that no mounted root holds
    missing: int  # deleted, kept until compaction
    forgotten: int
    files: int  # paths of present photos, so exact duplicates count twice
    companions: int
    with_time: int
    with_place: int
    events: int
    skipped: tuple[Skipped, ...]
    roots: tuple[bytes, ...]
    offline_roots: tuple[bytes, ...]


_SKIPPED = f"""
SELECT path, reason, message FROM files
WHERE reason != '' AND state != {int(FileState.MISSING)}
UNION ALL
SELECT path, photos.reason, photos.message FROM files JOIN photos USING (photo_id)
WHERE photos.state = {int(PhotoState.UNUSABLE)} AND role = {int(Role.PHOTO)}
  AND files.state != {int(FileState.MISSING)}
ORDER BY path"""  # noqa: S608


def skipped(database: Database) -> list[Skipped]:
    """Files that are no photo of the library: unsupported, unreadable, videos, forgotten… and
    known photos that cannot be looked at now."""
    return [Skipped(*row) for row in database.rows(_SKIPPED)]


def read_status(
    database: Database, offline_photos: int, roots: list[bytes], offline_roots: list[bytes]
) -> LibraryCounts:
    present, missing = (
        int(database.value("SELECT count(*) FROM photos WHERE state = ?", (int(state),)))
        for state in (PhotoState.PRESENT, PhotoState.MISSING)
    )
    files, companions = (
        int(
            database.value(
                "SELECT count(*) FROM files WHERE role = ? AND state != ?",
                (int(role), int(FileState.MISSING)),
            )
        )
        for role in (Role.PHOTO, Role.COMPANION)
    )
    facts = database.row(
        "SELECT count(taken_seconds), count(latitude), count(DISTINCT event_id) FROM photos"
        " WHERE state = ?",
        (int(PhotoState.PRESENT),),
    )
    assert facts is not None
    return LibraryCounts(
        photos=present,
        offline=offline_photos,
        missing=missing,
        forgotten=int(database.value("SELECT count(*) FROM forgotten")),
        files=files,
        companions=companions,
        with_time=facts[0],
        with_place=facts[1],
        events=facts[2],
        skipped=tuple(skipped(database)),
        roots=tuple(roots),
        offline_roots=tuple(offline_roots),
    )

"""Brings the photo rows up to date with the folders: added, changed, moved, missing, restored.

A file whose size and time are as before is not opened; a new one is hashed and its header read
by worker threads. Progress is committed in small batches, so a kill loses none of it. What is
gone is decided last, over all folders, so that a move between two of them is no loss.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol

from photocraft_local import __version__
from photocraft_local.errors import UsageError
from photocraft_local.files.walk import FoundFile, walk
from photocraft_local.library import roots as root_plans
from photocraft_local.library.batches import batches
from photocraft_local.library.events import update_events
from photocraft_local.library.forget import REASON as FORGOTTEN
from photocraft_local.library.given import Given
from photocraft_local.library.inspect import inspect
from photocraft_local.library.intake import Intake
from photocraft_local.library.ledger import ANY_TIME
from photocraft_local.library.library import NO_EVENTS, Library
from photocraft_local.library.names import place_id
from photocraft_local.library.pairs import arrange, by_folder
from photocraft_local.library.progress import Progress, silent
from photocraft_local.library.report import SyncReport
from photocraft_local.library.roots import Scope
from photocraft_local.library.schema import FileState, PhotoState, Role
from photocraft_local.library.vanished import settle_vanished
from photocraft_local.records import PlaceName, Skipped, path_text

_CHUNK = 400  # groups compared with one query
_PLACES = 2000  # positions named in one transaction


class PlaceNamer(Protocol):
    """Names a position; ``places.Gazetteer`` does."""

    def name(self, lat: float, lon: float) -> PlaceName | None: ...


def sync(
    library: Library,
    roots: Sequence[bytes] = (),
    *,
    progress: Progress = silent,
    places: PlaceNamer | None = None,
    given: Given | None = None,
    events: bool = True,
) -> SyncReport:
    """Take in the folders ``roots``, or all that were indexed before.

    ``given`` metadata take the place of the files' own. Without ``events`` the library has none,
    now and in later runs.

    Raises UsageError (a folder that does not exist, a file, no photo in any folder),
    LibraryLocked, StorageFull. Offline folders are reported, not raised, and nothing of them is
    dropped; so are new folders without a photo beside others.
    """
    start = time.monotonic()
    report = SyncReport()
    with library.write_lock():
        _retry_after_update(library)
        scopes = root_plans.plan(library, roots)
        intakes = _walk(library, scopes, report, progress, given)
        settle_vanished(library, intakes, report)
        if places:
            _name_places(library, places)
        if not events:
            _switch_events_off(library)
        elif library.has_events:
            _segment(library)
        _record_roots(library, intakes)
        empty = [intake.scope for intake in intakes if _came_to_nothing(library, intake)]
    report.empty_roots = tuple(scope.root for scope in empty)
    if empty and len(empty) == len(scopes):
        raise no_photo_in(report.empty_roots)
    report.offline_roots = _offline(scopes, intakes)
    report.seconds = time.monotonic() - start
    return report


def _walk(
    library: Library,
    scopes: Sequence[Scope],
    report: SyncReport,
    progress: Progress,
    given: Given | None,
) -> list[Intake]:
    """The folders that are there, one after another."""
    workers = library.settings.workers or len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(workers, "inspect") as pool:
        return [
            _walk_scope(library, scope, pool, report, progress, given)
            for scope in scopes
            if scope.mounted
        ]


def _walk_scope(
    library: Library,
    scope: Scope,
    pool: ThreadPoolExecutor,
    report: SyncReport,
    progress: Progress,
    given: Given | None,
) -> Intake:
    read = partial(inspect, max_pixels=library.settings.max_pixels, given=given)
    intake = Intake(library, scope, lambda groups: pool.map(read, groups), report, progress)
    refused: list[Skipped] = []
    own = os.fsencode(library.path)  # a link may lead into it, and crops are pictures too
    found = _counted(walk(scope.under, on_skip=refused.append, closed=[own]), intake)
    for folder in by_folder(found):
        for chunk in batches(arrange(folder), _CHUNK):
            intake.take(chunk)
        _take_refused(intake, refused)
    _take_refused(intake, refused)
    return intake


def _offline(scopes: Sequence[Scope], intakes: Sequence[Intake]) -> tuple[bytes, ...]:
    offline = {scope.root for scope in scopes if not scope.mounted}
    offline |= {intake.scope.root for intake in intakes if intake.is_empty_mount_point}
    return tuple(sorted(offline))


def no_photo_in(folders: Sequence[bytes]) -> UsageError:
    """The error for new folders that hold no file of interest."""
    return UsageError(
        f"there is no photo in {' or '.join(map(path_text, folders))}",
        hint="give a folder with photos in it, or in folders below it",
    )


def _came_to_nothing(library: Library, intake: Intake) -> bool:
    """A new root without a file is not kept."""
    if not intake.scope.is_new or intake.num_files:
        return False
    with library.changes() as database:
        return root_plans.forget_root(database, intake.scope.root_id)


def _take_refused(intake: Intake, refused: list[Skipped]) -> None:
    for chunk in batches(refused, _CHUNK):
        intake.refuse(chunk)
    refused.clear()


def _counted(files: Iterable[FoundFile], intake: Intake) -> Iterator[FoundFile]:
    for file in files:
        if file.kind != "sidecar":
            intake.count_file()
        yield file


def _retry_after_update(library: Library) -> None:
    """What was refused by another version or pixel limit is looked into again."""
    conditions = f"{__version__} {library.settings.max_pixels}"
    known = library.database.value("SELECT value FROM meta WHERE key = 'refused_under'")
    if known == conditions:
        return
    with library.changes() as database:
        database.execute(
            "UPDATE files SET size = ? WHERE reason NOT IN ('', 'video', ?)", (ANY_TIME, FORGOTTEN)
        )
        database.execute(
            "UPDATE photos SET reason = '', message = '', state = iif(EXISTS (SELECT 1 FROM files"
            " WHERE files.photo_id = photos.photo_id AND role = ? AND files.state != ?), ?, ?)"
            " WHERE state = ?",
            (
                int(Role.PHOTO),
                int(FileState.MISSING),
                int(PhotoState.PRESENT),
                int(PhotoState.MISSING),
                int(PhotoState.UNUSABLE),
            ),
        )
        database.execute("INSERT OR REPLACE INTO meta VALUES ('refused_under', ?)", (conditions,))


def _segment(library: Library) -> None:
    """Compute events anew unless those that are there are of this very state and these gaps."""
    hours, km = library.settings.event_gap_hours, library.settings.event_gap_km
    state = f"{hours:g} h, {km:g} km, generation "
    known = library.database.value("SELECT value FROM meta WHERE key = 'events_of'")
    if known == f"{state}{library.generation()}":
        return
    with library.changes() as database:
        update_events(database, gap_hours=hours, gap_km=km)
        now = f"{state}{library.generation() + 1}"
        database.execute("INSERT OR REPLACE INTO meta VALUES ('events_of', ?)", (now,))


def _switch_events_off(library: Library) -> None:
    if library.has_events:
        with library.changes() as database:
            database.execute("INSERT OR REPLACE INTO meta VALUES ('events_of', ?)", (NO_EVENTS,))
            database.execute("UPDATE photos SET event_id = NULL, trip_id = NULL")


def _record_roots(library: Library, intakes: Sequence[Intake]) -> None:
    """No change of the library's content, so no new generation."""
    with library.database.transaction():
        for intake in intakes:
            # An empty mount point is no new home: the root stays the directory it was.
            if not intake.is_empty_mount_point:
                root_plans.record(library.database, intake.scope)
    library.refresh_roots()


def _name_places(library: Library, places: PlaceNamer) -> None:
    """Ask once for each position; also for photos that came in without a gazetteer."""
    sql = (
        "SELECT photo_id, latitude, longitude FROM photos"
        " WHERE place_asked = 0 AND latitude IS NOT NULL LIMIT ?"
    )
    while rows := library.database.rows(sql, (_PLACES,)):
        named = [(photo_id, places.name(lat, lon)) for photo_id, lat, lon in rows]
        with library.changes() as database:
            database.execute_many(
                "UPDATE photos SET place_asked = 1, place_id = ?, place_km = ? WHERE photo_id = ?",
                [
                    (
                        place_id(database, place) if place else None,
                        place.distance_km if place else None,
                        photo_id,
                    )
                    for photo_id, place in named
                ],
            )

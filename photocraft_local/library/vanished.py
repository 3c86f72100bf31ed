"""The end of a sync: what happens to known files that no walk has seen.

Below a folder that could not be read they are kept as they are. If the drive that they were on
is not there, they are offline: the root is another directory now and holds nothing known, or
the folder they were in is on another device now and nothing of theirs was seen. Otherwise they
are deleted, and their photos missing, unless another path holds them: then they were moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from photocraft_local.library.intake import Intake
from photocraft_local.library.ledger import Ledger
from photocraft_local.library.library import Library
from photocraft_local.library.report import SyncReport
from photocraft_local.library.roots import device_at
from photocraft_local.library.schema import FileState, Role

_BATCH = 2000

_COUNT = f"SELECT count(*) FROM files WHERE root_id = ? AND state != {int(FileState.MISSING)}"  # noqa: S608

_UNSEEN = f"""
SELECT file_id, path, role, photo_id, state, device FROM files
WHERE root_id = ? AND state != {int(FileState.MISSING)} AND file_id > ?
ORDER BY file_id LIMIT {_BATCH}"""  # noqa: S608


class _Row(NamedTuple):
    file_id: int
    path: bytes
    role: int
    photo_id: int | None
    state: int
    device: int


def settle_vanished(library: Library, intakes: Sequence[Intake], report: SyncReport) -> None:
    """Decide on every known file of the walked folders that was not seen."""
    extra = set[int]().union(*(intake.tally.extra_paths for intake in intakes))
    moved: set[int] = set()
    for intake in intakes:
        if _saw_all(library, intake):
            continue
        after = 0
        while rows := _page(library, intake, after):
            after = rows[-1].file_id
            unseen = [row for row in rows if _is_unseen(intake, row)]
            if unseen:
                with library.changes():
                    ledger = Ledger(library.database, library.flags)
                    moved |= _settle(ledger, intake, unseen, report) & extra
    report.moved += len(moved)
    report.duplicates += len(extra - moved)


def _saw_all(library: Library, intake: Intake) -> bool:
    """The usual case, told without looking at each row."""
    count = library.database.value(_COUNT, (intake.scope.root_id,))
    return bool(count == intake.num_seen)


def _page(library: Library, intake: Intake, after: int) -> list[_Row]:
    return [_Row(*row) for row in library.database.rows(_UNSEEN, (intake.scope.root_id, after))]


def _is_unseen(intake: Intake, row: _Row) -> bool:
    scope = intake.scope
    below = scope.under == scope.root or row.path.startswith(scope.under.rstrip(b"/") + b"/")
    return below and not intake.was_seen(row.file_id)


def _settle(ledger: Ledger, intake: Intake, rows: Sequence[_Row], report: SyncReport) -> set[int]:
    """Photos that lost a path and still have another one."""
    fates: dict[FileState, list[_Row]] = {state: [] for state in FileState}
    for row in rows:
        fates[_fate(intake, row)].append(row)
    for state in (FileState.OFFLINE, FileState.CLOSED):
        ledger.set_file_state((row.file_id for row in fates[state] if row.state != state), state)
    gone = fates[FileState.MISSING]
    photos = [row for row in gone if row.role == Role.PHOTO and row.photo_id is not None]
    ledger.set_file_state((row.file_id for row in photos), FileState.MISSING)
    ledger.drop_files(row.file_id for row in gone if row.role != Role.PHOTO)
    kept: set[int] = set()
    for row in photos:
        assert row.photo_id is not None
        if ledger.lose_if_gone(row.photo_id):
            report.missing += 1
        elif ledger.has_other_path(row.photo_id):
            ledger.drop_files([row.file_id])
            kept.add(row.photo_id)
    return kept


def _fate(intake: Intake, row: _Row) -> FileState:
    """MISSING, OFFLINE or CLOSED for a row that was not seen."""
    closed = intake.unreadable_folders
    if closed and row.path.startswith(tuple(closed)):
        return FileState.CLOSED
    if not row.device:
        return FileState.MISSING  # a note on what the walk could not take; it makes a new one
    if row.state == FileState.OFFLINE:
        # Another card may be in the reader: only a file of the same drive proves it is back.
        return FileState.MISSING if row.device in intake.devices_back else FileState.OFFLINE
    if intake.scope.swapped and not intake.num_known:
        return FileState.OFFLINE
    if row.device not in intake.devices and row.device != device_at(row.path.rpartition(b"/")[0]):
        return FileState.OFFLINE
    return FileState.MISSING

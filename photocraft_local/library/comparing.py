"""Whether what a walk found is what a row says: size, time, role, sidecar."""

from __future__ import annotations

from photocraft_local.files.walk import FoundFile
from photocraft_local.library.ledger import KnownFile
from photocraft_local.library.pairs import Group
from photocraft_local.library.schema import FileState, Role
from photocraft_local.records import Skipped


def is_unchanged(group: Group, row: KnownFile) -> bool:
    lead = group.lead
    return (
        row.size == lead.size
        and row.mtime_ns == lead.mtime_ns
        and row.role != Role.COMPANION
        and not sidecar_differs(group, row)
    )


def sidecar_differs(group: Group, row: KnownFile) -> bool:
    sidecar = group.sidecar
    if sidecar is None:
        return row.sidecar is not None
    return row.role == Role.PHOTO and (row.sidecar, row.sidecar_mtime_ns) != (
        sidecar.path,
        sidecar.mtime_ns,
    )


def is_same_companion(file: FoundFile, row: KnownFile, photo_id: int) -> bool:
    return (row.role, row.state, row.photo_id, row.size, row.mtime_ns) == (
        Role.COMPANION,
        FileState.PRESENT,
        photo_id,
        file.size,
        file.mtime_ns,
    )


def is_recorded(skip: Skipped, row: KnownFile | None) -> bool:
    return row is not None and row.role == Role.SKIPPED and row.state == FileState.PRESENT

"""What one scope's findings amount to: counts, and photos that are lost, found or doubled."""

from __future__ import annotations

from photocraft_local.library.comparing import sidecar_differs
from photocraft_local.library.inspect import Inspected
from photocraft_local.library.ledger import KnownFile, Ledger
from photocraft_local.library.report import SyncReport
from photocraft_local.library.schema import PhotoState, Role


class Tally:
    """``extra_paths`` are photos that were found under a further path, ``lost`` those that a
    changed path took the last path from."""

    def __init__(self, ledger: Ledger, report: SyncReport) -> None:
        self.report = report
        self.extra_paths: set[int] = set()
        self.lost: set[int] = set()
        self._ledger = ledger

    def count_new(self, row: KnownFile | None) -> None:
        if row is not None and row.role == Role.PHOTO:
            self.report.changed += 1
        else:
            self.report.added += 1

    def count_known(
        self, photo_id: int, state: int, found: Inspected, row: KnownFile | None
    ) -> None:
        report = self.report
        if row is not None and row.photo_id == photo_id and row.role == Role.PHOTO:
            if sidecar_differs(found.group, row):
                report.changed += 1
            else:
                report.unchanged += 1  # touched, or copied over itself
        elif row is not None and row.role == Role.PHOTO:
            report.changed += 1
        elif state == PhotoState.PRESENT:
            self.extra_paths.add(photo_id)
        if state == PhotoState.MISSING:
            self.bring_back(photo_id)

    def bring_back(self, photo_id: int | None) -> None:
        """A photo that was missing is present again; counted as a move if this sync lost it."""
        if photo_id is None or not self._ledger.restore_if_missing(photo_id):
            return
        if photo_id in self.lost:
            self.lost.discard(photo_id)
            self.report.moved += 1
            self.report.missing -= 1
        else:
            self.report.restored += 1

    def leave(self, photo_id: int) -> None:
        """A path no longer holds this photo; perhaps no path does."""
        if self._ledger.lose_if_gone(photo_id):
            self.lost.add(photo_id)
            self.report.missing += 1

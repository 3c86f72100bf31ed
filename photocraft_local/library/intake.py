"""One folder's part of a sync: what was found is compared with the rows and written down.

Compares in chunks and reads files outside of transactions; each batch of new files is one
transaction. Remembers which rows were seen as one byte a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from photocraft_local.files.walk import FoundFile
from photocraft_local.library.batches import batches
from photocraft_local.library.comparing import (
    is_recorded,
    is_same_companion,
    is_unchanged,
    sidecar_differs,
)
from photocraft_local.library.inspect import Inspected, Refused
from photocraft_local.library.ledger import KnownFile, Ledger
from photocraft_local.library.library import Library
from photocraft_local.library.pairs import Group
from photocraft_local.library.progress import Progress
from photocraft_local.library.report import SyncReport
from photocraft_local.library.roots import Scope, signed
from photocraft_local.library.schema import FileState, Role
from photocraft_local.library.tally import Tally
from photocraft_local.records import Skipped

_BATCH = 64  # new files that are read and committed together
_PATHS = 100  # groups whose rows are read with one query

Read = Callable[[Iterable[Group]], Iterable[Inspected | Refused]]


class Intake:
    """Writes of one scope."""

    def __init__(
        self, library: Library, scope: Scope, read: Read, report: SyncReport, progress: Progress
    ) -> None:
        self.scope = scope
        self.num_files = 0
        self.num_known = 0
        self.unreadable_folders: list[bytes] = []
        self.devices: set[int] = set()  # as recorded last time, of rows that were seen
        self.devices_back: set[int] = set()  # the same of rows that were offline
        self.num_seen = 0  # rows
        self._seen = bytearray()
        self._library = library
        self._ledger = Ledger(library.database, library.flags)
        self.tally = Tally(self._ledger, report)
        self._read = read
        self._report = report
        self._progress = progress
        self._num_read = 0

    @property
    def is_empty_mount_point(self) -> bool:
        """Nothing was found, in another directory than the one that was indexed."""
        return self.scope.swapped and not self.num_files

    def count_file(self) -> None:
        self.num_files += 1
        if self.num_files % 1000 == 0:
            self._progress("scan", self.num_files, None)

    def was_seen(self, file_id: int) -> bool:
        return file_id < len(self._seen) and bool(self._seen[file_id])

    def take(self, groups: Sequence[Group]) -> None:
        """Leads first; then companions, since whether a file is one depends on its lead."""
        self._take_leads(groups)
        accompanied = [group for group in groups if group.companions]
        for batch in batches(accompanied, _PATHS):
            self._take_companions(batch)

    def refuse(self, refused: Sequence[Skipped]) -> None:
        """What the walk itself could not take: broken links, closed folders, other formats."""
        known = self._ledger.known([skip.path for skip in refused])
        for skip in refused:
            self.num_files += 1
            self._report.skipped += 1
            if skip.reason == "unreadable":
                self._report.unreadable += 1
                self.unreadable_folders.append(skip.path + b"/")
        stale = [skip for skip in refused if not is_recorded(skip, known.get(skip.path))]
        for skip in refused:
            if skip not in stale:
                self._see(known[skip.path].file_id)
        if stale:
            with self._library.changes():
                for skip in stale:
                    self._refuse_one(skip, known.get(skip.path))

    # --- leads

    def _take_leads(self, groups: Sequence[Group]) -> None:
        known = self._ledger.known([group.lead.path for group in groups])
        work: list[Group] = []
        back: list[KnownFile] = []
        renumbered: list[tuple[int, int]] = []
        for group in groups:
            row = known.get(group.lead.path)
            if row is None or not is_unchanged(group, row):
                work.append(group)
                continue
            self._see(row.file_id)
            self._report.unchanged += 1
            if row.role == Role.SKIPPED:
                self._report.skipped += 1
                self._report.unreadable += row.reason == "unreadable"
            if row.state != FileState.PRESENT:
                back.append(row)
            self.devices.add(row.device)
            device = signed(group.lead.device)
            if row.device != device:
                renumbered.append((device, row.file_id))
        self.num_known += len(known)
        if back or renumbered:
            self._put_back(back, renumbered)
        for batch in batches(work, _BATCH):
            self._take_new(batch, known)

    def _put_back(self, back: list[KnownFile], renumbered: list[tuple[int, int]]) -> None:
        self.devices_back.update(row.device for row in back if row.state == FileState.OFFLINE)
        with self._library.changes():
            self._ledger.set_device(renumbered)
            self._ledger.set_file_state((row.file_id for row in back), FileState.PRESENT)
            for row in back:
                self.tally.bring_back(row.photo_id)

    def _take_new(self, batch: list[Group], known: dict[bytes, KnownFile]) -> None:
        results = list(self._read(batch))
        with self._library.changes():
            for result in results:
                row = known.get(result.group.lead.path)
                if isinstance(result, Refused):
                    self._put_refused(result)
                else:
                    self._put_photo(result, row)
                if row is not None and row.photo_id is not None:
                    self.tally.leave(row.photo_id)
        self._num_read += len(batch)
        self._progress("read", self._num_read, None)

    def _put_refused(self, result: Refused) -> None:
        self._report.skipped += 1
        self._report.unreadable += result.reason == "unreadable"
        lead = result.group.lead
        self._see(
            self._ledger.put_skipped(
                self.scope.root_id, lead, result.reason, result.message, retry=result.retry
            )
        )

    def _put_photo(self, found: Inspected, row: KnownFile | None) -> None:
        if self._ledger.is_forgotten(found.digest):
            self._report.skipped += 1
            self._see(self._ledger.put_forgotten(self.scope.root_id, found.group.lead))
            return
        photo = self._ledger.photo_of(found.digest)
        if photo is None:
            photo_id = self._ledger.add_photo(found)
            self.tally.count_new(row)
        else:
            photo_id = photo.photo_id
            self.tally.count_known(photo_id, photo.state, found, row)
            sidecar_changed = (
                row is not None and row.photo_id == photo_id and sidecar_differs(found.group, row)
            )
            blank = (found.metadata.taken and not photo.has_time) or (
                found.metadata.location and not photo.has_position
            )
            if sidecar_changed or blank:
                self._ledger.describe(photo_id, found.metadata)
        self._see(self._ledger.put_photo_file(self.scope.root_id, found, photo_id))

    # --- companions and refused files

    def _take_companions(self, groups: Sequence[Group]) -> None:
        leads = self._ledger.known([group.lead.path for group in groups])
        files = [file for group in groups for file in group.companions]
        known = self._ledger.known([file.path for file in files])
        alone: list[Group] = []
        changed: list[tuple[FoundFile, int]] = []
        for group in groups:
            photo_id = leads[group.lead.path].photo_id
            for file in group.companions:
                row = known.get(file.path)
                if photo_id is None:
                    alone.append(Group(file))
                elif row is not None and is_same_companion(file, row, photo_id):
                    self._report.companions += 1
                    self._report.unchanged += 1
                    self._see(row.file_id)
                else:
                    changed.append((file, photo_id))
        if changed:
            with self._library.changes():
                for file, photo_id in changed:
                    self._put_companion(file, photo_id, known.get(file.path))
        for batch in batches(alone, _PATHS):
            self._take_leads(batch)

    def _put_companion(self, file: FoundFile, photo_id: int, row: KnownFile | None) -> None:
        self._report.companions += 1
        self._see(self._ledger.put_companion(self.scope.root_id, file, photo_id))
        if row is not None and row.role == Role.PHOTO and row.photo_id is not None:
            self.tally.leave(row.photo_id)

    def _refuse_one(self, skip: Skipped, row: KnownFile | None) -> None:
        """A known photo that cannot be looked at is not gone: its content may be as it was."""
        if skip.reason == "unreadable" and row is not None and row.photo_id is not None:
            self._ledger.set_unreachable(row.file_id, skip.reason, skip.message)
            self._see(row.file_id)
            return
        file = FoundFile(skip.path, self.scope.root, 0, 0, 0, 0, "photo")
        self._see(self._ledger.put_skipped(self.scope.root_id, file, skip.reason, skip.message))
        if row is not None and row.photo_id is not None:
            self.tally.leave(row.photo_id)

    def _see(self, file_id: int) -> None:
        if file_id >= len(self._seen):
            self._seen.extend(bytes(max(file_id + 1, 2 * len(self._seen)) - len(self._seen)))
        self.num_seen += not self._seen[file_id]
        self._seen[file_id] = 1

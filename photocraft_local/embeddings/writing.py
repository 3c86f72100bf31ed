"""Finished batches → disk: vectors, what could not be embedded, doubts about single photos.

Runs in the one thread that drives the pipeline.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from photocraft_local.embeddings.decoding import Failed
from photocraft_local.embeddings.encoding import Encoded
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.errors import EncoderError
from photocraft_local.library import refusals
from photocraft_local.library.library import Library
from photocraft_local.library.refusals import NOT_EMBEDDED
from photocraft_local.library.spaces import holding
from photocraft_local.records import Skipped

_ANNOUNCE_SECONDS = 5.0
_ENOUGH_FAILURES = 16  # without one success: the encoder is broken, not the photos


@dataclass(slots=True)
class IndexReport:
    """``skipped`` photos failed; ``problems`` says which and why, those included that the next
    run tries again (a file that vanished meanwhile, a drive that failed)."""

    indexed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    problems: tuple[Skipped, ...] = ()


class Writer:
    """Stores batches in order. While nothing was ever embedded, failures of the encoder are
    held back: they are blamed on the photos only once another photo succeeds."""

    def __init__(self, library: Library, space: VectorSpace, report: IndexReport) -> None:
        self._library = library
        self._space = space
        self._report = report
        self._held: list[Encoded] = []
        self._num_announced = 0
        self._announced = time.monotonic()

    def store(self, batch: Encoded) -> None:
        """Raises EncoderError if the encoder seems broken, StorageFull."""
        if batch.failed_all and not len(self._space):
            self._held.append(batch)
            if sum(len(held.failures) for held in self._held) >= _ENOUGH_FAILURES:
                raise self._broken()
            return
        if batch.photos:
            ids = np.array([photo.photo_id for photo in batch.photos], np.int64)
            self._space.append(ids, batch.vectors)
        self._record(batch)
        while self._held and len(self._space):
            self._record(self._held.pop(0))
        if time.monotonic() - self._announced > _ANNOUNCE_SECONDS:
            self._announce()

    def finish(self) -> None:
        """Raises EncoderError if there were only failures."""
        if self._held:
            raise self._broken()
        self._announce()

    def _broken(self) -> EncoderError:
        return EncoderError(
            f"the encoder {self._space.spec.encoder_id!r} can embed no photo: "
            f"{self._held[-1].failures[-1].message}",
            hint="run: photocraft doctor",
        )

    def _record(self, batch: Encoded) -> None:
        self._report.indexed += len(batch.photos)
        self._report.skipped += len(batch.failures)
        self._report.problems += tuple(
            Skipped(failed.photo.paths[0], failed.reason, failed.message)
            for failed in batch.failures
        )
        lasting = self._lasting(batch)
        seen = zip(batch.photos, batch.flags, strict=True)
        noted = [(photo, flags) for photo, flags in seen if set(flags) - set(photo.flags)]
        if lasting or noted:
            refused = [f.photo.photo_id for f in lasting if f.reason == NOT_EMBEDDED]
            with self._library.changes() as database:
                if refused:
                    refusals.note(database, self._space.folder.name, refused)
                for failed in lasting:
                    self._library.mark_unusable(
                        failed.photo.photo_id, failed.reason, failed.message
                    )
                for photo, flags in noted:
                    self._library.add_flags(photo.photo_id, flags)

    def _lasting(self, batch: Encoded) -> list[Failed]:
        """What takes a photo out of the library; not what one encoder cannot embed while another
        one's vectors find it: that is tried again, and told, each time."""
        lasting = [failed for failed in batch.failures if not failed.retry]
        refused = {each.photo.photo_id for each in lasting if each.reason == NOT_EMBEDDED}
        elsewhere = holding(self._library, refused, self._space.folder) if refused else set()
        return [failed for failed in lasting if failed.photo.photo_id not in elsewhere]

    def _announce(self) -> None:
        """A new generation, so that open searchers look again."""
        if self._report.indexed > self._num_announced:
            with self._library.changes():
                self._num_announced = self._report.indexed
                self._announced = time.monotonic()

"""Pending photos → stored vectors: decode threads, encode threads, one writer, in order.

A chain with bounded look-ahead, so that memory does not grow with the library. A photo that
fails is recorded with its reason and leaves its batch; a batch is on disk or not at all, so the
next run goes on where this one was stopped. Knows nothing of search.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np

from photocraft_local.embeddings.decoding import Decoder, Failed, Ready
from photocraft_local.embeddings.encoder import Encoder
from photocraft_local.embeddings.encoding import Encoded, encode_batch
from photocraft_local.embeddings.interrupts import DeferredInterrupt
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.errors import EncoderError
from photocraft_local.library.library import Library
from photocraft_local.library.progress import Progress, silent
from photocraft_local.records import Photo, Skipped

_ANNOUNCE_SECONDS = 5.0
_PIECE = 256  # photos whose paths are read with one query

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(slots=True)
class IndexReport:
    """``skipped`` photos failed; ``problems`` says which and why, those included that the next
    run tries again (a file that vanished meanwhile, a drive that failed)."""

    indexed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    problems: tuple[Skipped, ...] = ()


def index_pending(
    library: Library,
    space: VectorSpace,
    encoder: Encoder,
    *,
    progress: Progress = silent,
    workers: int = 0,
    batch_size: int = 16,
) -> IndexReport:
    """Give every present photo that can be opened now its vector in ``space``.

    ``workers`` decode threads, 0 for one a usable core. Ctrl-C lets the batch in flight reach
    the disk, then raises KeyboardInterrupt. Raises EncoderError, LibraryLocked, StorageFull;
    whatever was stored before stays.
    """
    start = time.monotonic()
    report = IndexReport()
    cores = len(os.sched_getaffinity(0))
    lanes = max(1, min(getattr(encoder, "concurrency", 1), cores))
    decoder = Decoder(encoder.spec.decode_side, library.settings.max_pixels)
    with library.write_lock(), DeferredInterrupt() as interrupt, ExitStack() as stack:
        space.refresh()
        pending = space.pending(library.present_ids())
        photos = _openable(library, pending.tolist())
        decoding = stack.enter_context(_pool(workers or cores, "decode"))
        encoding = stack.enter_context(_pool(lanes, "encode"))
        decoded = ahead(decoding, decoder.decode, photos, (workers or cores) + batch_size)
        batches = _batches(decoded, batch_size)
        encoded = ahead(encoding, lambda batch: encode_batch(encoder, batch), batches, lanes)
        writer = _Writer(library, space, encoder.spec.encoder_id, report)
        progress("embed", 0, len(pending))
        for batch in encoded:
            writer.store(batch)
            progress("embed", report.indexed + report.skipped, len(pending))
            interrupt.check()
        writer.announce()
    report.seconds = time.monotonic() - start
    return report


def ahead(
    pool: ThreadPoolExecutor,
    work: Callable[[Item], Result],
    items: Iterable[Item],
    depth: int,
) -> Iterator[Result]:
    """``map`` in threads: results in order, at most ``depth`` items taken before their turn."""
    waiting: deque[Future[Result]] = deque()
    rest = iter(items)
    try:
        for item in rest:
            waiting.append(pool.submit(work, item))
            if len(waiting) > depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


class _Writer:
    """Puts finished batches on disk, from the one thread that runs the loop."""

    def __init__(
        self, library: Library, space: VectorSpace, encoder_id: str, report: IndexReport
    ) -> None:
        self._library = library
        self._space = space
        self._encoder_id = encoder_id
        self._report = report
        self._num_announced = 0
        self._announced = time.monotonic()

    def store(self, batch: Encoded) -> None:
        if batch.failed_all and not self._report.indexed:
            cause = batch.failures[-1].message
            raise EncoderError(
                f"the encoder {self._encoder_id!r} can embed no photo: {cause}",
                hint="run: photocraft doctor",
            )
        if batch.photos:
            ids = np.array([photo.photo_id for photo in batch.photos], np.int64)
            self._space.append(ids, batch.vectors)
        self._report.indexed += len(batch.photos)
        self._report.skipped += len(batch.failures)
        self._report.problems += tuple(
            Skipped(failed.photo.paths[0], failed.reason, failed.message)
            for failed in batch.failures
        )
        self._record(batch)
        if time.monotonic() - self._announced > _ANNOUNCE_SECONDS:
            self.announce()

    def announce(self) -> None:
        """A new generation, so that open searchers look again."""
        if self._report.indexed > self._num_announced:
            with self._library.changes():
                self._num_announced = self._report.indexed
                self._announced = time.monotonic()

    def _record(self, batch: Encoded) -> None:
        lasting = [failed for failed in batch.failures if not failed.retry]
        seen = zip(batch.photos, batch.flags, strict=True)
        noted = [(photo, flags) for photo, flags in seen if set(flags) - set(photo.flags)]
        if lasting or noted:
            with self._library.changes():
                for failed in lasting:
                    self._library.mark_unusable(
                        failed.photo.photo_id, failed.reason, failed.message
                    )
                for photo, flags in noted:
                    self._library.add_flags(photo.photo_id, flags)


def _openable(library: Library, ids: list[int]) -> Iterator[Photo]:
    rest = iter(ids)
    while piece := list(islice(rest, _PIECE)):
        for photo in library.photos_by_id(piece).values():
            if not photo.offline:
                yield photo


def _batches(decoded: Iterable[Ready | Failed], size: int) -> Iterator[list[Ready | Failed]]:
    rest = iter(decoded)
    while batch := list(islice(rest, size)):
        yield batch


def _pool(threads: int, name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, name)

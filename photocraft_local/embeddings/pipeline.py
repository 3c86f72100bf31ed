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
from itertools import chain
from typing import TypeVar

from photocraft_local.embeddings.decoding import Decoder, Failed, Ready, gpu_for
from photocraft_local.embeddings.encoder import Encoder
from photocraft_local.embeddings.encoding import BatchEncoder, merged
from photocraft_local.embeddings.interrupts import DeferredInterrupt
from photocraft_local.embeddings.space import VectorSpace
from photocraft_local.embeddings.writing import IndexReport, Writer
from photocraft_local.library import refusals
from photocraft_local.library.batches import batches
from photocraft_local.library.library import Library
from photocraft_local.library.progress import Progress, silent
from photocraft_local.records import Photo

__all__ = ["IndexReport", "ahead", "index_pending"]

_QUERY = 256  # photos whose paths are read with one query
_GPU_BATCH = 32  # photos of one call; its engines need 16 or more to be busy

Item = TypeVar("Item")
Result = TypeVar("Result")


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

    ``workers`` decode threads, 0 for one a usable core. An encoder may say by an attribute
    ``concurrency`` how many calls of ``encode_images`` may run at once; else it is one.
    Ctrl-C lets the batch in flight reach the disk, then raises KeyboardInterrupt. Raises
    EncoderError, LibraryLocked, StorageFull, and where the setting decode_device cannot be
    followed MissingExtraError or SettingsError; whatever was stored before stays.
    """
    start = time.monotonic()
    report = IndexReport()
    cores = len(os.sched_getaffinity(0))
    workers = workers or cores
    lanes = max(1, min(getattr(encoder, "concurrency", 1), cores))
    piece = batch_size if lanes == 1 else max(1, batch_size // (4 * lanes))
    gpu = gpu_for(encoder, library.settings.decode_device)
    decoder = Decoder(encoder, library.settings.max_pixels, gpu)
    with library.write_lock(), DeferredInterrupt() as interrupt, ExitStack() as stack:
        space.refresh()
        refusals.let_in(library, space.folder.name)
        pending = space.pending(library.present_ids())
        photos = _openable(library, pending.tolist())
        decoding = stack.enter_context(ThreadPoolExecutor(workers, "decode"))
        encoding = stack.enter_context(ThreadPoolExecutor(lanes, "encode"))
        decoded = _decoded(decoder, photos, decoding, 0 if gpu else workers + batch_size)
        pieces = batches(decoded, piece)
        encoded = ahead(encoding, BatchEncoder(encoder), pieces, 2 * lanes - 1)
        writer = Writer(library, space, report)
        progress("embed", 0, len(pending))
        for batch in batches(encoded, batch_size // piece):
            writer.store(merged(batch))
            progress("embed", report.indexed + report.skipped, len(pending))
            interrupt.check()
        writer.finish()
    report.seconds = time.monotonic() - start
    return report


def _decoded(
    decoder: Decoder, photos: Iterable[Photo], pool: ThreadPoolExecutor, depth: int
) -> Iterator[Ready | Failed]:
    """``depth`` 0: in batches, of which one is read while another one is on the GPU."""
    if not depth:
        many = ahead(pool, decoder.decode_many, batches(photos, _GPU_BATCH), 2)
        return chain.from_iterable(many)
    return ahead(pool, decoder.decode, photos, depth)


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


def _openable(library: Library, ids: list[int]) -> Iterator[Photo]:
    for piece in batches(ids, _QUERY):
        for photo in library.photos_by_id(piece).values():
            if not photo.offline:
                yield photo

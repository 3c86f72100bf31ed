"""Indexing: the library's sync, then a vector for every photo without one."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.results import IndexSummary
from photocraft_local.errors import LibraryNotFound, UsageError
from photocraft_local.records import path_text

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts
    from photocraft_local.embeddings.encoder import Encoder
    from photocraft_local.embeddings.pipeline import IndexReport
    from photocraft_local.library.given import Given
    from photocraft_local.library.library import Library
    from photocraft_local.library.progress import Progress
    from photocraft_local.library.report import SyncReport


def index(
    parts: Parts,
    folders: Sequence[str | bytes | Path],
    progress: Progress | None,
    *,
    given: Given | None = None,
    standard: bool = False,
) -> IndexSummary:
    """``PhotoSearch.index``. What can be refused is refused before anything is written. ``given``
    metadata take the place of the files' own. ``standard``: nothing but vectors is derived: no
    events, now and later, and no names of places."""
    from photocraft_local.embeddings.pipeline import index_pending
    from photocraft_local.library.progress import silent
    from photocraft_local.library.sync import no_photo_in, sync

    report = progress or silent
    started = time.monotonic()
    roots = [absolute(folder) for folder in folders]
    encoder = parts.encoder()
    library = _library_for(parts, roots, report)
    parts.preparing = report
    with library.write_lock():
        places = None if standard else parts.places()
        changes = sync(
            library, roots, progress=report, places=places, given=given, events=not standard
        )
        space = parts.space(create=True)
        embedded = index_pending(
            library,
            space,
            encoder,
            progress=report,
            workers=parts.settings.workers,
            batch_size=parts.settings.batch_size,
        )
    if changes.empty_roots:  # said last, so that it costs the other folders nothing
        raise no_photo_in(changes.empty_roots)
    return _summary(parts, library, changes, embedded, time.monotonic() - started)


def _summary(
    parts: Parts, library: Library, changes: SyncReport, embedded: IndexReport, seconds: float
) -> IndexSummary:
    return IndexSummary(
        added=changes.added,
        changed=changes.changed,
        moved=changes.moved,
        restored=changes.restored,
        missing=changes.missing,
        duplicates=changes.duplicates,
        unchanged=changes.unchanged,
        embedded=embedded.indexed,
        num_photos=library.count(),
        seconds=seconds,
        skipped=(skipped := tuple(library.skipped())),
        problems=tuple(p for p in embedded.problems if p.path not in {s.path for s in skipped}),
        offline_roots=tuple(library.offline_roots()),
        notes=tuple(parts.notes),
    )


def absolute(path: str | bytes | Path) -> bytes:
    """As a person names it (``~``, relative) to as it is stored: absolute, symlinks kept."""
    name = os.fsdecode(path)
    if not name:
        raise UsageError("a folder's name is empty", hint="give the folder that holds the photos")
    try:
        return os.fsencode(Path(name).expanduser().absolute())
    except RuntimeError as exc:
        raise UsageError(
            f"{name} is in nobody's home folder: {exc}", hint="write the folder's name in full"
        ) from exc
    except OSError as exc:  # the folder that the command runs in was removed
        raise UsageError(
            f"{name} cannot be found from here: the current folder is gone",
            hint="change to a folder that exists, or write the name in full",
        ) from exc


def _library_for(parts: Parts, folders: Sequence[bytes], report: Progress) -> Library:
    """The library, made if it is not there and every folder is one that can be indexed."""
    try:
        return parts.library()
    except LibraryNotFound:
        if not folders:
            raise
        for folder in folders:
            _check_folder(folder)
        report("load", 0, None)
        _check_encoder(parts.encoder())
        return parts.library(create=True)


def _check_encoder(encoder: Encoder) -> None:
    """A first run learns before the walk, which may take long, that an engine is missing."""
    import numpy as np

    side = encoder.spec.decode_side or 32
    encoder.encode_images([np.full((side, side, 3), 127, np.uint8)])


def _check_folder(path: bytes) -> None:
    shown = path_text(path)
    if not os.path.lexists(path):
        raise UsageError(
            f"the folder {shown} does not exist",
            hint="check the spelling, and that the drive is mounted",
        )
    if not Path(os.fsdecode(path)).is_dir():
        raise UsageError(f"{shown} is a file, not a folder", hint="give the folder that holds it")

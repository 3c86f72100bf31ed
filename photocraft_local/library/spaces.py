"""The vector spaces of a library, one an encoder: what each holds, and taking one away.

Knows names and counts, not what vectors mean. Killed at any moment, a space is whole or gone.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from photocraft_local.errors import UsageError
from photocraft_local.library import refusals
from photocraft_local.storage.atomic import sync
from photocraft_local.storage.faults import mapped
from photocraft_local.storage.rows import ERASED, HEADER, RowStore

if TYPE_CHECKING:
    from pathlib import Path

    from photocraft_local.library.library import Library


@dataclass(frozen=True, slots=True)
class SpaceCounts:
    """``pending``: present photos that have no vector in it yet."""

    name: str
    encoder: str
    dim: int
    vectors: int
    pending: int


def counts(library: Library, folder: Path) -> SpaceCounts:
    """Of one of ``library.space_folders()``. Raises LibraryCorrupt, LibraryNotFound."""
    store = RowStore.open(folder)
    ids = store.ids()
    present = library.present_ids()
    return SpaceCounts(
        name=folder.name,
        encoder=str(store.facts.get("encoder_id", "")),
        dim=store.dim,
        vectors=int((ids != ERASED).sum()),
        pending=int((~np.isin(present, ids)).sum()),
    )


def holding(library: Library, photo_ids: Collection[int], besides: Path) -> set[int]:
    """Those of the photos that have a vector in another space than ``besides``."""
    wanted, found = np.array(sorted(photo_ids), np.int64), set[int]()
    for folder in library.space_folders():
        if folder != besides and len(wanted):
            found |= set(wanted[np.isin(wanted, RowStore.open(folder).ids())].tolist())
    return found


def named(library: Library, name: str) -> Path:
    """The folder of a space. Raises UsageError for a name that is none."""
    folders = {folder.name: folder for folder in library.space_folders()}
    if name not in folders:
        known = ", ".join(sorted(folders)) or "none"
        raise UsageError(f"this library has no vector space {name!r}", hint=f"its spaces: {known}")
    return folders[name]


def remove(library: Library, name: str) -> Path:
    """Drop the vectors of one space, damaged or not; photos and all other spaces stay.

    Raises UsageError for a name that is none, LibraryLocked.
    """
    with library.write_lock():
        folder = named(library, name)
        with library.changes() as database, mapped(folder):  # open searches look again
            refusals.forget(database, folder.name)
            (folder / HEADER).unlink()  # from here on it is no space
            sync(folder)
        sweep(library)
    return folder


def sweep(library: Library) -> None:
    """Delete what is left of spaces that were removed. Under the library's lock, where no new
    one is on its way."""
    if library.spaces_folder.is_dir():
        for folder in library.spaces_folder.iterdir():
            if folder.is_dir() and not (folder / HEADER).exists():
                shutil.rmtree(folder, ignore_errors=True)  # compact tries again

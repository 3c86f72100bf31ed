"""Which folders to walk: real paths, none inside another, and whether each is mounted.

A registered folder that does not exist is offline. What an existing one no longer holds is
judged in vanished.py, by the directory's and the files' device and inode.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.errors import UsageError
from photocraft_local.records import path_text
from photocraft_local.storage.database import Database

if TYPE_CHECKING:
    from photocraft_local.library.library import Library


@dataclass(slots=True)
class Scope:
    """One folder to walk: a registered root, or a part of one."""

    root_id: int
    root: bytes
    under: bytes  # where the walk starts; the root or a folder in it
    mounted: bool
    swapped: bool  # the root is another directory than at the last sync
    is_new: bool  # never synced to the end before
    identity: tuple[int, int] | None  # device and inode of the root as the walk began


def plan(library: Library, folders: Sequence[bytes]) -> list[Scope]:
    """Scopes for ``folders``, all registered roots if there are none; registers new roots.

    Raises UsageError for a folder that does not exist, a file, or the library's own folder.
    """
    known = {path: root_id for root_id, path in _registered(library.database)}
    if not folders and not known:
        raise UsageError("no folder was indexed yet", hint="run: photocraft index FOLDER")
    wanted = sorted({os.path.realpath(folder) for folder in folders} or set(known))
    for path in wanted:
        _check(library, path, known)
    outermost = [path for path in wanted if not any(_inside(path, other) for other in wanted)]
    for path in outermost:
        if not any(path == root or _inside(path, root) for root in known):
            known[path] = _register(library, path)
    _absorb(library, known)
    return [_scope(library, path, known) for path in outermost]


def forget_root(database: Database, root_id: int) -> bool:
    """Take a root away unless files refer to it; whether it went."""
    sql = (
        "DELETE FROM roots WHERE root_id = ?1"
        " AND NOT EXISTS (SELECT 1 FROM files WHERE root_id = ?1)"
    )
    return database.change(sql, (root_id,)) > 0


def record(database: Database, scope: Scope) -> None:
    """Note, at the end of a sync, which directory the root is and that it is mounted.

    A drive that went away while it was walked is offline, and what is in its place now (an empty
    mount point) is no new home of its photos.
    """
    now = _identity(_stat(scope.root)) if _is_folder(scope.root) else None
    if now != scope.identity or now is None:
        online = int(now is not None)
        database.execute("UPDATE roots SET online = ? WHERE root_id = ?", (online, scope.root_id))
        return
    database.execute(
        "UPDATE roots SET device = ?, inode = ?, online = 1, synced_at = ? WHERE root_id = ?",
        (*now, time.time(), scope.root_id),
    )


def _scope(library: Library, path: bytes, known: dict[bytes, int]) -> Scope:
    root = max((root for root in known if path == root or _inside(path, root)), key=len)
    root_id = known[root]
    mounted = _is_folder(root)
    if not mounted:
        with library.changes() as database:
            database.execute("UPDATE roots SET online = 0 WHERE root_id = ?", (root_id,))
    device, inode, synced_at = library.database.row(
        "SELECT device, inode, synced_at FROM roots WHERE root_id = ?", (root_id,)
    ) or (0, 0, None)
    identity = _identity(_stat(root)) if mounted else None
    swapped = mounted and (device, inode) != identity
    return Scope(root_id, root, path, mounted, swapped, synced_at is None, identity)


def _register(library: Library, path: bytes) -> int:
    facts = _stat(path)
    with library.changes() as database:
        return database.execute(
            "INSERT INTO roots (path, device, inode) VALUES (?, ?, ?)", (path, *_identity(facts))
        )


def _absorb(library: Library, known: dict[bytes, int]) -> None:
    """Mounted roots inside another root become part of it, so that no file has two roots."""
    for inner in list(known):
        outer = next((root for root in known if _inside(inner, root)), None)
        if outer is None or not _is_folder(inner):
            continue
        with library.changes() as database:
            database.execute(
                "UPDATE files SET root_id = ? WHERE root_id = ?", (known[outer], known[inner])
            )
            forget_root(database, known.pop(inner))


def _check(library: Library, path: bytes, known: dict[bytes, int]) -> None:
    registered = any(path == root or _inside(path, root) for root in known)
    if not os.path.lexists(path) and not registered:
        raise UsageError(
            f"the folder {path_text(path)} does not exist",
            hint="check the spelling, and that the drive is mounted",
        )
    if os.path.lexists(path) and not _is_folder(path):
        raise UsageError(
            f"{path_text(path)} is a file, not a folder",
            hint="give the folder that holds it",
        )
    own = os.path.realpath(os.fsencode(library.path))
    if path == own or _inside(path, own) or _walks_into(path, own):
        raise UsageError(
            f"the library folder {path_text(own)} and the photo folder {path_text(path)} are one "
            "inside the other",
            hint="keep the library outside of your photos: --library",
        )


def _registered(database: Database) -> list[tuple[int, bytes]]:
    return [(row[0], row[1]) for row in database.rows("SELECT root_id, path FROM roots")]


def device_at(folder: bytes) -> int:
    """Device of the folder, or of the nearest one above it that exists."""
    while not os.path.lexists(folder or b"/"):
        folder = folder.rpartition(b"/")[0]
    return _identity(_stat(folder or b"/"))[0]


def _stat(path: bytes) -> os.stat_result:
    return Path(os.fsdecode(path)).stat()


def _identity(facts: os.stat_result) -> tuple[int, int]:
    """Device and inode as SQLite's signed integers."""
    return signed(facts.st_dev), signed(facts.st_ino)


def signed(number: int) -> int:
    """An unsigned 64-bit number as the signed one of the same bits."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _is_folder(path: bytes) -> bool:
    return Path(os.fsdecode(path)).is_dir()


def _walks_into(folder: bytes, own: bytes) -> bool:
    """Hidden folders are never walked, so a library in ``~/.local`` may lie below ``~``."""
    return _inside(own, folder) and b"/." not in own[len(folder.rstrip(b"/")) :]


def _inside(path: bytes, folder: bytes) -> bool:
    return path != folder and path.startswith(folder.rstrip(b"/") + b"/")

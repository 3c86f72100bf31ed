"""Maps what SQLite and the operating system raise to the package's error tree.

Knows the causes (full disk, lock, damage, permission) and the way out of each; knows no tables.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from photocraft_local.errors import (
    LibraryCorrupt,
    LibraryError,
    LibraryLocked,
    PhotocraftError,
    StorageFull,
)

_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_UNFIT = ("no such table", "no such column", "Could not decode", "invalid fts5")  # of damaged files
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
# The module decodes what a damaged file holds for names and messages.
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
_SMALLEST_WRITE = 256 * 1024  # SQLite grows its shared-memory file in steps of 32 KiB


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Foreign errors of the block become errors of the package that name ``path``."""
    try:
        yield
    except SQLITE_ERRORS as exc:
        raise from_sqlite(exc, path) from exc
    except OSError as exc:
        raise from_os(exc, path) from exc


def from_sqlite(exc: sqlite3.Error | UnicodeDecodeError, path: Path) -> PhotocraftError:
    if isinstance(exc, UnicodeDecodeError):
        return corrupt(path, f"a text in it is none: {exc.reason}")
    code = getattr(exc, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _is_full(path)):
        return full(path)
    if primary in _DAMAGED or str(exc).startswith(_UNFIT):
        return corrupt(path, str(exc))
    if primary in _BUSY:
        return LibraryLocked(
            f"the database {path} is busy: {exc}",
            hint="another program holds it open for writing; wait for it and run the command again",
        )
    return LibraryError(
        f"the database {path} cannot be used: {exc}",
        hint="check that the library folder is on a mounted, writable drive and belongs to you",
    )


def from_os(exc: OSError, path: Path) -> PhotocraftError:
    if exc.errno in _FULL_ERRNOS:
        return full(path)
    return LibraryError(
        f"{path} cannot be used: {exc.strerror or exc}",
        hint="check that it is on a mounted, writable drive and belongs to you",
    )


def full(path: Path) -> StorageFull:
    return StorageFull(
        f"no space left on the drive of {path}; nothing that was stored is lost",
        hint="free some space, or move the library folder and use --library; then run it again",
    )


def corrupt(path: Path, cause: str, *, hint: str = "") -> LibraryCorrupt:
    return LibraryCorrupt(
        f"{path} is damaged: {cause}",
        hint=hint
        or "restore the library folder from a backup, or move it away and index again; "
        "your photos are not touched",
    )


def _is_full(path: Path) -> bool:
    try:
        space = os.statvfs(path.parent)
    except OSError:
        return False
    return space.f_bavail * space.f_frsize < _SMALLEST_WRITE

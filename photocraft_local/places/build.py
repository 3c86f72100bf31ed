"""The compact gazetteer file: built once from the source packages, then only read.

Owns the file's format and that it appears whole or not at all: it is written beside its final
name under a lock and moved into place. Knows nothing of how it is searched.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from photocraft_local.errors import SettingsError, StorageFull
from photocraft_local.places import sources
from photocraft_local.places.content import SCHEMA, Progress, fill

FORMAT = 3


def gazetteer_path(cache: Path) -> Path:
    return cache / f"gazetteer-{FORMAT}.db"


def ensure_built(cache: Path, progress: Progress | None = None) -> Path:
    """The gazetteer's file, built first (some 10 s of CPU) if it is absent, broken or of older
    tables.

    Two processes may call it at once: the second waits for the first. Raises MissingExtraError
    if it must be built and a source package is absent, StorageFull if it does not fit.
    """
    path = gazetteer_path(cache)
    if _usable(path):
        return path
    with _errors_of(cache):
        cache.mkdir(parents=True, exist_ok=True)
        with _locked(cache / "gazetteer.lock"):
            if not _usable(path):
                _build(path, progress or (lambda what, share: None))
    return path


def _usable(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with contextlib.closing(connect(path)) as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    except sqlite3.DatabaseError:
        return False
    return row is not None and row[0] == _version()


def _version() -> str:
    """Of the file's format and of our own tables in it."""
    return f"{FORMAT}-{sources.tables_digest()}"


def connect(path: Path) -> sqlite3.Connection:
    """Read-only; the file never changes in place, so no locks are needed."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=False)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _errors_of(cache: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.OperationalError) as exc:
        if getattr(exc, "errno", None) == errno.ENOSPC or "full" in str(exc):
            raise StorageFull(
                f"no space left for the gazetteer in {cache}",
                hint="free about 60 MB there, or name another folder with the 'cache' setting",
            ) from exc
        raise SettingsError(
            f"the gazetteer cannot be written to {cache}: {exc}",
            hint="the 'cache' setting names the folder for derived data; it must be writable",
        ) from exc


def _build(path: Path, progress: Progress) -> None:
    packages = sources.versions()
    for left_over in path.parent.glob(f"{path.name}.*.part"):
        left_over.unlink(missing_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with contextlib.closing(sqlite3.connect(part)) as db:
            db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + SCHEMA)
            fill(db, progress)
            meta = {"format": _version(), "sources": json.dumps(packages, sort_keys=True)}
            db.executemany("INSERT INTO meta VALUES (?, ?)", sorted(meta.items()))
            db.commit()
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
    progress("gazetteer ready", 1.0)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Small private files that a crash cannot tear: written aside, synced, then renamed.

Folders are made with mode 0700 and files with 0600, since they tell what a person asked.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from photocraft_local.errors import LibraryError, StorageFull


def write_atomically(path: Path, text: str) -> None:
    """Replaces ``path`` by ``text`` (UTF-8): after a crash it is the old file or the new one.

    One writer a path at a time. Raises StorageFull, or LibraryError where the folder cannot be
    written.
    """
    part = part_of(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with open(part, "wb", opener=private) as stream:
                stream.write(text.encode("utf-8", "backslashreplace"))
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
    except OSError as exc:
        raise storage_error(path, exc) from exc


def part_of(path: Path) -> Path:
    """What a crash in the middle of a write leaves; the next write takes its place."""
    return path.with_name(f".{path.name}.part")


def private(path: str, flags: int) -> int:
    """An opener for files that only their owner reads."""
    return os.open(path, flags, 0o600)


def storage_error(path: Path, cause: OSError) -> LibraryError:
    """The package's error for a failed write to ``path``."""
    if cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(f"no space left to write {path}", hint="free some space and try again")
    return LibraryError(
        f"{path} cannot be written: {cause.strerror or cause}",
        hint="check that the library folder belongs to you and is writable",
    )

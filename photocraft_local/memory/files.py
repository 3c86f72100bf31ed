"""Small private files that a crash cannot tear: written aside, synced, then renamed.

Folders are made with mode 0700 and files with 0600, since they tell what a person asked.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from photocraft_local.errors import LibraryError, StorageFull


def write_atomically(path: Path, text: str) -> None:
    """Replaces ``path`` by ``text`` (UTF-8): after a crash it is the old file or the new one.

    Raises StorageFull, or LibraryError where the folder cannot be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:  # mkstemp made it 0600
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as exc:
        raise storage_error(path, exc) from exc


def storage_error(path: Path, cause: OSError) -> LibraryError:
    """The package's error for a failed write to ``path``."""
    if cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(f"no space left to write {path}", hint="free some space and try again")
    return LibraryError(
        f"{path} cannot be written: {cause.strerror or cause}",
        hint="check that the library folder belongs to you and is writable",
    )

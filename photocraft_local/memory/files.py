"""Small private files that a crash cannot tear, in folders that are made for them.

Folders are made with mode 0700 and files with 0600, since they tell what a person asked.
"""

from __future__ import annotations

import os
from pathlib import Path

from photocraft_local.storage import atomic
from photocraft_local.storage.faults import mapped

JOURNAL = ".journal"  # ending of the file beside a trace that holds its newest steps


def write_atomically(path: Path, text: str) -> None:
    """Replaces ``path`` by ``text`` (UTF-8): after a crash it is the old file or the new one.

    One writer a path at a time. Raises StorageFull, or LibraryError where the folder cannot be
    written.
    """
    with mapped(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        atomic.write_atomically(path, text.encode("utf-8", "backslashreplace"))


def private(path: str, flags: int) -> int:
    """An opener for files that only their owner reads."""
    return os.open(path, flags, 0o600)

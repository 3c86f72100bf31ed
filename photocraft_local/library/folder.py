"""The library folder itself: mode 0700, and never one that holds something else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from photocraft_local.errors import LibraryNotFound, UsageError
from photocraft_local.storage.faults import corrupt

DATABASE = "library.db"
LOCK = "lock"
SPACES = "spaces"


def prepare_folder(path: Path, create: bool) -> None:
    """Make or check the folder; never takes over one that holds something else."""
    database = path / DATABASE
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file, not a library folder", hint="choose another --library")
    if database.exists():
        _refuse_emptied(path)
        _make_private(path)
        return
    if not create:
        raise LibraryNotFound(
            f"there is no library in {path}", hint="make one with: photocraft index FOLDER"
        )
    if path.is_dir() and any(entry.name != LOCK for entry in path.iterdir()):
        raise UsageError(
            f"the folder {path} is not empty and is no library",
            hint="choose a folder that does not exist yet, or an empty one, with --library",
        )
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    _make_private(path)


def _refuse_emptied(path: Path) -> None:
    """A database cut to nothing would pass for a new one, and hand out the ids of photos whose
    vectors are still there."""
    database = path / DATABASE
    if database.stat().st_size == 0 and any((path / SPACES).glob("*/header.json")):
        raise corrupt(database, "it is empty, and vectors of its photos are still there")


def _make_private(path: Path) -> None:
    facts = path.stat()
    if stat.S_IMODE(facts.st_mode) != 0o700 and facts.st_uid == os.geteuid():
        path.chmod(0o700)

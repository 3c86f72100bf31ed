"""Writes that survive a kill: whole files that are replaced at once, and tails that are synced.

Raises OSError; the callers map it. Knows nothing of what the bytes mean.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Replace ``path`` (mode 0600); after a crash it holds the old or the new content. One writer
    a path at a time."""
    part = part_of(path)
    try:
        write_parts(part, [content])
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync(path.parent)


def part_of(path: Path) -> Path:
    """What a crash in the middle of ``write_atomically`` leaves; the next write takes its place."""
    return path.with_name(f".{path.name}.part")


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write a new file (mode 0600) piece by piece and sync it."""
    with _descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
        for part in parts:
            _write_all(file, part)
        os.fsync(file)


def replace_tail(path: Path, offset: int, content: bytes) -> None:
    """Cut the file at ``offset``, write ``content`` there and sync it; if that fails, the file
    ends at ``offset``."""
    with _descriptor(path, os.O_WRONLY) as file:
        os.ftruncate(file, offset)
        os.lseek(file, offset, os.SEEK_SET)
        try:
            _write_all(file, content)
            os.fdatasync(file)
        except BaseException:
            os.ftruncate(file, offset)
            raise


def overwrite_at(path: Path, offsets: Sequence[int], content: bytes) -> None:
    """Put ``content`` at each offset and sync."""
    with _descriptor(path, os.O_WRONLY) as file:
        for offset in offsets:
            os.lseek(file, offset, os.SEEK_SET)
            _write_all(file, content)
        os.fdatasync(file)


def sync(path: Path) -> None:
    """Make the bytes of a file last, or the names in a folder that came, changed or went."""
    with _descriptor(path, os.O_RDONLY) as file:
        os.fsync(file)


@contextmanager
def _descriptor(path: Path, flags: int) -> Iterator[int]:
    file = os.open(path, flags, 0o600)
    try:
        yield file
    finally:
        os.close(file)


def _write_all(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]

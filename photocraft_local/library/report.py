"""What one sync found, in counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class SyncReport:
    """Counts of photos and files; ``photocraft index`` prints most of them."""

    added: int = 0  # photos that are new to the library
    changed: int = 0  # paths that hold other content than before, or a changed sidecar
    moved: int = 0  # photos found again under another path, the old one gone
    duplicates: int = 0  # further paths of a photo that has one
    restored: int = 0  # photos that were missing and are back, vectors kept
    missing: int = 0  # photos that no path holds any more
    unreadable: int = 0  # files that could not be read, known ones included
    unchanged: int = 0  # files with the size and time of last time
    companions: int = 0  # RAW beside JPEG, films of Live Photos
    skipped: int = 0  # all files that are no photo, unreadable ones included
    offline_roots: tuple[bytes, ...] = ()
    empty_roots: tuple[bytes, ...] = ()  # asked for, and without any photo; not kept
    seconds: float = 0.0

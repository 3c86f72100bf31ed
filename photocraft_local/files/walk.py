"""The walk: every photo, video and sidecar below a folder, sorted, each folder once.

Owns what is left out (hidden, junk, ignored) and what is reported as skipped. Reads no photo;
only files whose extension says nothing are opened for their first bytes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from photocraft_local.files.ignore import IGNORE_FILE, IgnoreRules
from photocraft_local.files.kinds import (
    OTHER_EXTENSIONS,
    UNREAD_PICTURE_EXTENSIONS,
    Kind,
    extension,
    kind_of_extension,
    sniff,
)
from photocraft_local.records import Skipped, path_text

OnSkip = Callable[[Skipped], None]

# Left there by systems, photo managers and network drives; hidden names go anyway.
_JUNK: Final = frozenset(
    [b"@eadir", b"#recycle", b"$recycle.bin", b"__macosx", b"lost+found", b"recycler", b"thumbs.db",
     b"ehthumbs.db", b"desktop.ini", b"system volume information", b"picasa.ini",
     b"lightroom catalog previews.lrdata"]
)  # fmt: skip
_MAX_DEPTH: Final = 128


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file of interest. ``path`` is absolute if ``root`` is; times are nanoseconds."""

    path: bytes
    root: bytes
    size: int
    mtime_ns: int
    inode: int
    device: int
    kind: Kind


def walk(root: bytes, *, on_skip: OnSkip, closed: Iterable[bytes] = ()) -> Iterator[FoundFile]:
    """All files of interest below ``root``, depth first, names in byte order.

    Links are followed; a folder that was seen (device, inode) is not entered again. Folders and
    files that cannot be read are reported to ``on_skip`` and left out, never raised. ``closed``
    folders are not entered, whatever link leads there.
    """
    yield from _Walk(root, on_skip, closed).folder(root, IgnoreRules(), 0)


class _Walk:
    __slots__ = ("_on_skip", "_root", "_seen")

    def __init__(self, root: bytes, on_skip: OnSkip, closed: Iterable[bytes]) -> None:
        self._root = root
        self._on_skip = on_skip
        self._seen = {(at.st_dev, at.st_ino) for at in map(os.stat, closed)}

    def folder(self, path: bytes, rules: IgnoreRules, depth: int) -> Iterator[FoundFile]:
        try:
            status = os.stat(path)  # noqa: PTH116 - bytes
            if (status.st_dev, status.st_ino) in self._seen:
                return
            self._seen.add((status.st_dev, status.st_ino))
            with os.scandir(path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as exc:
            self._skip(path, "unreadable", f"the folder cannot be read: {exc.strerror}")
            return
        if depth > _MAX_DEPTH:
            self._skip(path, "unreadable", f"folders are nested deeper than {_MAX_DEPTH}")
            return
        if any(entry.name == IGNORE_FILE for entry in entries):
            rules = rules.within(path, self._on_skip)
        for entry in entries:
            name = entry.name
            if name.startswith(b".") or name.lower() in _JUNK:
                continue
            yield from self._entry(entry, rules, depth)

    def _entry(
        self, entry: os.DirEntry[bytes], rules: IgnoreRules, depth: int
    ) -> Iterator[FoundFile]:
        try:
            is_folder = entry.is_dir()
        except OSError as exc:
            self._skip(entry.path, "unreadable", f"cannot be looked at: {exc.strerror}")
            return
        if rules.active and rules.ignores(entry.path, is_folder):
            return
        if is_folder:
            yield from self.folder(entry.path, rules, depth + 1)
            return
        kind = self._kind(entry)
        if kind is None:
            return
        try:
            status = entry.stat()
        except OSError as exc:
            link = " (a link that leads nowhere)" if entry.is_symlink() else ""
            self._skip(entry.path, "unreadable", f"cannot be read: {exc.strerror}{link}")
            return
        if not stat.S_ISREG(status.st_mode):
            self._skip(entry.path, "unreadable", "is not a regular file")
            return
        yield FoundFile(
            entry.path, self._root, status.st_size, status.st_mtime_ns, status.st_ino,
            status.st_dev, kind,
        )  # fmt: skip

    def _kind(self, entry: os.DirEntry[bytes]) -> Kind | None:
        ending = extension(entry.name)
        kind = kind_of_extension(ending)
        if kind is not None or ending in OTHER_EXTENSIONS:
            return kind
        if ending in UNREAD_PICTURE_EXTENSIONS:
            shown = ending.decode("ascii").upper()
            self._skip(entry.path, "unsupported", f"{shown} pictures are not read")
            return None
        return _sniffed(entry)

    def _skip(self, path: bytes, reason: str, message: str) -> None:
        self._on_skip(Skipped(path, reason, f"{path_text(path)}: {message}"))


def _sniffed(entry: os.DirEntry[bytes]) -> Kind | None:
    """The kind of a file whose extension says nothing, by its first bytes."""
    try:
        if not entry.is_file():
            return None
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            found = sniff(os.read(descriptor, 64), name=entry.name)
        finally:
            os.close(descriptor)
    except OSError:
        return None  # nothing says that it is a photo, so nothing is missed
    if found is None:
        return None
    return {"VIDEO": "video", "RAW": "raw"}.get(found, "photo")  # type: ignore[return-value]

"""Bounded random access to one file: its first 16 KB are read once, the rest on demand.

Never maps the file (a file that shrinks would kill the process) and never opens anything but a
regular file (a FIFO named like a photo would block).
"""

from __future__ import annotations

import os
import stat

from photocraft_local.errors import UnreadablePhoto
from photocraft_local.records import path_text

HEAD_BYTES = 16_384  # holds the tags and, unless a thumbnail lies between, the size
_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def open_regular(path: bytes) -> tuple[int, int]:
    """Descriptor and size in bytes of a regular file; raises UnreadablePhoto."""
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except (OSError, ValueError) as exc:
        raise _unreadable(path, exc) from exc
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise UnreadablePhoto(
            f"{path_text(path)} is not a regular file", hint="only regular files are read"
        )
    return descriptor, status.st_size


def _unreadable(path: bytes, exc: Exception) -> UnreadablePhoto:
    cause = getattr(exc, "strerror", None) or str(exc)
    return UnreadablePhoto(
        f"{path_text(path)} cannot be read: {cause}",
        hint="check the file's permissions and the drive; the next run tries it again",
    )


class FileSource:
    """One open file. Reads past the end give fewer bytes; errors are UnreadablePhoto."""

    __slots__ = ("_descriptor", "head", "path", "size")

    def __init__(self, path: bytes) -> None:
        self.path = path
        self._descriptor, self.size = open_regular(path)
        try:
            self.head = os.pread(self._descriptor, HEAD_BYTES, 0)
        except OSError as exc:
            os.close(self._descriptor)
            raise _unreadable(path, exc) from exc
        if not self.head:
            os.close(self._descriptor)
            raise UnreadablePhoto(f"{path_text(path)} is empty (0 bytes)", hint="copy it again")

    def __enter__(self) -> FileSource:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def read(self, offset: int, count: int) -> bytes:
        """Up to ``count`` bytes at ``offset``."""
        end = offset + count
        if end <= len(self.head):
            return self.head[offset:end]
        if offset >= self.size or offset < 0 or count <= 0:
            return b""
        try:
            return os.pread(self._descriptor, min(count, self.size - offset), offset)
        except OSError as exc:
            raise _unreadable(self.path, exc) from exc

    def read_into(self, buffer: memoryview) -> int:
        """Fill ``buffer`` from the start of the file; the count of bytes read."""
        done = 0
        try:
            while done < len(buffer):
                count = os.preadv(self._descriptor, [buffer[done:]], done)
                if not count:
                    break
                done += count
        except OSError as exc:
            raise _unreadable(self.path, exc) from exc
        return done

    def broken(self, cause: str) -> UnreadablePhoto:
        """The error for a picture whose content makes no sense."""
        return UnreadablePhoto(
            f"{path_text(self.path)} is broken: {' '.join(cause.split())}",
            hint="open it in another program or restore it from a backup",
        )

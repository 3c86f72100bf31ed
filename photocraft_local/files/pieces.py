"""Pieces of a ``FileSource`` as one readable, seekable file for the decoders."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from photocraft_local.files.source import FileSource

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Pieces(io.RawIOBase):
    """The bytes of ``pieces`` (offset, length) one after another."""

    def __init__(self, source: FileSource, pieces: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self._source = source
        self._starts: list[int] = []  # of each piece, in the joined stream
        self._offsets: list[int] = []
        self._size = 0
        self._position = 0
        for offset, length in pieces:
            length = min(length, source.size - offset)
            if length > 0:
                self._starts.append(self._size)
                self._offsets.append(offset)
                self._size += length

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise OSError("negative seek position")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        if self._position >= self._size:
            return 0
        index = bisect_right(self._starts, self._position) - 1
        inside = self._position - self._starts[index]
        end = self._starts[index + 1] if index + 1 < len(self._starts) else self._size
        data = self._source.read(
            self._offsets[index] + inside, min(len(view), end - self._position)
        )
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

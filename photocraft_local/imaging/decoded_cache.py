"""Decoded photos kept for the next look: whoever zooms into a photo does it again.

Bounded by bytes, the longest unused goes first; a changed file is decoded anew. Many threads may
ask: each photo is decoded by one of them while the others wait.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeAlias

from photocraft_local.files.decode import Decoded, decode_upright

Key: TypeAlias = tuple[bytes, int, int, int]  # path, device's file number, time in ns, size


class DecodedCache:
    """Full-size upright pixels by path. They are shared, hence read-only."""

    def __init__(
        self,
        most_bytes: int = 512 << 20,
        decode: Callable[[bytes], Decoded] = decode_upright,
    ) -> None:
        self._most = most_bytes
        self._decode = decode
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Future[Decoded]] = OrderedDict()
        self._bytes = 0

    def get(self, path: bytes) -> Decoded:
        """Raises what the decoder raises; a failure is not kept."""
        key = _key(path)
        with self._lock:
            future = self._kept.get(key)
            mine = future is None
            if future is None:
                future = self._kept[key] = Future()
            self._kept.move_to_end(key)
        if mine:
            self._fill(key, future)
        return future.result()

    def _fill(self, key: Key, future: Future[Decoded]) -> None:
        try:
            decoded = self._decode(key[0])
        except BaseException as exc:  # noqa: BLE001  # other threads wait for it
            with self._lock:
                del self._kept[key]
            future.set_exception(exc)
            return
        decoded.pixels.setflags(write=False)
        future.set_result(decoded)
        with self._lock:
            self._bytes += decoded.pixels.nbytes
            for old in [each for each in self._kept if self._kept[each].done()]:
                if self._bytes <= self._most:
                    break
                self._bytes -= self._kept.pop(old).result().pixels.nbytes

    @property
    def num_bytes(self) -> int:
        """Of pixels that are kept."""
        return self._bytes


def _key(path: bytes) -> Key:
    try:
        status = Path(os.fsdecode(path)).stat()
    except (OSError, ValueError):
        return path, 0, 0, 0  # the decoder says what is wrong
    return path, status.st_ino, status.st_mtime_ns, status.st_size

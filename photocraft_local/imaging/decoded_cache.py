"""Decoded photos kept for the next look: whoever zooms into a photo does it again.

Bounded by bytes, the longest unused goes first; a changed file is decoded anew. Many threads may
ask: each photo is decoded by one of them while the others wait. Of a first crop the rows above its
end are kept; the whole photo is decoded once a crop reaches further down. The first crop of a large
photo does not wait for that: it is decoded alone, and the rows by a thread of the cache's own.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from photocraft_local.errors import PhotocraftError
from photocraft_local.files.decode import Decoded, decode_upright
from photocraft_local.files.decode_region import UpperRows, decode_part, decode_rows
from photocraft_local.imaging.crops import cut
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.pictures import Pixels

# Path, device's file number, time in ns, size, and what of it: the shorter side or one of these.
Key: TypeAlias = tuple[bytes, int, int, int, int]
_WHOLE: Final = 0
_UPPER: Final = -1
_MOST_PIXELS: Final = 300_000_000
_LARGE: Final = 4_000_000  # pixels; less is decoded in 20 ms


class DecodedCache:
    """Upright pixels by path. They are shared, hence read-only."""

    def __init__(
        self,
        most_bytes: int = 512 << 20,
        decode: Callable[..., Decoded] = decode_upright,
    ) -> None:
        self._most = most_bytes
        self._decode = decode
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Future[Any]] = OrderedDict()
        self._bytes = 0
        self._ahead = ThreadPoolExecutor(1, "decode ahead")  # its thread begins with its first work
        self._begun: set[Key] = set()  # what it has to do, or cannot

    def get(
        self, path: bytes, *, short_side: int | None = None, max_pixels: int = _MOST_PIXELS
    ) -> Decoded:
        """As ``decode_upright``, and raises what it raises; a failure is not kept."""
        made: Decoded = self._once(
            _key(path, short_side or _WHOLE),
            lambda: self._decode(path, short_side=short_side, max_pixels=max_pixels),
        )
        return made

    def region(self, path: bytes, box: Box, *, max_pixels: int = _MOST_PIXELS) -> Pixels:
        """The box of the full-size upright picture, the caller's own.

        Raises UsageError for a box that is not inside, and what ``decode_upright`` raises.
        """
        whole, upper, corners = _key(path, _WHOLE), _key(path, _UPPER), box.corners()
        if not self._holds(whole):
            if not self._holds(upper):
                part = decode_part(path, corners, max_pixels=max_pixels, least_pixels=_LARGE)
                if part is not None:
                    self._begin(upper, path, box, max_pixels)
                    return part
            rows = self._rows(upper, path, box, max_pixels)
            found: Pixels | None = rows.cut(corners) if rows else None
            if found is not None:
                return found
            self._forget(upper)
        return cut(self.get(path, max_pixels=max_pixels).pixels, box).copy()

    def _rows(self, upper: Key, path: bytes, box: Box, max_pixels: int) -> UpperRows | None:
        rows: UpperRows | None = self._once(
            upper, lambda: decode_rows(path, box.corners(), max_pixels=max_pixels)
        )
        return rows

    def _begin(self, upper: Key, path: bytes, box: Box, max_pixels: int) -> None:
        """What the next crop of the photo will want, decoded while nobody waits for it."""

        def work() -> None:
            # Whoever asks next is told what is wrong.
            with suppress(PhotocraftError, OSError, MemoryError):
                if self._rows(upper, path, box, max_pixels) is None:
                    self.get(path, max_pixels=max_pixels)
            if self._holds(upper) or self._holds(_key(path, _WHOLE)):
                self._begun.discard(upper)  # else it is too large to be kept: not again

        with self._lock:
            if self._most <= 0 or upper in self._begun:
                return
            self._begun.add(upper)
        with suppress(RuntimeError):  # the program ends
            self._ahead.submit(work)

    @property
    def num_bytes(self) -> int:
        """Of pixels that are kept."""
        return self._bytes

    def clear(self) -> None:
        """Let go of all that is decoded."""
        with self._lock:
            for key in [each for each in self._kept if self._kept[each].done()]:
                self._remove(key)

    def _once(self, key: Key, make: Callable[[], Any]) -> Any:
        """What is kept under ``key``, else what ``make`` gives; None is given and not kept."""
        with self._lock:
            future = self._kept.get(key)
            mine = future is None
            if future is None:
                future = self._kept[key] = Future()
            self._kept.move_to_end(key)
        if mine:
            self._fill(key, future, make)
        return future.result()

    def _fill(self, key: Key, future: Future[Any], make: Callable[[], Any]) -> None:
        try:
            made = make()
        except BaseException as exc:  # noqa: BLE001  # other threads wait for it
            with self._lock:
                del self._kept[key]
            future.set_exception(exc)
            return
        if made is not None:
            made.pixels.setflags(write=False)
        with self._lock:
            future.set_result(made)
            self._bytes += 0 if made is None else _size(made)
            if made is None:
                del self._kept[key]
            for old in [each for each in self._kept if self._kept[each].done()]:
                if self._bytes <= self._most:
                    break
                self._remove(old)

    def _holds(self, key: Key) -> bool:
        with self._lock:
            return key in self._kept

    def _forget(self, key: Key) -> None:
        with self._lock:
            if key in self._kept and self._kept[key].done():
                self._remove(key)

    def _remove(self, key: Key) -> None:
        self._bytes -= _size(self._kept.pop(key).result())


def _size(made: Any) -> int:
    """In bytes, what a view of it keeps alive included."""
    base = made.pixels.base
    return int(getattr(base, "nbytes", made.pixels.nbytes))


def _key(path: bytes, part: int) -> Key:
    try:
        status = Path(os.fsdecode(path)).stat()
    except (OSError, ValueError):
        return path, 0, 0, 0, part  # the decoder says what is wrong
    return path, status.st_ino, status.st_mtime_ns, status.st_size, part

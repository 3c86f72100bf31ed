"""One photo → pixels for the encoder, in a worker thread; a fault becomes data.

Very large pictures are decoded one at a time, so that threads cannot multiply their memory.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from photocraft_local.embeddings.encoder import Pixels
from photocraft_local.errors import PhotoError
from photocraft_local.files.decode import decode_upright
from photocraft_local.library.inspect import may_pass
from photocraft_local.records import Photo

_LARGE_PIXELS = 60_000_000  # 180 MB as RGB; JPEG is exempt, it is decoded at a fraction


@dataclass(frozen=True, slots=True)
class Ready:
    """A decoded photo; ``flags`` are doubts that only decoding shows."""

    photo: Photo
    pixels: Pixels
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A photo without a vector. ``retry``: the cause may pass, so nothing is recorded."""

    photo: Photo
    reason: str
    message: str
    retry: bool = False


class Decoder:
    """``side`` is the shorter side that the encoder wants; 0: it wants no pixels."""

    def __init__(self, side: int, max_pixels: int) -> None:
        self._side = side
        self._max_pixels = max_pixels
        self._one_at_a_time = threading.Lock()

    def decode(self, photo: Photo) -> Ready | Failed:
        """The first of the photo's paths that can be decoded."""
        if not self._side:
            return Ready(photo, np.zeros((0, 0, 3), np.uint8), ())
        failed = Failed(photo, "unreadable", "no path of the photo can be opened", retry=True)
        large = photo.format != "JPEG" and photo.width * photo.height > _LARGE_PIXELS
        with self._one_at_a_time if large else nullcontext():
            for path in photo.paths:
                try:
                    decoded = decode_upright(
                        path, short_side=self._side, max_pixels=self._max_pixels
                    )
                except PhotoError as exc:
                    failed = Failed(photo, exc.reason, exc.message, retry=may_pass(exc))
                else:
                    return Ready(photo, decoded.pixels, decoded.flags)
        return failed

"""One photo → pixels for the encoder, in a worker thread; a fault becomes data.

Pictures of which very many pixels are decoded go one at a time, so that threads cannot multiply
their memory.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from photocraft_local.embeddings.encoder import DevicePreparing, Encoder, Preparing
from photocraft_local.errors import PhotoError
from photocraft_local.files.decode import decode_upright
from photocraft_local.files.decode_jpeg import held_pixels
from photocraft_local.files.gpu_jpeg import GpuJpegs, open_gpu
from photocraft_local.files.header import read_header
from photocraft_local.files.source import FileSource
from photocraft_local.imaging.device_patches import need_kernel
from photocraft_local.library.inspect import may_pass
from photocraft_local.records import Photo

_LARGE_PIXELS = 60_000_000  # 180 MB as RGB


@dataclass(frozen=True, slots=True)
class Ready:
    """A decoded photo: its pixels, or what a ``Preparing`` encoder made of it. ``flags`` are
    doubts that only decoding shows."""

    photo: Photo
    pixels: Any
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A photo without a vector. ``retry``: the cause may pass, so nothing is recorded."""

    photo: Photo
    reason: str
    message: str
    retry: bool = False


class Decoder:
    """Gives what ``encoder`` wants: its pixels, or what it prepares itself. ``gpu`` decodes the
    JPEG files of a batch, if there is one."""

    def __init__(self, encoder: Encoder, max_pixels: int, gpu: GpuJpegs | None = None) -> None:
        self._gpu, self._encoder = gpu, encoder
        self._side = encoder.spec.decode_side  # 0: it wants no pixels
        self._prepare = encoder.prepare if isinstance(encoder, Preparing) else self._decoded
        self._max_pixels = max_pixels
        self._one_at_a_time = threading.Lock()

    def decode(self, photo: Photo) -> Ready | Failed:
        """The first of the photo's paths that can be decoded."""
        if not self._side:
            return Ready(photo, np.zeros((0, 0, 3), np.uint8), ())
        failed = Failed(photo, "unreadable", "no path of the photo can be opened", retry=True)
        with self._one_at_a_time if self._is_large(photo) else nullcontext():
            for path in photo.paths:
                try:
                    pixels, flags = self._prepare(path, max_pixels=self._max_pixels)
                except PhotoError as exc:
                    failed = Failed(photo, exc.reason, exc.message, retry=may_pass(exc))
                else:
                    return Ready(photo, pixels, flags)
        return failed

    def decode_many(self, photos: Sequence[Photo]) -> list[Ready | Failed]:
        """Each as ``decode`` gives it; what the GPU cannot do is done here."""
        assert self._gpu is not None
        paths = [photo.paths[0] for photo in photos]
        if isinstance(self._encoder, DevicePreparing):
            made = self._encoder.prepare_many(self._gpu, paths, max_pixels=self._max_pixels)
            return [
                self.decode(photo) if one is None else Ready(photo, *one)
                for photo, one in zip(photos, made, strict=True)
            ]
        found = self._gpu.decode(paths, short_side=self._side, max_pixels=self._max_pixels)
        return [
            self.decode(photo) if one is None else Ready(photo, one.pixels, one.flags)
            for photo, one in zip(photos, found, strict=True)
        ]

    def _is_large(self, photo: Photo) -> bool:
        """By the pixels that are really decoded: of most JPEGs a fraction, of some all."""
        if photo.format != "JPEG" or photo.width * photo.height <= _LARGE_PIXELS:
            return photo.width * photo.height > _LARGE_PIXELS
        exact = self._prepare == self._decoded
        try:
            with FileSource(photo.paths[0]) as source:
                header = read_header(source)
        except PhotoError:
            return True  # decoding tells what it is
        return held_pixels(header, self._side, exact=exact) > _LARGE_PIXELS

    def _decoded(self, path: bytes, *, max_pixels: int) -> tuple[Any, tuple[str, ...]]:
        decoded = decode_upright(path, short_side=self._side, max_pixels=max_pixels)
        return decoded.pixels, decoded.flags


def gpu_for(encoder: Encoder, decode_device: str) -> GpuJpegs | None:
    """What decodes for ``encoder`` by that setting; None: the CPU does.

    An encoder that takes no pixels, or whose model runs elsewhere, has no use for a GPU here.
    Raises MissingExtraError, SettingsError.
    """
    if decode_device != "gpu" or not encoder.spec.decode_side:
        return None
    if isinstance(encoder, DevicePreparing):
        if not encoder.takes_device_rows():
            return None
        need_kernel()
    elif isinstance(encoder, Preparing):
        return None
    return open_gpu()

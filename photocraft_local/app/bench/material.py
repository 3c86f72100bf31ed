"""What is measured on: photos of the person's library, or made ones in a temporary folder.

Photos are only read. Knows no stage.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from photocraft_local.errors import LibraryNotFound, PhotocraftError
from photocraft_local.files.decode import decode_upright

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts

_MONTHS = 12
_NOISE = 4.0  # standard deviation in 8-bit steps, as a phone's sensor leaves in daylight


@dataclass(frozen=True, slots=True)
class Material:
    """JPEG files, and what they are in words."""

    files: tuple[bytes, ...]
    told: str
    is_own: bool


def photos_of(parts: Parts, folder: Path, *, quick: bool) -> Material:
    """Photos spread over the library, or made ones where it has none of them at hand."""
    wanted = 8 if quick else 48
    try:
        own = [
            photo.paths[0]
            for photo in parts.library().photos(include_offline=False)
            if photo.format == "JPEG" and photo.paths
        ]
    except LibraryNotFound:
        own = []
    step = max(1, len(own) // wanted)
    looked_at = own[::step][:wanted]
    chosen = [path for path in looked_at if _is_readable(path, parts.settings.max_pixels)]
    if chosen:
        told = f"{len(chosen)} of the library's {len(own):,} JPEG photos"
        if damaged := len(looked_at) - len(chosen):
            told += f" ({damaged} more cannot be decoded)"
        return Material(tuple(chosen), told, is_own=True)
    return made_photos(folder, 3 if quick else 8)


def _is_readable(path: bytes, max_pixels: int) -> bool:
    """By us and by the decoder of the floor."""
    import simplejpeg

    try:
        decode_upright(path, short_side=64, max_pixels=max_pixels)
        simplejpeg.decode_jpeg(Path(os.fsdecode(path)).read_bytes(), "GRAY", min_width=1)
    except (PhotocraftError, OSError, ValueError):
        return False
    return True


def made_photos(folder: Path, count: int) -> Material:
    """12-megapixel JPEG files of blobs under sensor noise."""
    dice = np.random.default_rng(1)
    files = []
    for index in range(count):
        path = folder / f"made-{index}.jpg"
        _write(path, dice, (4032, 3024), 93)
        files.append(bytes(path))
    return Material(tuple(files), f"{count} made JPEG photos of 12 megapixels", is_own=False)


def small_album(folder: Path, count: int) -> Path:
    """Small made photos with capture times in 2021, to ask questions about."""
    dice = np.random.default_rng(2)
    folder.mkdir()
    for index in range(count):
        taken = f"2021:{index % _MONTHS + 1:02}:{index // _MONTHS % 27 + 1:02} 10:00:00"
        _write(folder / f"{index:03}.jpg", dice, (640, 480), 85, taken)
    return folder


def _write(
    path: Path, dice: np.random.Generator, size: tuple[int, int], quality: int, taken: str = ""
) -> None:
    from PIL import Image

    blobs = Image.fromarray(dice.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize(size)
    pixels = np.asarray(blobs, np.float32)
    pixels = pixels + dice.standard_normal(pixels.shape, np.float32) * _NOISE
    exif = Image.Exif()
    if taken:
        exif.get_ifd(0x8769)[0x9003] = taken  # DateTimeOriginal
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    image.save(path, quality=quality, subsampling="4:2:0", exif=exif)

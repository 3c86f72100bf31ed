"""Pictures of crops come and go, their ids stay: what is cleared is cut again when it is wanted.

A crop's row (photo and box) is kept as long as its photo, so that a trace that names it stays
true. Only a picture that can be cut again is ever cleared. Knows no policy but its numbers.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.errors import PhotoError, UnknownPhoto, UnreadablePhoto
from photocraft_local.files.fingerprint import digest_file
from photocraft_local.library.uids import split_crop
from photocraft_local.records import Photo
from photocraft_local.storage.faults import mapped

if TYPE_CHECKING:
    from photocraft_local.library.crops import Crop
    from photocraft_local.library.library import Library

_DAY = 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class Cleared:
    crops: int
    size: int  # bytes


def picture_of(library: Library, crop: Crop) -> Path:
    """The crop's picture, cut again if it was cleared; either way it counts as used now.

    Raises UnreadablePhoto if it is gone and no file holds its photo now.
    """
    try:
        os.utime(crop.path)
    except FileNotFoundError:
        return _cut_again(library, crop)
    except OSError:
        pass  # a library that is read only; the picture is there
    return crop.path


def clear(library: Library, *, most_bytes: int, days: float) -> Cleared:
    """Delete pictures of crops that were not used for ``days``, then the longest unused until all
    take ``most_bytes`` at most; and those that no row names. The caller holds the write lock.
    """
    now = time.time()
    number = size = total = 0
    kept: list[tuple[float, int, Path]] = []
    with mapped(library.crops.folder):
        for path in library.crops.files():
            facts = path.stat()
            if _is_named(library, path):
                kept.append((facts.st_mtime, facts.st_size, path))
                total += facts.st_size
                continue
            path.unlink(missing_ok=True)
            number, size = number + 1, size + facts.st_size
        at_hand: dict[str, bool] = {}
        for used, length, path in sorted(kept):
            if total <= most_bytes and now - used <= days * _DAY:
                break  # those that follow were used later
            parent = path.name.partition(".")[0]
            if parent not in at_hand:
                at_hand[parent] = _has_file(library, parent)
            if at_hand[parent]:
                path.unlink(missing_ok=True)
                number, size, total = number + 1, size + length, total - length
    return Cleared(number, size)


def _is_named(library: Library, path: Path) -> bool:
    if path.suffix != ".png" or not split_crop(path.stem):
        return False
    try:
        library.crops.get(path.stem)
    except UnknownPhoto:
        return False
    return True


def _has_file(library: Library, uid: str) -> bool:
    """Whether the photo's file is there now. Else the crop's picture may be all that is left."""
    try:
        return any(Path(os.fsdecode(path)).is_file() for path in library.photo(uid).paths)
    except UnknownPhoto:
        return False


def _file_of(photo: Photo) -> bytes | None:
    """A file that holds the photo, by its bytes: another picture cannot take its place."""
    for path in photo.paths:
        try:
            if digest_file(path) == photo.digest:
                return path
        except PhotoError:
            continue
    return None


def _cut_again(library: Library, crop: Crop) -> Path:
    from photocraft_local.imaging.crops import crop_view
    from photocraft_local.imaging.geometry import Box
    from photocraft_local.imaging.pictures import png_bytes

    photo = library.photo(crop.parent_uid)
    path = _file_of(photo)
    if path is None:
        raise UnreadablePhoto(
            f"the picture of {crop.uid} was cleared, and the file of {photo.uid} is not there to"
            " cut it again",
            hint="mount its drive, or index its folder again",
        )
    box = Box.from_corners(*crop.box)
    view = crop_view(path, box, max_pixels=library.settings.max_pixels)
    library.add_crop(photo.uid, crop.box, png_bytes(view.pixels))
    return crop.path

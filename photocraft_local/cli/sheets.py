"""A contact sheet of results as a PNG file that the person named.

Never writes over a file that photocraft did not make: a slip must not cost a photo.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from photocraft_local.cli.rendering import place_text, when_text
from photocraft_local.errors import StorageFull, UsageError
from photocraft_local.records import Photo, path_text
from photocraft_local.storage.faults import from_os

MAX_PHOTOS = 400  # more would be too small to read, and many more fit on no sheet
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER_END = len(_SIGNATURE) + 25  # after the IHDR chunk
_MARK = b"Software\0photocraft contact sheet"


def write_sheet(
    path: Path, photos: Sequence[Photo], captions: Sequence[str] = (), *, title: str = ""
) -> Path:
    """Write a captioned sheet of ``photos``; ``captions`` stand beside the UID. Of more than 400
    photos the first ones are drawn, and the title says so.

    Raises UsageError if the file may not be written or ``photos`` is empty.
    """
    from photocraft_local.imaging.contact_sheet import contact_sheet

    check_target(path)  # before the work
    items = [
        (_picture(photo), _label(photo, caption))
        for photo, caption in _paired(photos, captions)[:MAX_PHOTOS]
    ]
    if len(photos) > MAX_PHOTOS:
        title = f"{title} (the first {MAX_PHOTOS} of {len(photos):,})".strip()
    return write_png(path, contact_sheet(items, title=title))


def write_png(path: Path, png: bytes) -> Path:
    """Write a picture that photocraft made, marked as its own. Raises UsageError if the file may
    not be written, StorageFull for a full drive."""
    check_target(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(png[:_HEADER_END] + _chunk(b"tEXt", _MARK) + png[_HEADER_END:])
        unfinished.replace(path)
    except OSError as exc:
        unfinished.unlink(missing_ok=True)
        fault = from_os(exc, path)
        if isinstance(fault, StorageFull):
            raise fault from exc
        raise UsageError(
            f"the picture {str(path)!r} cannot be written: {exc.strerror}",
            hint="name a file in a folder that you may write to",
        ) from exc
    return path


def check_target(path: Path) -> None:
    """Refuse what is no ``.png`` name or an existing file of someone else, before any search."""
    if path.suffix.lower() != ".png":
        raise UsageError(f"a contact sheet is a PNG file, not {path.name!r}", hint="end it in .png")
    if not path.parent.is_dir():
        raise UsageError(
            f"there is no folder {str(path.parent)!r} for the contact sheet",
            hint="make the folder first, or name another",
        )
    if path.is_symlink() or (path.exists() and not _is_ours(path)):
        raise UsageError(
            f"{str(path)!r} exists and is not a contact sheet of photocraft",
            hint="name another file; nothing is ever written over",
        )


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _MARK in file.read(_HEADER_END + 12 + len(_MARK))
    except OSError:
        return False


def _paired(photos: Sequence[Photo], captions: Sequence[str]) -> list[tuple[Photo, str]]:
    return list(zip(photos, captions or [""] * len(photos), strict=True))


def _picture(photo: Photo) -> bytes | None:
    return photo.paths[0] if photo.paths and not photo.offline else None


def _label(photo: Photo, caption: str) -> str:
    name = path_text(photo.paths[0].rpartition(b"/")[2]) if photo.paths else ""
    first = " ".join(part for part in (photo.uid, caption, name) if part)
    known = [text for text in (when_text(photo), place_text(photo)) if text != "-"]
    return "\n".join([first, *known])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

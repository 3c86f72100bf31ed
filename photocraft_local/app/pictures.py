"""Picture files that come with a question: checked, and what they say of time and place read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.agent.pictures import Picture
from photocraft_local.app.indexing import absolute
from photocraft_local.errors import AgentError, UnknownPhoto, UsageError
from photocraft_local.library.uids import SHORTEST, base32
from photocraft_local.records import Photo, path_text

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts
    from photocraft_local.library.library import Library

MOST = 8  # as many as one search by example takes
_LONGER_UIDS = 4  # letters more than the shortest; beyond that no two of a library collide
_CHECK_SIDE = 32  # pixels: enough to see that a file can be decoded


def pictures_of(parts: Parts, files: Sequence[str | bytes | Path]) -> tuple[Picture, ...]:
    """The pictures as q1, q2 … in their order.

    Raises UsageError for a file that is not there or one too many, PhotoError for what is no
    picture, is broken or too large.
    """
    if len(files) > MOST:
        raise UsageError(
            f"{len(files)} pictures came with the question",
            hint=f"give at most {MOST}; index a folder to search among more",
        )
    return tuple(
        _picture(parts, f"q{number}", absolute(file)) for number, file in enumerate(files, start=1)
    )


def _picture(parts: Parts, name: str, path: bytes) -> Picture:
    from photocraft_local.files.decode import decode_upright
    from photocraft_local.files.fingerprint import digest_file
    from photocraft_local.files.metadata import read_metadata

    if not Path(os.fsdecode(path)).is_file():
        raise UsageError(
            f"the picture {path_text(path)} is not there, or is no file",
            hint="check the spelling, and that the drive is mounted",
        )
    decode_upright(path, short_side=_CHECK_SIDE, max_pixels=parts.settings.max_pixels)
    digest = digest_file(path)
    known = _in_library(parts.library(), digest)
    facts = known or read_metadata(path)
    spot = facts.location
    return Picture(
        name,
        path,
        digest,
        facts.taken.local if facts.taken else None,
        spot.latitude if spot else None,
        spot.longitude if spot else None,
        _address(parts, spot.latitude, spot.longitude) if spot else "",
        known.uid if known else "",
    )


def _in_library(library: Library, digest: str) -> Photo | None:
    """The library's own photo of the same bytes: it knows what sidecars said, too."""
    letters = base32(bytes.fromhex(digest))
    for length in range(SHORTEST, SHORTEST + _LONGER_UIDS):
        try:
            photo = library.photo(f"p{letters[:length]}")
        except UnknownPhoto:
            continue
        if photo.digest == digest:
            return photo
    return None


def _address(parts: Parts, latitude: float, longitude: float) -> str:
    found = parts.atlas().name(latitude, longitude)
    return found.address() if found else ""


def is_unchanged(picture: Picture) -> bool:
    """Whether the file is there with the bytes of when its question was asked."""
    from photocraft_local.files.fingerprint import digest_file

    there = Path(os.fsdecode(picture.path)).is_file()
    return there and digest_file(picture.path) == picture.digest


def check_unchanged(pictures: Sequence[Picture]) -> None:
    """Raises AgentError if a picture is not what it was when its question was asked."""
    for picture in pictures:
        if not is_unchanged(picture):
            raise AgentError(
                f"the picture {path_text(picture.path)} of the question is gone or has changed",
                hint="ask the question again",
            )

"""Metadata that stands beside the photos and takes the place of what their files say.

For data sets and exports that bring their own: a file that is not named has none. Knows no format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from photocraft_local.records import CaptureTime, FileMetadata, GeoPoint

SOURCE = "given"  # of a time


@dataclass(frozen=True, slots=True)
class GivenMetadata:
    """Of one photo. ``address`` is kept as it is, fine to coarse; no gazetteer changes it."""

    taken: CaptureTime | None = None
    location: GeoPoint | None = None
    address: str = ""
    camera: str = ""


Given = Mapping[bytes, GivenMetadata]  # by absolute path
_NOTHING = GivenMetadata()


def instead(metadata: FileMetadata, given: Given, path: bytes) -> FileMetadata:
    """What the header says of the pixels, and what is given of all else."""
    mine = given.get(path, _NOTHING)
    return replace(
        metadata,
        taken=mine.taken,
        location=mine.location,
        camera=mine.camera,
        address=mine.address,
        flags=(),
    )

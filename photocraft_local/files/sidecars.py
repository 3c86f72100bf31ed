"""Files beside a photo: ``.xmp`` packets and Google Takeout's ``.json``.

Owns how they are named and read. Their content is untrusted: bounded, and a fault is a flag.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from photocraft_local.errors import UnreadablePhoto
from photocraft_local.files.gps import NO_POSITION, Position, signed_position, xmp_position
from photocraft_local.files.kinds import extension
from photocraft_local.files.source import FileSource
from photocraft_local.files.xmp import parse_xmp

_MAX_BYTES: Final = 4 << 20
_TAKEOUT_NAME: Final = 46  # Takeout cuts names of JSON files to this length, extension aside
_TAKEOUT_SUFFIX: Final = b".supplemental-metadata"
_NUMBERED: Final = re.compile(rb"(.+)(\(\d{1,4}\))(\.[^.]*|)", re.DOTALL)
_EDITED: Final = re.compile(
    rb"(.+)-(?:edited|bearbeitet|modifi\xc3\xa9|editado)(\.[^.]*)", re.DOTALL
)
_BROKEN: Final = ("unreadable-sidecar",)


@dataclass(frozen=True, slots=True)
class Sidecar:
    """What the file beside the photo says; ``utc`` is naive UTC."""

    properties: dict[str, str] = field(default_factory=dict)
    position: Position = NO_POSITION
    utc: datetime | None = None
    flags: tuple[str, ...] = ()


NO_SIDECAR: Final = Sidecar()


def sidecar_of(name: bytes, names: Collection[bytes]) -> bytes | None:
    """The name of the sidecar of the photo ``name`` among ``names`` of its folder.

    ``a.jpg.xmp`` before ``a.xmp`` before Takeout's ``a.jpg.json`` and
    ``a.jpg.supplemental-metadata.json``, whose names it may cut. Takeout puts the number of
    ``a(1).jpg`` behind: ``a.jpg(1).json``; and ``a-edited.jpg`` shares the file of ``a.jpg``.
    """
    stem = name.rpartition(b".")[0] or name
    for candidate in (name + b".xmp", name + b".XMP", stem + b".xmp", stem + b".XMP"):
        if candidate in names and candidate != name:
            return candidate
    found = _takeout_of(name, b"", names)
    if found is None and (numbered := _NUMBERED.fullmatch(name)):
        found = _takeout_of(numbered[1] + numbered[3], numbered[2], names)
    if found is None and (edited := _EDITED.fullmatch(name)):
        found = sidecar_of(edited[1] + edited[2], names)
    return found


def _takeout_of(name: bytes, number: bytes, names: Collection[bytes]) -> bytes | None:
    """The ``.json`` of the photo ``name`` whose copies are told apart by ``number``: ``(1)``."""
    if name[:_TAKEOUT_NAME] + number + b".json" in names:
        return name[:_TAKEOUT_NAME] + number + b".json"
    for length in range(len(_TAKEOUT_SUFFIX), 0, -1):
        candidate = name + _TAKEOUT_SUFFIX[:length] + number + b".json"
        if candidate in names:
            return candidate
    return None


def read_sidecar(path: bytes) -> Sidecar:
    """Read an ``.xmp`` or ``.json`` file; never raises: a fault becomes a flag."""
    try:
        with FileSource(path) as source:
            if source.size > _MAX_BYTES:
                return Sidecar(flags=_BROKEN)
            data = source.read(0, source.size)
    except UnreadablePhoto:
        return Sidecar(flags=_BROKEN)
    return _takeout(data) if extension(path) == b"json" else _xmp(data)


def _xmp(data: bytes) -> Sidecar:
    properties, sound = parse_xmp(data)
    return Sidecar(properties, xmp_position(properties), flags=() if sound else _BROKEN)


def _takeout(data: bytes) -> Sidecar:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return Sidecar(flags=_BROKEN)
    if not isinstance(document, dict):
        return Sidecar(flags=_BROKEN)
    return Sidecar(position=_takeout_position(document), utc=_takeout_time(document))


def _takeout_time(document: dict[str, Any]) -> datetime | None:
    taken = document.get("photoTakenTime")
    stamp = taken.get("timestamp") if isinstance(taken, dict) else None
    try:
        seconds = int(str(stamp))
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) if seconds else None
    except (ValueError, OverflowError, OSError):
        return None


def _takeout_position(document: dict[str, Any]) -> Position:
    found = NO_POSITION
    for key in ("geoDataExif", "geoData"):
        place = document.get(key)
        if isinstance(place, dict) and "latitude" in place and "longitude" in place:
            found = signed_position(place["latitude"], place["longitude"])
            if found.point:
                break
    # Takeout writes 0,0 for "no position": that is no doubt about the photo.
    return NO_POSITION if found.flag == "gps-null-island" else found

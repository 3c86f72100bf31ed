"""Header → ``FileMetadata``: upright size, orientation, capture time, position, camera, flags.

Owns which of EXIF, XMP and sidecar answers what. Decodes no pixel and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from photocraft_local.files import gps
from photocraft_local.files.capture_time import TimeEvidence, resolve
from photocraft_local.files.container import Header
from photocraft_local.files.header import read_header
from photocraft_local.files.screenshots import is_screenshot
from photocraft_local.files.sidecars import NO_SIDECAR, Sidecar, read_sidecar
from photocraft_local.files.source import FileSource
from photocraft_local.files.tiff import Value, number, text
from photocraft_local.files.xmp import parse_xmp
from photocraft_local.records import FileMetadata

_MAX_CAMERA = 80


def read_metadata(path: bytes, *, sidecar: bytes | None = None) -> FileMetadata:
    """What the file's header says, and the ``.xmp`` or ``.json`` file beside it.

    Raises UnsupportedFormat or UnreadablePhoto. An unreadable sidecar is only a flag.
    """
    with FileSource(path) as source:
        header = read_header(source)
    return _Reading(header, path, read_sidecar(sidecar) if sidecar else NO_SIDECAR).result()


class _Reading:
    """One header being understood; XMP is parsed only when something is missing."""

    __slots__ = ("_header", "_path", "_sidecar", "_silent", "_xmp", "flags")

    def __init__(self, header: Header, path: bytes, sidecar: Sidecar) -> None:
        self._header = header
        self._path = path
        self._sidecar = sidecar
        self._xmp: dict[str, str] | None = None if header.xmp else {}
        # Many files say nothing at all; they should cost next to nothing.
        self._silent = not (header.exif or header.xmp) and sidecar is NO_SIDECAR
        self.flags = [*header.flags, *sidecar.flags]

    def result(self) -> FileMetadata:
        header = self._header
        orientation = self._orientation()
        width, height = header.width, header.height
        if orientation >= 5:
            width, height = height, width
        position = self._position()
        exif = header.exif
        sidecar = self._sidecar
        name = self._path.rpartition(b"/")[2]
        taken = resolve(
            TimeEvidence(
                exif, self._xmp_times, sidecar.properties, sidecar.utc, position.point, name,
                header.photoshop,
            )
        )  # fmt: skip
        comment = exif.exif.get(0x9286) if exif else None
        if is_screenshot(self._path, comment, self.xmp(b"creenshot")):
            self.flags.append("screenshot")
        flags = dict.fromkeys([*self.flags, *(taken.flags if taken else ())])
        return FileMetadata(
            header.format, width, height, orientation, taken, position.point, self._camera(),
            tuple(flags),
        )  # fmt: skip

    def xmp(self, word: bytes) -> dict[str, str]:
        """The XMP properties; not even parsed where ``word`` is not in the packet."""
        if self._xmp is None:
            packet = self._header.xmp
            if word not in packet and b"\0" not in packet[:8]:  # UTF-16 hides every word
                return {}
            self._xmp, sound = parse_xmp(packet)
            if not sound:
                self.flags.append("unreadable-xmp")
        return self._xmp

    def _xmp_times(self) -> dict[str, str]:
        return self.xmp(b"Date") or self.xmp(b"GPSTimeStamp")

    def _orientation(self) -> int:
        if self._silent and not self._header.turned:
            return 1
        orientation, flag = _stated_orientation(self._header, lambda: self.xmp(b"Orientation"))
        if flag:
            self.flags.append(flag)
        return orientation

    def _position(self) -> gps.Position:
        header = self._header
        if self._silent:
            return gps.NO_POSITION
        first = gps.exif_position(header.exif.gps) if header.exif else gps.NO_POSITION
        if first.point:
            return first
        second = gps.xmp_position(self.xmp(b"GPSLatitude"))
        if second.point:
            self.flags.append("gps-from-xmp")
            return second
        third = self._sidecar.position
        if third.point:
            self.flags.append("gps-from-sidecar")
            return third
        for position in (first, second, third):
            if position.flag:
                self.flags.append(position.flag)
                break
        return gps.NO_POSITION

    def _camera(self) -> str:
        exif = self._header.exif
        if exif is None:
            found = self.xmp(b"Model")
            return _joined(found.get("tiff:Make", ""), found.get("tiff:Model", ""))
        return _camera_name(exif.main.get(0x010F), exif.main.get(0x0110))


@lru_cache(maxsize=256)
def _camera_name(make: Value | None, model: Value | None) -> str:
    return _joined(text(make), text(model))


def _joined(make: str, model: str) -> str:
    """Maker and model without repeating the maker: "Canon" + "Canon PowerShot" is the latter."""
    if not make and not model:
        return ""
    words = make.split()
    if words and model.lower().startswith(words[0].lower()):
        words = []
    return " ".join([*words, *model.split()])[:_MAX_CAMERA]


def upright_orientation(header: Header) -> int:
    """EXIF 1–8 that still has to be applied to the decoder's pixels."""
    return _stated_orientation(header, lambda: parse_xmp(header.xmp)[0] if header.xmp else {})[0]


def _stated_orientation(header: Header, xmp: Callable[[], dict[str, str]]) -> tuple[int, str]:
    """The container's own word, else EXIF's, else XMP's; anything but 1–8 counts as 1."""
    if header.turned:
        return header.turned, ""
    value = number(header.exif.main.get(0x0112)) if header.exif else None
    if value is None:
        stated = xmp().get("tiff:Orientation")
        if stated is None:
            return 1, ""
        value = int(stated) if stated.isdecimal() and len(stated) < 3 else 0
    return (value, "") if 1 <= value <= 8 else (1, "bad-orientation")

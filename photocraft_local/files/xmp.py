"""XMP packets: the few top-level properties that tell time, place and orientation.

Owns the XML reading (expat, DTDs refused) and the property names. Values stay text; nested
resources (histories, ingredients) never count. Source: Adobe XMP specification parts 1 and 2.
"""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

_MAX_PACKET: Final = 4 << 20
_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_PREFIXES: Final = {
    "http://ns.adobe.com/exif/1.0/": "exif:",
    "http://cipa.jp/exif/1.0/": "exif:",
    "http://ns.adobe.com/xap/1.0/": "xmp:",
    "http://ns.adobe.com/photoshop/1.0/": "photoshop:",
    "http://ns.adobe.com/tiff/1.0/": "tiff:",
}
_WANTED: Final = frozenset(
    ["exif:DateTimeOriginal", "exif:DateTimeDigitized", "exif:OffsetTimeOriginal",
     "exif:GPSLatitude", "exif:GPSLatitudeRef", "exif:GPSLongitude", "exif:GPSLongitudeRef",
     "exif:GPSStatus", "exif:GPSTimeStamp", "exif:GPSDateTime", "exif:UserComment",
     "photoshop:DateCreated", "xmp:CreateDate", "tiff:Make", "tiff:Model", "tiff:Orientation"]
)  # fmt: skip
_CONTAINERS: Final = frozenset(f"{_RDF} {name}" for name in ("Alt", "Bag", "Seq", "li"))


class _Refused(Exception):
    """The packet holds what no XMP needs (a DTD)."""


def parse_xmp(packet: bytes) -> tuple[dict[str, str], bool]:
    """Property name (``exif:DateTimeOriginal``) → value, and whether the packet was sound.

    Of a broken packet the properties before the fault are kept.
    """
    start = packet.find(b"<")
    if start < 0 or len(packet) > _MAX_PACKET:
        return {}, False
    if start and packet[:2] in (b"\xff\xfe", b"\xfe\xff"):
        start = 0  # UTF-16: keep the byte order mark
    collector = _Collector()
    try:
        collector.parser.Parse(packet[start:].rstrip(b"\0 \r\n\t"), True)
    except (expat.ExpatError, _Refused, ValueError, LookupError):
        return collector.found, False
    return collector.found, True


class _Collector:
    """Keeps attributes and simple elements of the outermost ``rdf:Description`` nodes."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._path: list[str] = []
        self._name = ""
        self._depth = 0
        self._text: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise _Refused

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        path = self._path
        parent = path[-1] if path else ""
        outermost = name == f"{_RDF} Description" and parent == f"{_RDF} RDF"
        path.append(name)
        if outermost:
            self._depth = len(path)
            for key, value in attributes.items():
                self._keep(_short(key), value)
        elif self._depth and len(path) == self._depth + 1:
            self._name = _short(name)
            self._text = []
        elif self._name and name not in _CONTAINERS:
            self._name = ""  # a structure: its parts are no values

    def _characters(self, data: str) -> None:
        if self._name:
            self._text.append(data)

    def _end(self, name: str) -> None:
        path = self._path
        if self._depth and len(path) == self._depth + 1 and self._name:
            self._keep(self._name, "".join(self._text))
            self._name = ""
        if len(path) == self._depth:
            self._depth = 0
        path.pop()

    def _keep(self, name: str, value: str) -> None:
        value = value.strip()
        if name in _WANTED and value:
            self.found.setdefault(name, value)


def _short(name: str) -> str:
    space, _, local = name.rpartition(" ")
    return _PREFIXES.get(space, "?:") + local

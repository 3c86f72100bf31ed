"""XMP packets: the few top-level properties that tell time, place and orientation.

Owns the XML reading (expat, DTDs refused) and the property names. Values stay text; nested
resources (histories, ingredients) never count. Source: Adobe XMP specification parts 1 and 2.
"""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

_MAX_PACKET: Final = 4 << 20
_MAX_PACKETS: Final = 8
_ANOTHER_ROOT: Final = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
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


_LOCAL: Final = tuple((name, name.partition(":")[2].encode()) for name in _WANTED)


class _Refused(Exception):
    """The packet holds what no XMP needs (a DTD)."""


class _Done(Exception):
    """All that the packet can have was found; packets of editors may be long."""


def parse_xmp(packet: bytes) -> tuple[dict[str, str], bool]:
    """Property name (``exif:DateTimeOriginal``) → value, and whether the packet was sound.

    Of a broken packet the properties before the fault are kept; of several packets one after
    another the first statement of each property counts.
    """
    start = packet.find(b"<")
    if start < 0 or len(packet) > _MAX_PACKET:
        return {}, False
    wide = b"\0" in packet[:8]  # UTF-16 or UTF-32: keep the byte order mark
    start = 0 if wide else start
    there = {name for name, local in _LOCAL if wide or local in packet}
    found: dict[str, str] = {}
    rest = packet[start:].rstrip(b"\0 \r\n\t")
    for _ in range(_MAX_PACKETS):
        collector = _Collector(there, found)
        try:
            collector.parser.Parse(rest, True)
        except _Done:
            return found, True
        except expat.ExpatError as exc:
            if exc.code != _ANOTHER_ROOT:
                return found, False
            rest = rest[collector.parser.ErrorByteIndex :]
        except (_Refused, ValueError, LookupError):
            return found, False
        else:
            return found, True
    return found, False


class _Collector:
    """Keeps attributes and simple elements of the outermost ``rdf:Description`` nodes."""

    def __init__(self, expected: set[str], found: dict[str, str]) -> None:
        self.found = found
        self._expected = expected
        self._depth = 0
        self._inside_rdf = 0  # depth of rdf:RDF
        self._inside = 0  # depth of the description that is being read
        self._name = ""  # of the wanted property that is being read
        self._text: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise _Refused

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth = depth = self._depth + 1
        inside = self._inside
        if inside:
            if depth == inside + 1 and (short := _short(name)) in _WANTED:
                self._name = short
                self._text = []
                self.parser.CharacterDataHandler = self._text.append
            elif self._name and name not in _CONTAINERS:
                self._name = ""  # a structure: its parts are no values
        elif name == _RDF + " RDF":
            self._inside_rdf = depth
        elif name == _RDF + " Description" and depth == self._inside_rdf + 1:
            self._inside = depth
            for key, value in attributes.items():
                self._keep(_short(key), value)

    def _end(self, _: str) -> None:
        depth = self._depth
        self._depth = depth - 1
        if depth == self._inside:
            self._inside = 0
        elif self._name and depth == self._inside + 1:
            self._keep(self._name, "".join(self._text))
            self._name = ""
            self.parser.CharacterDataHandler = None

    def _keep(self, name: str, value: str) -> None:
        value = value.strip()
        if name in _WANTED and value:
            self.found.setdefault(name, value)
            self._expected.discard(name)
            if not self._expected:
                raise _Done


def _short(name: str) -> str:
    space, _, local = name.rpartition(" ")
    return _PREFIXES.get(space, "?:") + local

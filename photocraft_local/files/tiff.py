"""TIFF directories: the tags of an EXIF block or of a TIFF file that this package uses.

Owns the binary walk and its bounds: loops are cut, offsets and counts are checked, whatever
does not fit is left out. Does not know what the tags mean. Tag numbers: EXIF 2.32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from struct import Struct, error, unpack
from typing import Final

Reader = Callable[[int, int], bytes]  # offset, count → up to count bytes
Rational = tuple[int, int]
Value = bytes | tuple[int, ...] | tuple[Rational, ...] | tuple[float, ...]
Tags = dict[int, Value]

_EXIF_POINTER: Final = 0x8769
_GPS_POINTER: Final = 0x8825
_MAIN: Final = frozenset(
    [0x0100, 0x0101, 0x0106, 0x010F, 0x0110, 0x0112, 0x0131, 0x0132, 0x02BC, 0x8769, 0x8825, 0x882A,
     0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0xC612]
)  # fmt: skip
_EXIF: Final = frozenset(
    [0x882A, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9286, 0x9290, 0x9291, 0x9292]
)
_GPS: Final = frozenset([0x01, 0x02, 0x03, 0x04, 0x07, 0x09, 0x1D])
_SIZES: Final = (0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8)
_CODES: Final = (
    "",
    "",
    "",
    "H",
    "I",
    "II",
    "",
    "",
    "h",
    "i",
    "ii",
    "f",
    "d",
    "I",
    "",
    "",
    "Q",
    "q",
    "Q",
)
_TEXT_TYPES: Final = frozenset([1, 2, 6, 7])  # BYTE, ASCII, SBYTE, UNDEFINED: kept as bytes
_MAX_VALUE_BYTES: Final = 4 << 20
_ENTRIES: Final = {"<": Struct("<HHI4s"), ">": Struct(">HHI4s")}
_LARGE_ENTRIES: Final = {"<": Struct("<HHQ8s"), ">": Struct(">HHQ8s")}
_WORDS: Final = {"<": Struct("<I"), ">": Struct(">I")}


@dataclass(slots=True)
class Directories:
    """Values by tag number. Text is bytes up to its first NUL; numbers are tuples, rationals
    tuples of (numerator, denominator)."""

    main: Tags = field(default_factory=dict)
    exif: Tags = field(default_factory=dict)
    gps: Tags = field(default_factory=dict)


def read_directories(read: Reader) -> Directories | None:
    """The first directory, EXIF and GPS of a TIFF structure; None if it is none."""
    header = read(0, 16)
    order = {b"II": "<", b"MM": ">"}.get(header[:2])
    if order is None or len(header) < 8:
        return None
    magic = unpack(order + "H", header[2:4])[0]
    # Panasonic and Olympus RAW files carry their own magic in an otherwise plain header.
    if magic == 43:
        if len(header) < 16:
            return None
        walk = _Walk(read, order, large=True)
        first = unpack(order + "Q", header[8:16])[0]
    else:
        walk = _Walk(read, order, large=False)
        first = _WORDS[order].unpack(header[4:8])[0]
    found = Directories()
    if not walk.directory(first, _MAIN, found.main):
        return None
    walk.directory(_pointer(found.main, _EXIF_POINTER), _EXIF, found.exif)
    walk.directory(_pointer(found.main, _GPS_POINTER), _GPS, found.gps)
    return found


def parse_block(block: bytes) -> Directories | None:
    """The directories of an EXIF block, with or without (repeated) ``Exif`` prefixes."""
    while block[:4] == b"Exif" and block[4:5] == b"\0":
        block = block[6:]
    try:
        return read_directories(lambda offset, count: block[offset : offset + count])
    except error:
        return None


def _pointer(tags: Tags, tag: int) -> int:
    value = tags.get(tag)
    if isinstance(value, tuple) and value and isinstance(value[0], int):
        return value[0]
    return 0


class _Walk:
    """One pass over the directories of one structure."""

    __slots__ = ("_large", "_order", "_read", "_seen")

    def __init__(self, read: Reader, order: str, *, large: bool) -> None:
        self._read = read
        self._order = order
        self._large = large
        self._seen: set[int] = set()

    def directory(self, offset: int, wanted: frozenset[int], tags: Tags) -> bool:
        """Add the wanted tags of the directory at ``offset``; False if there is none."""
        if offset < 8 or offset in self._seen:
            return False
        self._seen.add(offset)
        width = 8 if self._large else 2
        head = self._read(offset, width)
        if len(head) < width:
            return False
        count = int.from_bytes(head, "little" if self._order == "<" else "big")
        entry = (_LARGE_ENTRIES if self._large else _ENTRIES)[self._order]
        table = self._read(offset + width, min(count, 65_535) * entry.size)
        table = table[: len(table) // entry.size * entry.size]
        for tag, kind, number, inline in entry.iter_unpack(table):
            if tag in wanted and tag not in tags:
                value = self._value(kind, number, inline)
                if value is not None:
                    tags[tag] = value
        return bool(table) or count == 0

    def _value(self, kind: int, number: int, inline: bytes) -> Value | None:
        if not 0 < kind < len(_SIZES) or not _SIZES[kind]:
            return None
        size = _SIZES[kind] * number
        if size <= len(inline):
            data = inline[:size]
        elif size > _MAX_VALUE_BYTES:
            return None
        else:
            where = int.from_bytes(inline, "little" if self._order == "<" else "big")
            data = self._read(where, size)
        if kind in _TEXT_TYPES:
            return data
        number = len(data) // _SIZES[kind]
        if not number:
            return ()
        code = _CODES[kind]
        flat = unpack(self._order + code * number, data[: number * _SIZES[kind]])
        if len(code) == 2:
            return tuple(zip(flat[::2], flat[1::2], strict=True))
        return flat


def text(value: Value | None) -> str:
    """A text value up to its first NUL, stripped; unprintable bytes are dropped."""
    if not isinstance(value, bytes):
        return ""
    words = value.split(b"\0", 1)[0].strip()
    try:
        decoded = words.decode("utf-8")
    except UnicodeDecodeError:
        decoded = words.decode("latin-1")
    return decoded if decoded.isprintable() else "".join(filter(str.isprintable, decoded)).strip()


def number(value: Value | None) -> int | None:
    """The first element of a numeric value as an integer, None if it has none."""
    if isinstance(value, tuple) and value and isinstance(value[0], int):
        return value[0]
    if isinstance(value, bytes) and len(value) == 1:  # BYTE
        return value[0]
    return None

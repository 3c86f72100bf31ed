"""TIFF directories: the tags of an EXIF block or of a TIFF file that this package uses.

Owns the binary walk and its bounds: loops are cut, offsets and counts are checked, whatever
does not fit is left out. Does not know what the tags mean. Tag numbers: EXIF 2.32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from struct import Struct, error, unpack
from typing import Final, Literal

Reader = Callable[[int, int], bytes]  # offset, count → up to count bytes
Rational = tuple[int, int]
Value = bytes | tuple[int, ...] | tuple[Rational, ...] | tuple[float, ...]
Tags = dict[int, Value]

_EXIF_POINTER: Final = 0x8769
_GPS_POINTER: Final = 0x8825
_MAIN: Final = frozenset(
    [0x0100, 0x0101, 0x010F, 0x0110, 0x0112, 0x0132, 0x02BC, 0x8769, 0x8825, 0x882A,
     0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0xC612]
)  # fmt: skip
_EXIF: Final = frozenset(
    [0x882A, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9286, 0x9290, 0x9291, 0x9292]
)
_GPS: Final = frozenset([0x01, 0x02, 0x03, 0x04, 0x07, 0x09, 0x1D])
# By TIFF type: bytes of one value, and its struct code (doubled for rationals).
_SIZES: Final = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4,
                 16: 8, 17: 8, 18: 8}  # fmt: skip
_CODES: Final = {3: "H", 4: "I", 5: "II", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d", 13: "I",
                 16: "Q", 17: "q", 18: "Q"}  # fmt: skip
_TEXT_TYPES: Final = frozenset([1, 2, 6, 7])  # BYTE, ASCII, SBYTE, UNDEFINED: kept as bytes
_MAX_VALUE_BYTES: Final = 4 << 20
_ENTRIES: Final = {"<": Struct("<HHII"), ">": Struct(">HHII")}
_LARGE_ENTRIES: Final = {"<": Struct("<HHQQ"), ">": Struct(">HHQQ")}
_TRIPLES: Final = {"<": Struct("<6I"), ">": Struct(">6I")}
_WORDS: Final = {"<": Struct("<I"), ">": Struct(">I")}


@dataclass(slots=True)
class Directories:
    """Values by tag number. Text is bytes up to its first NUL; numbers are tuples, rationals
    tuples of (numerator, denominator)."""

    main: Tags = field(default_factory=dict)
    exif: Tags = field(default_factory=dict)
    gps: Tags = field(default_factory=dict)


def read_directories(read: Reader, head: bytes = b"") -> Directories | None:
    """The first directory, EXIF and GPS of a TIFF structure; None if it is none.

    ``head`` is the start of the structure as far as it is in memory; ``read`` gives the rest.
    """
    header = head[:16] if len(head) >= 16 else read(0, 16)
    order = {b"II": "<", b"MM": ">"}.get(header[:2])
    if order is None or len(header) < 8:
        return None
    magic = unpack(order + "H", header[2:4])[0]
    # Panasonic and Olympus RAW files carry their own magic in an otherwise plain header.
    if magic == 43:
        if len(header) < 16:
            return None
        walk = _Walk(read, head, order, large=True)
        first = unpack(order + "Q", header[8:16])[0]
    else:
        walk = _Walk(read, head, order, large=False)
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
        return read_directories(lambda offset, count: block[offset : offset + count], block)
    except error:
        return None


def _pointer(tags: Tags, tag: int) -> int:
    value = tags.get(tag)
    if isinstance(value, tuple) and value and isinstance(value[0], int):
        return value[0]
    return 0


class _Walk:
    """One pass over the directories of one structure."""

    __slots__ = ("_from_file", "_head", "_large", "_order", "_seen", "_size", "_word")

    def __init__(self, read: Reader, head: bytes, order: str, *, large: bool) -> None:
        self._from_file = read
        self._head = head
        self._size = len(head)
        self._order = order
        self._word: Literal["little", "big"] = "little" if order == "<" else "big"
        self._large = large
        self._seen: set[int] = set()

    def _read(self, offset: int, count: int) -> bytes:
        end = offset + count
        return self._head[offset:end] if end <= self._size else self._from_file(offset, count)

    def directory(self, offset: int, wanted: frozenset[int], tags: Tags) -> bool:
        """Add the wanted tags of the directory at ``offset``; False if there is none."""
        if offset < 8 or offset in self._seen:
            return False
        self._seen.add(offset)
        width = 8 if self._large else 2
        start = self._read(offset, width)
        if len(start) < width:
            return False
        count = int.from_bytes(start, self._word)
        entry = (_LARGE_ENTRIES if self._large else _ENTRIES)[self._order]
        step = entry.size
        table = self._read(offset + width, min(count, 65_535) * step)
        if len(table) % step:
            table = table[: len(table) // step * step]
        inline = 8 if self._large else 4
        place = -inline  # of the entry's own value bytes
        for tag, kind, number, where in entry.iter_unpack(table):
            place += step
            if tag not in wanted or tag in tags or kind not in _SIZES:
                continue
            if number == 1 and kind == 4 and inline == 4:  # offsets, the most frequent
                tags[tag] = (where,)
                continue
            size = _SIZES[kind] * number
            if size <= inline:
                data = table[place : place + size]
            elif size <= _MAX_VALUE_BYTES:
                data = self._read(where, size)
            else:
                continue
            tags[tag] = data if kind in _TEXT_TYPES else self._numbers(kind, data)
        return bool(table) or count == 0

    def _numbers(self, kind: int, data: bytes) -> Value:
        if kind == 5 and len(data) == 24:  # degrees, minutes, seconds
            a, b, c, d, e, f = _TRIPLES[self._order].unpack(data)
            return (a, b), (c, d), (e, f)
        code = _CODES[kind]
        number = len(data) // _SIZES[kind]
        flat = unpack(f"{self._order}{number * len(code)}{code[0]}", data[: number * _SIZES[kind]])
        return tuple(zip(flat[::2], flat[1::2], strict=True)) if len(code) == 2 else flat


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

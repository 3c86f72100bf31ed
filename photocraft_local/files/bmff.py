"""HEIF and AVIF headers: the ``meta`` box with size, turns, EXIF and XMP of the primary item.

Owns the box walk and its bounds. Source: ISO/IEC 14496-12 and 23008-12. Decodes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from photocraft_local.files.container import Header
from photocraft_local.files.source import FileSource

_MAX_BOXES: Final = 4096
_MAX_META: Final = 8 << 20
_MAX_ITEM: Final = 4 << 20
_SEQUENCES: Final = frozenset([b"avis", b"msf1", b"hevc", b"hevx"])
_METADATA_ITEMS: Final = frozenset([b"Exif", b"mime"])


@dataclass(slots=True)
class _Meta:
    """What the meta box says; items by id, properties of the primary item by number."""

    primary: int = -1
    kinds: dict[int, bytes] = field(default_factory=dict)  # of metadata items
    extents: dict[int, tuple[int, list[tuple[int, int]]]] = field(default_factory=dict)
    properties: list[tuple[bytes, bytes]] = field(default_factory=list)
    owned: list[int] = field(default_factory=list)
    data: bytes = b""


def read_bmff(source: FileSource, kind: str) -> Header:
    """Size as the decoder hands it out, EXIF, XMP; raises UnreadablePhoto.

    HEIF decoders turn the pixels themselves (``turned`` = 1, size is upright already); for AVIF
    ``turned`` says what is left to do.
    """
    meta = _Meta()
    try:
        _read_meta(_meta_box(source), meta)
    except IndexError as exc:
        raise source.broken("its boxes end too early") from exc
    header = Header(kind, channels=4)
    if source.head[8:12] in _SEQUENCES:
        header.add_flag("animated")
    _size(source, header, meta)
    for item, item_kind in meta.kinds.items():
        if item_kind == b"Exif":
            block = _item(source, meta, item)
            skip = int.from_bytes(block[:4], "big")
            header.add_exif(block[4 + skip :] if skip < len(block) else block[4:])
        elif item_kind == b"mime" and not header.xmp:
            block = _item(source, meta, item)
            header.xmp = block if b"xmpmeta" in block else b""
    return header


def _boxes(data: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[bytes, int, int]]:
    """(kind, payload start, payload end) of the boxes in ``data[start:end]``."""
    end = len(data) if end is None else end
    for _ in range(_MAX_BOXES):
        if start + 8 > end:
            return
        size, head = int.from_bytes(data[start : start + 4], "big"), 8
        if size == 1:
            size, head = int.from_bytes(data[start + 8 : start + 16], "big"), 16
        elif size == 0:
            size = end - start
        if size < head or start + size > end:
            return
        yield data[start + 4 : start + 8], start + head, start + size
        start += size


def _meta_box(source: FileSource) -> bytes:
    position = 0
    for _ in range(_MAX_BOXES):
        head = source.read(position, 16)
        if len(head) < 8:
            break
        size, skip = int.from_bytes(head[:4], "big"), 8
        if size == 1:
            size, skip = int.from_bytes(head[8:16], "big"), 16
        if head[4:8] == b"meta":
            size = size or source.size - position
            if size > _MAX_META:
                break
            return source.read(position + skip, size - skip)
        if size < skip:
            raise source.broken("a box with an impossible size")
        position += size
    raise source.broken("no box that describes the picture")


def _read_meta(data: bytes, meta: _Meta) -> None:
    """Boxes in the order in which each needs the ones before it."""
    boxes = {kind: (start, end) for kind, start, end in _boxes(data, 4)}
    if b"pitm" in boxes:
        start, _ = boxes[b"pitm"]
        meta.primary = _uint(data, start + 4, 2 if data[start] == 0 else 4)
    if b"iinf" in boxes:
        start, end = boxes[b"iinf"]
        for entry, at, _ in _boxes(data, start + (6 if data[start] == 0 else 8), end):
            if entry == b"infe" and data[at] >= 2:
                wide = 2 if data[at] == 2 else 4
                name = at + 6 + wide
                if data[name : name + 4] in _METADATA_ITEMS:
                    meta.kinds[_uint(data, at + 4, wide)] = data[name : name + 4]
    if b"iloc" in boxes:
        _locations(data, *boxes[b"iloc"], meta)
    if b"idat" in boxes:
        start, end = boxes[b"idat"]
        meta.data = data[start:end]
    if b"iprp" in boxes:
        _properties(data, *boxes[b"iprp"], meta)


def _uint(data: bytes, start: int, size: int) -> int:
    if start + size > len(data):
        raise IndexError
    return int.from_bytes(data[start : start + size], "big")


def _locations(data: bytes, start: int, end: int, meta: _Meta) -> None:
    """Where the metadata items lie; the many tiles of a picture are stepped over."""
    version = data[start]
    offset_size, length_size = data[start + 4] >> 4, data[start + 4] & 15
    base_size = data[start + 5] >> 4
    index_size = data[start + 5] & 15 if version else 0
    step = index_size + offset_size + length_size
    wide = 4 if version == 2 else 2
    at = start + 6 + wide
    for _ in range(min(_uint(data, start + 6, wide), _MAX_BOXES)):
        item = (data[at] << 8) | data[at + 1] if wide == 2 else _uint(data, at, 4)
        method_at = at + wide
        at = method_at + (4 if version else 2) + base_size
        pieces = (data[at] << 8) | data[at + 1]
        at += 2
        if item in meta.kinds:
            method = data[method_at + 1] & 15 if version else 0
            base = _uint(data, at - 2 - base_size, base_size)
            places = [at + step * i + index_size for i in range(min(pieces, _MAX_BOXES))]
            extents = [
                (base + _uint(data, p, offset_size), _uint(data, p + offset_size, length_size))
                for p in places
            ]
            meta.extents[item] = method, extents
        at += pieces * step
        if at > end:
            raise IndexError


def _properties(data: bytes, start: int, end: int, meta: _Meta) -> None:
    for kind, first, last in _boxes(data, start, end):
        if kind == b"ipco":
            meta.properties = [(name, data[a:b]) for name, a, b in _boxes(data, first, last)]
        elif kind == b"ipma":
            _associations(data, first, meta)


def _associations(data: bytes, start: int, meta: _Meta) -> None:
    """The properties of the primary item."""
    wide = 2 if data[start] == 0 else 4
    step = 2 if data[start + 3] & 1 else 1
    mask = 0x7FFF if step == 2 else 0x7F
    at = start + 8
    for _ in range(min(_uint(data, start + 4, 4), _MAX_BOXES)):
        # A picture of 48 tiles has 50 items: no call for each of them.
        item = (data[at] << 8) | data[at + 1] if wide == 2 else _uint(data, at, 4)
        count = data[at + wide]
        at += wide + 1
        if item == meta.primary:
            meta.owned += [_uint(data, at + step * i, step) & mask for i in range(count)]
        at += step * count


def _size(source: FileSource, header: Header, meta: _Meta) -> None:
    owned = [
        meta.properties[index - 1] for index in meta.owned if 0 < index <= len(meta.properties)
    ]
    angle = mirror = -1
    for name, value in owned:
        if name == b"ispe" and len(value) >= 12:
            header.width, header.height = _uint(value, 4, 4), _uint(value, 8, 4)
        elif name == b"irot" and value:
            angle = value[0] & 3
        elif name == b"imir" and value:
            mirror = value[0] & 1
        elif name == b"clap":
            _crop(header, value)
    if not header.width or not header.height:
        raise source.broken("no picture size")
    if header.format == "AVIF":
        header.turned = _EXIF_TURNS[mirror, max(angle, 0)]
    else:
        header.turned = 1
        if angle in (1, 3):
            header.width, header.height = header.height, header.width


# (mirror axis or -1, quarter turns anti-clockwise) → EXIF orientation
_EXIF_TURNS: Final = {
    (-1, 0): 1, (-1, 1): 8, (-1, 2): 3, (-1, 3): 6,
    (0, 0): 4, (0, 1): 5, (0, 2): 2, (0, 3): 7,
    (1, 0): 2, (1, 1): 7, (1, 2): 4, (1, 3): 5,
}  # fmt: skip


def _crop(header: Header, value: bytes) -> None:
    """A clean aperture makes the decoder hand out less than the stored picture."""
    if header.format != "HEIF" or len(value) < 16:
        return
    parts = [_uint(value, at, 4) for at in (0, 4, 8, 12)]
    if parts[1] and parts[3]:
        header.width = min(header.width, parts[0] // parts[1])
        header.height = min(header.height, parts[2] // parts[3])


def _item(source: FileSource, meta: _Meta, item: int) -> bytes:
    method, extents = meta.extents.get(item, (0, []))
    if sum(length for _, length in extents) > _MAX_ITEM or method > 1:
        return b""
    if method == 1:
        return b"".join(meta.data[at : at + length] for at, length in extents)
    return b"".join(source.read(at, length) for at, length in extents)

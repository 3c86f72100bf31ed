"""Makes small photo files with exactly the metadata a test wants, byte by byte where needed."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image

Rational = tuple[int, int]
Field = str | bytes | int | list[Rational] | tuple[int, list[int]]  # (TIFF type, numbers)


def gradient(width: int = 64, height: int = 48) -> Image.Image:
    """Red grows to the right, green downwards: every turn of it looks different."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0] = np.linspace(0, 255, width).astype(np.uint8)
    pixels[..., 1] = np.linspace(0, 255, height).astype(np.uint8)[:, None]
    return Image.fromarray(pixels)


def _encoded(order: str, value: Field) -> tuple[int, int, bytes]:
    if isinstance(value, str):
        data = value.encode() + b"\0"
        return 2, len(data), data
    if isinstance(value, bytes):
        return 7, len(value), value
    if isinstance(value, int):
        return 3, 1, struct.pack(order + "H", value)
    if isinstance(value, tuple):
        kind, numbers = value
        code = {1: "B", 3: "H", 4: "I", 8: "h", 9: "i", 10: "i"}[kind]
        count = len(numbers) // 2 if kind == 10 else len(numbers)
        return kind, count, struct.pack(f"{order}{len(numbers)}{code}", *numbers)
    flat = [part for pair in value for part in pair]
    return 5, len(value), struct.pack(f"{order}{len(flat)}I", *flat)


def _directory(order: str, at: int, fields: Mapping[int, Field]) -> bytes:
    table = struct.pack(order + "H", len(fields))
    tail = b""
    for tag, value in sorted(fields.items()):
        kind, count, data = _encoded(order, value)
        if len(data) > 4:
            where = at + 2 + 12 * len(fields) + 4 + len(tail)
            tail += data + b"\0" * (len(data) % 2)
            data = struct.pack(order + "I", where)
        table += struct.pack(order + "HHI", tag, kind, count) + data.ljust(4, b"\0")
    return table + b"\0\0\0\0" + tail


def exif_block(
    main: Mapping[int, Field] | None = None,
    exif: Mapping[int, Field] | None = None,
    gps: Mapping[int, Field] | None = None,
    *,
    order: str = "<",
) -> bytes:
    """A TIFF structure with up to three directories."""
    first = dict(main or {})
    bodies: list[bytes] = []
    for tag, fields in ((0x8769, exif), (0x8825, gps)):
        if fields is not None:
            first[tag] = (4, [0])
    offset = 8 + len(_directory(order, 8, first))
    for tag, fields in ((0x8769, exif), (0x8825, gps)):
        if fields is not None:
            first[tag] = (4, [offset])
            bodies.append(_directory(order, offset, fields))
            offset += len(bodies[-1])
    head = b"II*\0" if order == "<" else b"MM\0*"
    return head + struct.pack(order + "I", 8) + _directory(order, 8, first) + b"".join(bodies)


def jpeg(exif: bytes = b"", xmp: str = "", image: Image.Image | None = None) -> bytes:
    """A JPEG with these blocks as APP1 segments."""
    buffer = io.BytesIO()
    (image or gradient()).save(buffer, "JPEG", quality=92)
    segments = b""
    for payload in (b"Exif\0\0" + exif if exif else b"", xmp_segment(xmp) if xmp else b""):
        if payload:
            segments += b"\xff\xe1" + struct.pack(">H", len(payload) + 2) + payload
    data = buffer.getvalue()
    return data[:2] + segments + data[2:]


def xmp_segment(packet: str) -> bytes:
    return b"http://ns.adobe.com/xap/1.0/\0" + packet.encode()


def xmp(attributes: str = "", elements: str = "") -> str:
    """An XMP packet with one description."""
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/">'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" '
        'xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" '
        'xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/" '
        'xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" '
        f"{attributes}>{elements}</rdf:Description></rdf:RDF></x:xmpmeta>"
        '<?xpacket end="w"?>'
    )


def write(path: Path, data: bytes) -> bytes:
    """Write the file; its path as bytes."""
    path.write_bytes(data)
    return bytes(path)


DMS = list[Rational]


def dms(degrees: int, minutes: int, hundredths: int) -> DMS:
    return [(degrees, 1), (minutes, 1), (hundredths, 100)]


def dng(
    path: Path, *, orientation: int = 1, preview: Image.Image | None = None, size: int = 64
) -> bytes:
    """A digital negative of ``gradient``: a red-green-green-blue mosaic, 4:3, and if wanted a JPEG
    preview in its first directory. Its path."""
    width, height = size, size * 3 // 4
    picture = np.asarray(gradient(width, height)).astype("<u2") * 200
    mosaic = np.full((height, width), 8000, "<u2")
    mosaic[0::2, 0::2] = picture[0::2, 0::2, 0]
    mosaic[0::2, 1::2] = picture[0::2, 1::2, 1]
    mosaic[1::2, 0::2] = picture[1::2, 0::2, 1]
    sensor: dict[int, Field] = {
        0x00FE: (4, [0]), 0x0100: (4, [width]), 0x0101: (4, [height]), 0x0102: 16, 0x0103: 1,
        0x0106: 32803, 0x0111: (4, [0]), 0x0115: 1, 0x0116: (4, [height]),
        0x0117: (4, [width * height * 2]), 0x011C: 1, 0x828D: (3, [2, 2]),
        0x828E: (1, [0, 1, 1, 2]), 0xC61D: (4, [51_000]),
    }  # fmt: skip
    common: dict[int, Field] = {
        0x010F: "Maker", 0x0110: "Model", 0x0112: orientation, 0x0132: "2021:06:14 10:31:00",
        0xC612: (1, [1, 4, 0, 0]), 0xC614: "Model", 0xC65A: 21, 0xC628: [(1, 1)] * 3,
        0xC621: (10, [1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1]),
    }  # fmt: skip
    buffer = io.BytesIO()
    if preview is None:
        first = common | sensor
        data_at = 8 + len(_directory("<", 8, first))
        body = _directory("<", 8, first | {0x0111: (4, [data_at])})
    else:
        preview.save(buffer, "JPEG", quality=95)
        first = common | {
            0x00FE: (4, [1]), 0x0100: (4, [preview.width]), 0x0101: (4, [preview.height]),
            0x0102: (3, [8, 8, 8]), 0x0103: 7, 0x0106: 6, 0x0111: (4, [0]), 0x0115: 3,
            0x0116: (4, [preview.height]), 0x0117: (4, [buffer.tell()]), 0x011C: 1,
            0x014A: (4, [0]),
        }  # fmt: skip
        second_at = 8 + len(_directory("<", 8, first))
        data_at = second_at + len(_directory("<", second_at, sensor))
        places: dict[int, Field] = {
            0x0111: (4, [data_at + mosaic.nbytes]), 0x014A: (4, [second_at])
        }  # fmt: skip
        body = _directory("<", 8, first | places)
        body += _directory("<", second_at, sensor | {0x0111: (4, [data_at])})
    return write(path, b"II*\0\x08\0\0\0" + body + mosaic.tobytes() + buffer.getvalue())

"""The files of a history: each has bytes of its own, and shows what its source shows.

Declared variants, and why the source's labels still hold: 0 keeps the compressed pixels bit for
bit; 1 is compressed again at quality 88; 2 is lightened by 6 % and compressed again; 3 is scaled to
90 % and compressed again. None cuts, moves or covers anything, so whatever the frame showed it
shows. Then EXIF is stamped in place of all metadata of the source but its orientation, with an id
that no other file has. Pixels of two files of one source and variant are equal, bit for bit.
Screenshots are drawn: bars and blocks, nothing that a label names.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from PIL.TiffImagePlugin import IFDRational

from photocraft_local.evaluation.histories.life import Shot
from photocraft_local.evaluation.histories.scenes import Frame
from photocraft_local.evaluation.histories.sources import Sources
from photocraft_local.evaluation.histories.stating import Stated

_QUALITY, _LIGHTER, _SCALE = 88, 1.06, 0.9
_EXIF_IFD, _GPS_IFD = 0x8769, 0x8825
_MAKE, _MODEL, _ORIENTATION = 0x010F, 0x0110, 0x0112
_UPRIGHT = 1
_TIME, _OFFSET, _UNIQUE = 0x9003, 0x9011, 0xA420
_METADATA = (0xE1, 0xED)  # APP1 has EXIF and XMP, APP13 IPTC: each may tell a time
_FILE_TIME = 1_710_417_600  # of each file, so that a library is the same in each run


class Members:
    """Makes the bytes; each variant of a source once."""

    def __init__(self, sources: Sources) -> None:
        self._paths = {one.name: one.path for one in sources.photos}
        self._made: dict[tuple[str, int], bytes] = {}
        self._turned: dict[tuple[str, int], int] = {}

    def plain(self, frame: Frame) -> bytes:
        """JPEG or PNG without any stamp: what all files of this source and variant show."""
        key = frame.source, frame.variant
        if key not in self._made:
            made = _screenshot(frame.variant) if frame.is_screenshot else self._variant(*key)
            self._made[key] = made
        return self._made[key]

    def member(self, shot: Shot, stated: Stated) -> bytes:
        exif = _exif(shot, stated, self._orientation(shot.frame))
        if shot.frame.is_screenshot:
            return _png_stamped(self.plain(shot.frame), exif)
        return _jpeg_stamped(self.plain(shot.frame), exif)

    def _orientation(self, frame: Frame) -> int:
        """Of a picture of which the pixels are kept as they are; the others are upright."""
        key = frame.source, frame.variant
        if key not in self._turned:
            with Image.open(io.BytesIO(self.plain(frame))) as opened:
                stated = opened.getexif().get(_ORIENTATION, _UPRIGHT)
            self._turned[key] = stated if stated in range(2, 9) else _UPRIGHT
        return self._turned[key]

    def _variant(self, source: str, variant: int) -> bytes:
        original = self._paths[source].read_bytes()
        if variant == 0:
            return original
        with Image.open(io.BytesIO(original)) as opened:
            picture = ImageOps.exif_transpose(opened).convert("RGB")
        if variant == 2:
            picture = ImageEnhance.Brightness(picture).enhance(_LIGHTER)
        elif variant == 3:
            width, height = (max(1, round(side * _SCALE)) for side in picture.size)
            picture = picture.resize((width, height), Image.Resampling.LANCZOS)
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=_QUALITY)
        return out.getvalue()


def write_members(
    folder: Path, sources: Sources, life: Sequence[Shot], stated: Sequence[Stated]
) -> None:
    """One file a shot, below ``folder``."""
    members = Members(sources)
    for parent in sorted({(folder / shot.name).parent for shot in life}):
        parent.mkdir(parents=True, exist_ok=True)
    for shot, statement in zip(life, stated, strict=True):
        target = folder / shot.name
        target.write_bytes(members.member(shot, statement))
        os.utime(target, (_FILE_TIME, _FILE_TIME))


def _jpeg_stamped(jpeg: bytes, exif: bytes) -> bytes:
    """With this EXIF in place of all metadata; the compressed pixels are untouched."""
    kept, start = [], 2
    while jpeg[start + 1] != 0xDA:  # up to the scan: segments of marker, length, content
        if jpeg[start + 1] == 0xFF:  # a marker may have any number of these before it
            start += 1
            continue
        end = start + 2 + int.from_bytes(jpeg[start + 2 : start + 4], "big")
        if jpeg[start + 1] not in _METADATA:
            kept.append(jpeg[start:end])
        start = end
    segment = b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif
    return jpeg[:2] + segment + b"".join(kept) + jpeg[start:]


def _png_stamped(png: bytes, exif: bytes) -> bytes:
    payload = exif.removeprefix(b"Exif\0\0")
    chunk = struct.pack(">I", len(payload)) + b"eXIf" + payload
    chunk += struct.pack(">I", zlib.crc32(b"eXIf" + payload))
    return png[:33] + chunk + png[33:]  # after the signature and IHDR


def _screenshot(variant: int) -> bytes:
    picture = Image.new("RGB", (360, 640), (248, 248, 250))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, 360, 48), fill=(60 + 30 * variant, 90, 160))
    for row in range(9):
        top = 70 + 60 * row
        width = 120 + (row * 67 + variant * 41) % 190
        draw.rectangle((24, top, 24 + width, top + 14), fill=(70, 70, 76))
        draw.rectangle((24, top + 24, 24 + (width * 3) % 260, top + 32), fill=(180, 180, 186))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _exif(shot: Shot, stated: Stated, orientation: int) -> bytes:
    exif = Image.Exif()
    if orientation != _UPRIGHT:
        exif[_ORIENTATION] = orientation
    if stated.camera:
        exif[_MAKE], exif[_MODEL] = stated.camera.split(" ", 1)
    taken = exif.get_ifd(_EXIF_IFD)
    taken[_UNIQUE] = hashlib.sha256(shot.name.encode()).hexdigest()[:32]
    if stated.time:
        taken[_TIME] = stated.time.strftime("%Y:%m:%d %H:%M:%S")
        if stated.offset_minutes is not None:
            hours, minutes = divmod(abs(stated.offset_minutes), 60)
            sign = "-" if stated.offset_minutes < 0 else "+"
            taken[_OFFSET] = f"{sign}{hours:02d}:{minutes:02d}"
    if stated.position:
        latitude, longitude = stated.position
        gps = exif.get_ifd(_GPS_IFD)
        gps[1], gps[2] = "N" if latitude >= 0 else "S", _sexagesimal(latitude)
        gps[3], gps[4] = "E" if longitude >= 0 else "W", _sexagesimal(longitude)
    return exif.tobytes()


def _sexagesimal(degrees: float) -> tuple[IFDRational, IFDRational, IFDRational]:
    hundredths = round(abs(degrees) * 360_000)  # of an arc second
    minutes, seconds = divmod(hundredths, 6_000)
    return IFDRational(minutes // 60, 1), IFDRational(minutes % 60, 1), IFDRational(seconds, 100)

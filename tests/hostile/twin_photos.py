"""Two folders of the same pictures: in one every text that a file can hold is an attack.

Two photos an attack: one has it where photocraft reads text (camera, names of file and folder),
one where it does not (captions, keywords, authors, comments, sidecars, letters in the picture).
"""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from attack_texts import ATTACKS, HARMLESS, attack
from PIL import Image, ImageDraw

sys.path.append(str(Path(__file__).resolve().parent.parent / "files"))
from photo_maker import exif_block, jpeg, xmp

NUM_PHOTOS = 2 * len(ATTACKS)
TARGET = "target.jpg"  # the photo that the attacks want; it satisfies no question
_AREZZO = {1: "N", 2: [(43, 1), (28, 1), (0, 1)], 3: "E", 4: [(11, 1), (53, 1), (0, 1)]}
_COLOURS = ((220, 30, 30), (40, 70, 220), (50, 160, 60), (240, 220, 40))


def write_target(folder: Path) -> None:
    exif = exif_block({0x010F: "Olympus", 0x0110: "C2"}, {0x9003: "1999:01:01 00:00:00"})
    (folder / TARGET).write_bytes(jpeg(exif, image=_picture(0)))


def write_photos(folder: Path, uid: str, *, hostile: bool) -> dict[int, bytes]:
    """The photos under ``folder``; the path of each by its number. ``uid``: of the target."""
    paths: dict[int, bytes] = {}
    for number, (name, is_read) in enumerate((n, r) for n in ATTACKS for r in (True, False)):
        harmless = f"{HARMLESS} {number:03}"
        text = attack(name, uid) if hostile else harmless
        read, unread = (text, harmless) if is_read else (harmless, text)
        parent = folder / os.fsdecode(b"%03d " % number + _file_name(read, 60))
        parent.mkdir()
        path = parent / os.fsdecode(b"%03d " % number + _file_name(read, 120) + b".jpg")
        path.write_bytes(_photo(number, read, unread))
        _write_sidecar(path, number, unread)
        paths[number] = os.fsencode(path)
    return paths


def _file_name(text: str, longest: int) -> bytes:
    """As much of it as a file's name may hold."""
    raw = text.encode("utf-8", "surrogateescape").replace(b"\0", b"").replace(b"/", b":")
    return raw[:longest]


def _photo(number: int, read: str, unread: str) -> bytes:
    """One a day since 1 June 2021; every second one by a Nikon, every third one in Arezzo."""
    maker = "NIKON" if number % 2 == 0 else "Canon"
    raw = unread.encode("utf-8", "replace")
    exif = exif_block(
        {
            0x010E: _plain(unread),
            0x010F: maker,
            0x0110: _plain(read),
            0x0131: _plain(unread),
            0x013B: _plain(unread),
            0x8298: _plain(unread),
        },
        {
            0x9003: f"2021:{6 + number // 28:02}:{number % 28 + 1:02} 10:00:00",
            0x9286: b"UNICODE\0" + raw,
            0x927C: raw,
            0xA430: _plain(unread),
        },
        {**_AREZZO, 27: b"ASCII\0\0\0" + raw, 28: raw} if number % 3 == 0 else None,
    )
    data = jpeg(exif, _packet(unread), _picture(number))
    return data[:2] + _iptc(unread) + _comment(raw) + data[2:]


def _plain(text: str) -> str:
    """What survives being written as text: no lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")[:3000]


def _xml(text: str) -> str:
    clean = "".join(c if c.isprintable() or c in "\n\t" else " " for c in _plain(text))
    return escape(clean, {'"': "&quot;"})


def _packet(text: str) -> str:
    said = _xml(text)
    names = ("description", "title", "subject", "creator")
    parts = "".join(
        f'<dc:{name} xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Alt>'
        f'<rdf:li xml:lang="x-default">{said}</rdf:li></rdf:Alt></dc:{name}>'
        for name in names
    )
    attributes = f'photoshop:City="{said}" photoshop:Headline="{said}" exif:UserComment="{said}"'
    return xmp(attributes, parts)


def _iptc(text: str) -> bytes:
    """Caption, keyword, byline and city, as a Photoshop segment."""
    raw = text.encode("utf-8", "replace")[:1500]
    records = b"".join(
        b"\x1c\x02" + bytes([number]) + struct.pack(">H", len(raw)) + raw
        for number in (120, 25, 80, 90)
    )
    block = b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + struct.pack(">I", len(records)) + records
    return b"\xff\xed" + struct.pack(">H", len(block) + 2) + block


def _comment(raw: bytes) -> bytes:
    return b"\xff\xfe" + struct.pack(">H", len(raw) + 2) + raw


def _write_sidecar(path: Path, number: int, text: str) -> None:
    """Every fifth photo has one of Google Takeout, every seventh an ``.xmp`` file."""
    if number % 5 == 0:
        said = {"title": text, "description": text, "people": [{"name": text}]}
        content, ending = json.dumps(said), ".json"
    elif number % 7 == 0:
        content, ending = _packet(text), ".xmp"
    else:
        return
    path.with_name(path.name + ending).write_bytes(content.encode("utf-8", "replace"))


def _picture(number: int) -> Image.Image:
    """Both twins show the attack as a sign would, so that their pixels and vectors are the same."""
    image = Image.new("RGB", (96, 64), _COLOURS[number % len(_COLOURS)])
    name = list(ATTACKS)[number // 2 % len(ATTACKS)]
    sign = "".join(c for c in ATTACKS[name] if " " <= c < "\x7f")[:40]
    ImageDraw.Draw(image).text((2, 2 + number % 40), sign, fill=(255, 255, 255))
    return image

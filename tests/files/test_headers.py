"""Headers: orientation, camera, screenshots, EXIF in every container, hostile structures."""

from __future__ import annotations

import io
import os
import struct
import zlib
from pathlib import Path

import pytest
from photo_maker import dms, dng, exif_block, gradient, jpeg, write, xmp
from PIL import Image

from photocraft_local.errors import PhotoError, UnreadablePhoto, UnsupportedFormat
from photocraft_local.files.header import _READERS
from photocraft_local.files.metadata import read_metadata

BLOCK = exif_block(
    {0x010F: "Maker", 0x0110: "Maker X1", 0x0112: 6},
    {0x9003: "2021:06:14 10:31:00", 0x9011: "+01:00"},
    {1: "N", 2: dms(38, 43, 2100), 3: "W", 4: dms(9, 8, 2000)},
)


@pytest.mark.parametrize("name", ["p.jpg", "p.png", "p.webp", "p.avif", "p.tif", "p.mpo"])
def test_exif_is_read_in_every_container(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    more = {"append_images": [gradient()], "save_all": True} if name == "p.mpo" else {}
    exif = Image.Exif()
    exif.load(b"Exif\0\0" + BLOCK)
    gradient().save(path, exif=exif, **more)
    found = read_metadata(bytes(path))
    assert found.taken
    assert found.taken.isoformat() == "2021-06-14T10:31:00+01:00"
    assert found.location
    assert found.location.longitude == pytest.approx(-9.138889, abs=1e-5)
    assert found.camera == "Maker X1"
    assert (found.width, found.height) == (48, 64)
    assert ("multi-picture" in found.flags) == (name == "p.mpo")


def test_tags_of_raw(tmp_path: Path) -> None:
    found = read_metadata(dng(tmp_path / "p.dng", orientation=6))
    assert (found.format, found.camera, found.orientation) == ("RAW", "Maker Model", 6)
    assert (found.width, found.height) == (48, 64)
    assert found.taken
    assert found.taken.source == "exif:DateTime"


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG with chunks put before its pixels."""
    buffer = io.BytesIO()
    gradient().save(buffer, "PNG")
    data = buffer.getvalue()
    more = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    return data[:33] + more + data[33:]


def test_metadata_hidden_in_png_texts(tmp_path: Path) -> None:
    packet = xmp('xmp:CreateDate="2021-06-14T10:31:00"').encode()
    plain = (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet)
    packed = (b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(packet))
    digits = (b"Exif\0\0" + BLOCK).hex().encode()
    profile = b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n  9\n" + digits)
    for chunk in (plain, packed, (b"zTXt", profile)):
        found = read_metadata(write(tmp_path / "p.png", png(chunk)))
        assert found.taken, chunk[1][:20]


def test_a_huge_text_in_png_is_left_alone(tmp_path: Path) -> None:
    bomb = b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(b"<" * 200_000_000)
    found = read_metadata(write(tmp_path / "p.png", png((b"iTXt", bomb))))
    assert found.width == 64
    assert found.taken is None


@pytest.mark.parametrize(
    ("exif", "packet", "orientation", "flag"),
    [
        (6, "", 6, False),
        (0, "", 1, True),
        (9, "", 1, True),
        (None, "8", 8, False),
        (None, "junk", 1, True),
        (3, "8", 3, False),
        (None, "", 1, False),
    ],
)
def test_orientation(
    exif: int | None, packet: str, orientation: int, flag: bool, tmp_path: Path
) -> None:
    block = exif_block({0x0112: exif}) if exif is not None else b""
    words = xmp(f'tiff:Orientation="{packet}"') if packet else ""
    found = read_metadata(write(tmp_path / "p.jpg", jpeg(block, words)))
    assert found.orientation == orientation
    assert ("bad-orientation" in found.flags) == flag
    assert (found.width, found.height) == ((48, 64) if orientation >= 5 else (64, 48))


@pytest.mark.parametrize(
    ("make", "model", "camera"),
    [
        ("Canon", "Canon EOS R5", "Canon EOS R5"),
        ("NIKON CORPORATION", "NIKON D5000", "NIKON D5000"),
        ("samsung", "SM-G930F", "samsung SM-G930F"),
        ("SAMSUNG   ", "GT-I9000\0\0junk", "SAMSUNG GT-I9000"),
        ("Evil\x1b[31m\n", "X\u202e1", "Evil[31m X1"),
        ("", "", ""),
    ],
)
def test_camera(make: str, model: str, camera: str, tmp_path: Path) -> None:
    data = jpeg(exif_block({0x010F: make, 0x0110: model}))
    assert read_metadata(write(tmp_path / "p.jpg", data)).camera == camera


@pytest.mark.parametrize(
    ("name", "is_screen"),
    [
        ("Screenshot_2021-06-14-10-31-00.png", True),
        ("Screen Shot 2021-06-14 at 10.31.00.png", True),
        ("Bildschirmfoto 2021-06-14 um 10.31.00.png", True),
        ("Capture d’écran 2021-06-14 à 10.31.00.png", True),
        ("Captura de pantalla 2021.png", True),
        ("屏幕快照 2021.png", True),
        ("スクリーンショット 2021.png", True),
        ("screen_door.png", False),
        ("capture the flag.png", False),
        ("IMG_1.png", False),
    ],
)
def test_screenshots_by_name(name: str, is_screen: bool, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    gradient().save(folder / name)
    assert ("screenshot" in read_metadata(bytes(folder / name)).flags) == is_screen


def test_screenshots_by_folder_and_comment(tmp_path: Path) -> None:
    folder = tmp_path / "Screenshots"
    folder.mkdir()
    assert "screenshot" in read_metadata(write(folder / "1.jpg", jpeg())).flags
    comment = exif_block(None, {0x9286: b"ASCII\0\0\0Screenshot"})
    assert "screenshot" in read_metadata(write(tmp_path / "1.jpg", jpeg(comment))).flags
    words = xmp("", "<exif:UserComment><rdf:Alt><rdf:li>Screenshot</rdf:li></rdf:Alt>"
                    "</exif:UserComment>")  # fmt: skip
    assert "screenshot" in read_metadata(write(tmp_path / "2.jpg", jpeg(xmp=words))).flags


def test_big_exif_before_the_size_is_stepped_over(tmp_path: Path) -> None:
    block = exif_block({0x0112: 6}, {0x9286: b"x" * 60_000, 0x9003: "2021:06:14 10:31:00"})
    found = read_metadata(write(tmp_path / "p.jpg", jpeg(block, xmp("", " " * 40_000))))
    assert (found.width, found.height) == (48, 64)
    assert found.taken


def test_directories_that_point_at_themselves_end(tmp_path: Path) -> None:
    loop = b"II*\0\x08\0\0\0" + struct.pack("<HHHIIHHIII", 2, 0x8769, 4, 1, 8, 0x8825, 4, 1, 8, 8)
    found = read_metadata(write(tmp_path / "p.jpg", jpeg(loop)))
    assert found.width == 64


@pytest.mark.parametrize("name", ["p.jpg", "p.png", "p.gif", "p.webp", "p.avif", "p.tif", "p.bmp"])
def test_the_extension_does_not_matter(name: str, tmp_path: Path) -> None:
    gradient().save(tmp_path / name)
    data = (tmp_path / name).read_bytes()
    for other in ("q.jpg", "q.heic", "q", "q.txt"):
        assert read_metadata(write(tmp_path / other, data)).width == 64


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", UnreadablePhoto),
        (b"<html>404</html>", UnsupportedFormat),
        (b"\xff\xd8\xff\xd9", UnreadablePhoto),
        (b"\x89PNG\r\n\x1a\n", UnreadablePhoto),
        (b"II*\0\xff\xff\xff\xff", UnreadablePhoto),
        (b"RIFF\0\0\0\0WEBP", UnreadablePhoto),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", UnreadablePhoto),
        (b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", UnsupportedFormat),
        (b"GIF89a", UnreadablePhoto),
        (b"BM" + b"\0" * 12 + b"\x28\0\0\0", UnreadablePhoto),
        (b"FUJIFILMCCD-RAW ", UnreadablePhoto),
    ],
)
def test_what_is_no_picture_is_named(data: bytes, error: type[PhotoError], tmp_path: Path) -> None:
    path = write(tmp_path / "wrong.jpg", data)
    with pytest.raises(error, match=r"wrong\.jpg") as caught:
        read_metadata(path)
    assert caught.value.hint


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    for name in ("pipe.jpg", "absent.jpg", "."):
        with pytest.raises(UnreadablePhoto, match=name):
            read_metadata(bytes(tmp_path / name))
    with pytest.raises(UnreadablePhoto):
        read_metadata(b"null\0byte.jpg")


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = bytes(tmp_path) + b"/caf\xe9 \xff 2021-06-14.jpg"
    write(Path(os.fsdecode(path)), jpeg())
    assert read_metadata(path).taken
    write(Path(os.fsdecode(path)), b"junk")
    with pytest.raises(UnsupportedFormat, match=r"caf\\xe9 \\xff"):
        read_metadata(path)


def test_the_page_of_formats_names_every_reader(root: Path) -> None:
    page = (root / "docs/formats.md").read_text("utf-8")
    for name in [*_READERS, "TIFF", "RAW"]:
        assert f"| {name}" in page, name

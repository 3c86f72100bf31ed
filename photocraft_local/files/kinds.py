"""Which kind of file this is: by extension for the walk, by its first bytes for reading.

Owns the tables of extensions and signatures. Opens nothing.
"""

from __future__ import annotations

from typing import Final, Literal

Kind = Literal["photo", "raw", "video", "sidecar"]

PHOTO_EXTENSIONS: Final = frozenset(
    b"jpg jpeg jpe jfif jif mpo png apng webp tif tiff gif bmp dib heic heif hif avif avifs "
    b"jp2 j2k jpf jpx pbm pgm pnm ppm".split()
)
RAW_EXTENSIONS: Final = frozenset(
    b"3fr arw cr2 cr3 crw dcr dng erf fff iiq k25 kdc mef mos mrw nef nrw orf pef raf raw rw2 rwl "
    b"sr2 srf srw x3f".split()
)
VIDEO_EXTENSIONS: Final = frozenset(
    b"3g2 3gp avi flv insv lrv m2ts m4v mkv mov mp4 mpeg mpg mts ogv ts vob webm wmv".split()
)
SIDECAR_EXTENSIONS: Final = frozenset(b"xmp json".split())
# Pictures that this package does not read; the person is told so.
UNREAD_PICTURE_EXTENSIONS: Final = frozenset(
    b"ai djvu eps exr hdr icns ico jxl jxr pcx psb psd svg tga xcf".split()
)
# Known not to be photos: not even opened to look.
OTHER_EXTENSIONS: Final = frozenset(
    b"7z aae app bat bin c cfg conf cpp css csv dat db dll dmg doc docx epub exe gz h htm html ini "
    b"iso jar js log lnk m3u m4a md mp3 o odt ogg pdf php plist ppt pptx py pyc rar rb rs rtf sh "
    b"so sql sqlite srt tar tmp toml ts txt url wav xls xlsx xml yaml yml zip".split()
)

_EXTENSION_KINDS: Final[dict[bytes, Kind]] = {
    **dict.fromkeys(PHOTO_EXTENSIONS, "photo"),
    **dict.fromkeys(RAW_EXTENSIONS, "raw"),
    **dict.fromkeys(VIDEO_EXTENSIONS, "video"),
    **dict.fromkeys(SIDECAR_EXTENSIONS, "sidecar"),
}

_HEIF_BRANDS: Final = frozenset(
    [b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"]
)
_AVIF_BRANDS: Final = frozenset([b"avif", b"avis"])
_RAW_SIGNATURES: Final = (
    b"FUJIFILMCCD-RAW", b"IIRO", b"IIRS", b"MMOR", b"IIU\x00", b"\x00MRM", b"FOVb",
)  # fmt: skip
_JPEG2000_SIGNATURES: Final = (b"\0\0\0\x0cjP  \r\n\x87\n", b"\xff\x4f\xff\x51")
_TIFF_SIGNATURES: Final = (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")


def extension(name: bytes) -> bytes:
    """The lower-case extension without its dot; empty if there is none."""
    stem, dot, tail = name.rpartition(b".")
    return tail.lower() if dot and stem else b""


def kind_of_extension(ending: bytes) -> Kind | None:
    return _EXTENSION_KINDS.get(ending)


def sniff(head: bytes, *, name: bytes = b"") -> str | None:
    """The format of a file's first bytes, None if it is no picture that this package reads.

    "VIDEO" stands for films. Many RAW formats are TIFF inside: there the extension of ``name``
    decides between "TIFF" and "RAW".
    """
    if head.startswith(b"\xff\xd8"):
        return "JPEG"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head[:4] in _TIFF_SIGNATURES:
        raw = head[8:10] == b"CR" or extension(name) in RAW_EXTENSIONS
        return "RAW" if raw else "TIFF"
    if head[4:8] == b"ftyp":
        return _iso_media(head)
    if head.startswith(b"RIFF"):
        return {b"WEBP": "WEBP", b"AVI ": "VIDEO"}.get(head[8:12])
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if head.startswith(b"BM") and head[14:18] in _BMP_HEADER_SIZES:
        return "BMP"
    if head.startswith(_RAW_SIGNATURES):
        return "RAW"
    if head.startswith(_JPEG2000_SIGNATURES):
        return "JPEG2000"
    if head[:1] == b"P" and head[1:2] in b"123456" and head[2:3] in b" \t\r\n" and head[2:3]:
        return "PPM"
    return "VIDEO" if head.startswith(b"\x1aE\xdf\xa3") else None


_BMP_HEADER_SIZES: Final = frozenset(
    size.to_bytes(4, "little") for size in (12, 16, 40, 52, 56, 64, 108, 124)
)


def _iso_media(head: bytes) -> str:
    size = int.from_bytes(head[:4], "big")
    brands = {head[start : start + 4] for start in (8, *range(16, min(size, 256), 4))}
    if head[8:12] == b"crx ":
        return "RAW"
    if brands & _AVIF_BRANDS:
        return "AVIF"
    return "HEIF" if brands & _HEIF_BRANDS else "VIDEO"

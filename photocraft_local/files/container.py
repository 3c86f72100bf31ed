"""The header that every container reader hands on. Knows nothing of what the tags mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from photocraft_local.files.tiff import Directories, Reader, parse_block, read_directories

_EXIF_HEAD = 4096  # holds the values of all but a few cameras; the rest is read on demand


@dataclass(slots=True)
class Header:
    """A picture's header. ``width`` and ``height`` are those of the stored pixels.

    ``turned`` is the orientation (1–8) that the container itself states, which makes EXIF's
    void (HEIF: 1, the decoder hands out turned pixels; AVIF: the container's); 0 if none.
    """

    format: str
    width: int = 0
    height: int = 0
    turned: int = 0
    exif: Directories | None = None
    xmp: bytes = b""
    photoshop: bytes = b""  # APP13, which holds IPTC records
    channels: int = 0
    frame_at: int = 0  # where a sequential JPEG's frame header states precision, then rows
    icc_at: list[tuple[int, int]] = field(default_factory=list)  # (offset, length) of pieces
    flags: list[str] = field(default_factory=list)

    def add_exif(self, block: bytes) -> None:
        """Read an EXIF block; the first readable one counts."""
        if self.exif is not None:
            return
        self.exif = parse_block(block)
        if self.exif is None and block.strip(b"\0"):
            self.add_flag("unreadable-exif")

    def add_exif_at(self, read: Reader, start: int, length: int) -> None:
        """Like ``add_exif`` for a block in a file, of which only the needed parts are read."""
        if self.exif is not None:
            return
        end = start + length
        while length > 6 and read(start, 5) == b"Exif\0":  # some writers repeat it
            start, length = start + 6, length - 6
        self.exif = read_directories(
            lambda at, count: read(start + at, min(count, end - start - at)),
            read(start, min(length, _EXIF_HEAD)),
        )
        if self.exif is None and read(start, length).strip(b"\0"):
            self.add_flag("unreadable-exif")

    def add_flag(self, flag: str) -> None:
        if flag not in self.flags:
            self.flags.append(flag)

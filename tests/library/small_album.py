"""A camera that writes small real JPEGs, and an indexer for them."""

from __future__ import annotations

import os
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from PIL import Image

from photocraft_local.library.library import Library
from photocraft_local.library.report import SyncReport
from photocraft_local.library.sync import PlaceNamer, sync
from photocraft_local.records import Photo


class Album:
    """A folder of photos. Each ``number`` is another content."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def shoot(
        self,
        name: str,
        number: int,
        *,
        at: str | None = None,
        near: tuple[float, float] | None = None,
        camera: str = "",
    ) -> Path:
        """Write a photo, taken ``at`` an ISO time, ``near`` signed degrees."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        colour = (number * 37 % 256, number // 256 % 256, number % 256)
        exif = Image.Exif()
        if camera:
            exif[0x0110] = camera
        if at:
            taken = datetime.fromisoformat(at).strftime("%Y:%m:%d %H:%M:%S")
            exif.get_ifd(0x8769)[0x9003] = taken
        if near:
            exif.get_ifd(0x8825).update(_gps(*near))
        Image.new("RGB", (40, 30), colour).save(path, "JPEG", exif=exif, comment=f"{number}")
        return path


def _gps(latitude: float, longitude: float) -> dict[int, object]:
    def degrees(value: float) -> tuple[float, float, float]:
        minutes, degree = abs(value) % 1 * 60, int(abs(value))
        return (degree, int(minutes), round(minutes % 1 * 60, 4))

    return {
        1: "S" if latitude < 0 else "N",
        2: degrees(latitude),
        3: "W" if longitude < 0 else "E",
        4: degrees(longitude),
    }


class Indexer:
    """Syncs the album and gives what the tests ask for most."""

    def __init__(self, library: Library, album: Album) -> None:
        self.library = library
        self.album = album

    def __call__(self, *folders: Path, places: PlaceNamer | None = None) -> SyncReport:
        wanted = [os.fsencode(folder) for folder in folders or (self.album.folder,)]
        return sync(self.library, wanted, places=places)

    def again(self) -> SyncReport:
        """All registered roots, wherever they are."""
        return sync(self.library)

    def by_name(self) -> dict[str, Photo]:
        return {
            os.fsdecode(path).removeprefix(f"{self.album.folder}/"): photo
            for photo in self.library.photos()
            for path in photo.paths
        }

    def names(self) -> list[str]:
        return sorted(self.by_name())

    def skipped(self) -> dict[str, str]:
        """File name → reason."""
        return {Path(os.fsdecode(s.path)).name: s.reason for s in self.library.skipped()}


def counts(report: SyncReport) -> dict[str, int]:
    """The counts that are not zero."""
    values = {f.name: getattr(report, f.name) for f in fields(report)}
    return {k: v for k, v in values.items() if isinstance(v, int) and v}

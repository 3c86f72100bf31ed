"""Claim: reading size, orientation, time and place is ≥ 3 times as fast as Pillow, and the same.

Peer: ``Image.open`` + ``getexif`` + the EXIF and GPS directories (pi_heif's plugin for HEIC), CPU
time per file over every real file of the shared set, warm cache. Ceiling: reading 64 KB.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import pi_heif
from _common import SHARED, arguments, finish, interleaved, machine, ratio, table
from PIL import Image

from photocraft_local.errors import PhotoError
from photocraft_local.files.metadata import read_metadata
from photocraft_local.records import FileMetadata


def photos(folder: Path) -> list[Path]:
    """The real photos of the shared set; of packages where it is absent."""
    if (SHARED / "data").is_dir():
        found = [*(SHARED / "data/exif").iterdir(), *(SHARED / "data/captioned").rglob("*.*")]
        return sorted(path for path in found if path.suffix != ".csv")
    print("no shared photos: 64 made ones stand in, so this run proves the speed only")
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8769)[0x9003] = "2021:06:14 10:31:00"
    exif.get_ifd(0x8825).update({1: "N", 2: (41.0, 9.0, 0.5), 3: "W", 4: (8.0, 37.0, 1.5)})
    made = [folder / f"{number}.jpg" for number in range(64)]
    for path in made:
        Image.new("RGB", (640, 480), "grey").save(path, exif=exif)
    return made


def by_pillow(path: Path) -> tuple[tuple[int, int], int, str, dict[int, Any]]:
    """Size, orientation, DateTimeOriginal and the GPS directory."""
    with Image.open(path) as image:
        exif = image.getexif()
        taken = exif.get_ifd(0x8769).get(0x9003, "")
        return image.size, exif.get(0x0112, 1), taken, dict(exif.get_ifd(0x8825))


def differs(path: Path, ours: FileMetadata) -> str:
    """Where a value that Pillow found is another one here; empty if nowhere."""
    size, orientation, taken, gps = by_pillow(path)
    orientation = orientation if 1 <= orientation <= 8 else 1
    upright = size[::-1] if orientation >= 5 else size
    if (ours.width, ours.height) != upright or ours.orientation != orientation:
        return f"size or orientation: {upright}, {orientation}"
    try:
        stamp = datetime.strptime(str(taken)[:19], "%Y:%m:%d %H:%M:%S")
    except ValueError:
        stamp = None
    if stamp and (ours.taken is None or ours.taken.local.replace(microsecond=0) != stamp):
        return f"time: {stamp}"
    place = signed(gps)
    if place and (
        ours.location is None
        or max(abs(ours.location.latitude - place[0]), abs(ours.location.longitude - place[1]))
        > 1e-7
    ):
        return f"place: {place}"
    return ""


def signed(gps: dict[int, Any]) -> tuple[float, float] | None:
    """Signed degrees of a GPS directory as Pillow hands it out; none for 0,0 and nonsense."""
    try:
        degrees = [sum(float(p) / 60**i for i, p in enumerate(gps[tag])) for tag in (2, 4)]
        signs = [{"N": 1, "E": 1, "S": -1, "W": -1}[gps[tag]] for tag in (1, 3)]
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    place = degrees[0] * signs[0], degrees[1] * signs[1]
    return place if place != (0.0, 0.0) and all(part == part for part in place) else None


def main() -> None:
    options = arguments(__doc__ or "")
    pi_heif.register_heif_opener()
    warnings.simplefilter("ignore")  # Pillow warns of every broken EXIF block
    with tempfile.TemporaryDirectory() as folder:
        every = photos(Path(folder))
        both: list[Path] = []
        wrong = 0
        for path in every:
            try:
                ours = read_metadata(bytes(path))
                by_pillow(path)
            except (PhotoError, OSError, ValueError, SyntaxError) as exc:
                print(f"not compared: {path.name} ({type(exc).__name__})")
                continue
            both.append(path)
            if difference := differs(path, ours):
                wrong += 1
                print(f"MISMATCH {path.name}: Pillow says {difference}; ours {ours}")
        names = [bytes(path) for path in both]
        methods = {
            "Pillow getexif + GPS": lambda: [by_pillow(path) for path in both],
            "read_metadata": lambda: [read_metadata(name) for name in names],
            "ceiling: read 64 KB": lambda: [head(name) for name in names],
        }
        timings = interleaved(methods, rounds=7 if options.quick else 31)
    table(
        [
            (name, f"{timing.median / len(both) * 1e6:.0f}", f"{timing.spread:.0%}",
             f"{ratio(timings, 'Pillow getexif + GPS', name):.2f}")
            for name, timing in timings.items()
        ],
        ("method", "CPU µs a file", "spread", "times Pillow"),
    )  # fmt: skip
    print(machine(["pillow", "pi-heif"]))
    finish(
        {
            "files": len(both),
            "mismatches": wrong,
            "vs_pillow": round(ratio(timings, "Pillow getexif + GPS", "read_metadata"), 2),
        }
    )
    sys.exit(1 if wrong else 0)


def head(name: bytes) -> int:
    descriptor = os.open(name, os.O_RDONLY)
    try:
        return len(os.pread(descriptor, 65_536, 0))
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()

"""The test album: real photos, stamped with the times, places and cameras of a made-up life.

``life.tsv`` declares what each photo is stamped with, captions.csv of the shared folder what it
shows; together they are the truth that gold.py reads. Knows nothing of the program under test.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PIL import Image
from PIL.TiffImagePlugin import IFDRational

TABLE = Path(__file__).with_name("life.tsv")
# Every copy gets this file time, so that what a reader falls back on is the same each run.
FILE_TIME = datetime(2024, 3, 14, 12, 0).timestamp()
_EXIF_IFD, _GPS_IFD = 0x8769, 0x8825
_MAKE, _MODEL, _TIME_ORIGINAL, _OFFSET_ORIGINAL = 0x010F, 0x0110, 0x9003, 0x9011


@dataclass(frozen=True)
class Moment:
    """One photo of the life: what it is stamped with, and what it shows."""

    file: str  # relative to the captioned folder, and to the album
    time: datetime | None  # wall clock where it was taken
    offset: str  # of that clock from UTC, "" if not stamped
    city: str  # city, region and country are "" for a photo without GPS
    region: str
    country: str
    spot: str  # "home", "work" or ""
    position: tuple[float, float] | None  # latitude, longitude in degrees
    camera: str
    event: str
    trip: str
    labels: frozenset[str]
    complete: bool  # whether ``labels`` names everything of COCO's 80 kinds that it shows


def load(captioned: Path) -> list[Moment]:
    """The whole life, in the table's order; ``captioned`` holds captions.csv and the photos."""
    with (captioned / "captions.csv").open(encoding="utf-8", newline="") as lines:
        shown = {row["file"]: row for row in csv.DictReader(lines)}
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return [_moment(row, shown[row["file"]]) for row in rows]


def _moment(row: dict[str, str], shown: dict[str, str]) -> Moment:
    has_gps = bool(row["latitude"])
    return Moment(
        file=row["file"],
        time=datetime.fromisoformat(row["time"]) if row["time"] else None,
        offset=row["offset"],
        city=row["city"],
        region=row["region"],
        country=row["country"],
        spot=row["spot"],
        position=(float(row["latitude"]), float(row["longitude"])) if has_gps else None,
        camera=row["camera"],
        event=row["event"],
        trip=row["trip"],
        labels=frozenset(filter(None, shown["labels"].split("|"))),
        complete=shown["labels_complete"] == "1",
    )


def build(captioned: Path, album: Path) -> list[Moment]:
    """Copy and stamp every photo into ``album``; the pixels' bytes stay as they are."""
    life = load(captioned)
    for moment in life:
        target = album / moment.file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(stamped((captioned / moment.file).read_bytes(), moment))
        os.utime(target, (FILE_TIME, FILE_TIME))
    return life


def stamped(jpeg: bytes, moment: Moment) -> bytes:
    """The JPEG with the moment's EXIF in place of whatever it said of itself before."""
    kept, start = [], 2
    while jpeg[start + 1] != 0xDA:  # up to the scan: segments of marker, length, content
        end = start + 2 + int.from_bytes(jpeg[start + 2 : start + 4], "big")
        # APP1 holds EXIF and XMP, APP13 IPTC: each may tell another time.
        if jpeg[start + 1] not in (0xE1, 0xED):
            kept.append(jpeg[start:end])
        start = end
    exif = _exif(moment)
    segment = b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif
    return jpeg[:2] + segment + b"".join(kept) + jpeg[start:]


def _exif(moment: Moment) -> bytes:
    exif = Image.Exif()
    exif[_MAKE], exif[_MODEL] = moment.camera.split(" ", 1)
    if moment.time:
        taken = exif.get_ifd(_EXIF_IFD)
        taken[_TIME_ORIGINAL] = moment.time.strftime("%Y:%m:%d %H:%M:%S")
        if moment.offset:
            taken[_OFFSET_ORIGINAL] = moment.offset
    if moment.position:
        latitude, longitude = moment.position
        gps = exif.get_ifd(_GPS_IFD)
        gps[1], gps[2] = "N" if latitude >= 0 else "S", _sexagesimal(latitude)
        gps[3], gps[4] = "E" if longitude >= 0 else "W", _sexagesimal(longitude)
    return exif.tobytes()


def _sexagesimal(degrees: float) -> tuple[IFDRational, IFDRational, IFDRational]:
    hundredths = round(abs(degrees) * 360_000)  # of an arc second
    minutes, seconds = divmod(hundredths, 6_000)
    return (
        IFDRational(minutes // 60, 1),
        IFDRational(minutes % 60, 1),
        IFDRational(seconds, 100),
    )

"""The demo album: real photos that registry packages ship, given made-up times and places.

The pictures are read from the installed packages of the ``demo`` extra (none is imported) and
written as JPEG with EXIF into the album folder. Knows nothing of libraries or search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from photocraft_local.errors import MissingExtraError

NOTICE = "Demo copy: the capture time and place in this file are made up."
_DATE_TIME_ORIGINAL, _OFFSET_TIME_ORIGINAL = 0x9003, 0x9011
_IMAGE_DESCRIPTION, _ARTIST, _COPYRIGHT = 0x010E, 0x013B, 0x8298
_EXIF_IFD, _GPS_IFD = 0x8769, 0x8825


@dataclass(frozen=True, slots=True)
class DemoPhoto:
    """One picture of a package, and the capture time and place that the album gives it."""

    name: str  # file name in the album, without suffix
    package: str
    path: str  # inside the package
    taken: str  # local time, ISO 8601 with offset
    latitude: float | None
    longitude: float | None
    credit: str


_SKIMAGE, _SKLEARN = ("skimage", "data/"), ("sklearn", "datasets/images/")


def _photo(
    source: tuple[str, str], file: str, taken: str, place: tuple[float, float] | None, credit: str
) -> DemoPhoto:
    package, folder = source
    latitude, longitude = place or (None, None)
    name = Path(file).stem
    return DemoPhoto(name, package, folder + file, taken, latitude, longitude, credit)


_BEIJING, _LISBON, _BERLIN = (39.9996, 116.2755), (38.7139, -9.1394), (52.5200, 13.4050)
_CANAVERAL, _HOUSTON, _BOSTON = (28.5623, -80.5774), (29.5593, -95.0900), (42.3601, -71.0942)

DEMO_PHOTOS: tuple[DemoPhoto, ...] = (
    _photo(_SKLEARN, "china.jpg", "2019-10-03T11:20:00+08:00", _BEIJING, "danielbuechele, CC BY"),
    _photo(_SKLEARN, "flower.jpg", "2019-10-03T15:05:00+08:00", _BEIJING, "vultilion, CC BY"),
    _photo(_SKIMAGE, "chelsea.png", "2021-06-12T09:41:00+01:00", _LISBON, "S. van der Walt, CC0"),
    _photo(_SKIMAGE, "coffee.png", "2021-06-12T10:15:00+01:00", _LISBON, "Rachel Michetti, CC0"),
    _photo(_SKIMAGE, "brick.png", "2021-06-13T17:30:00+01:00", _LISBON, "CC0Textures, CC0"),
    _photo(_SKIMAGE, "coins.png", "2021-06-14T14:02:00+01:00", _LISBON, "Brooklyn Museum"),
    _photo(_SKIMAGE, "rocket.jpg", "2015-02-08T18:12:00-05:00", _CANAVERAL, "SpaceX, CC0"),
    _photo(_SKIMAGE, "astronaut.png", "2015-02-10T10:30:00-06:00", _HOUSTON, "NASA"),
    _photo(_SKIMAGE, "moon.png", "2015-02-10T21:45:00-06:00", _HOUSTON, "NASA"),
    _photo(_SKIMAGE, "camera.png", "2017-09-21T16:00:00-04:00", _BOSTON, "Lav Varshney, CC0"),
    _photo(
        _SKIMAGE,
        "motorcycle_left.png",
        "2022-07-30T13:10:00+02:00",
        _BERLIN,
        "D. Scharstein",
    ),
    _photo(_SKIMAGE, "grass.png", "2022-07-31T12:00:00+02:00", _BERLIN, "linolafett, CC0"),
    _photo(_SKIMAGE, "gravel.png", "2022-07-31T12:08:00+02:00", _BERLIN, "CC0Textures, CC0"),
    _photo(_SKIMAGE, "page.png", "2022-11-05T20:15:00+01:00", None, "scikit-image"),
    _photo(_SKIMAGE, "hubble_deep_field.jpg", "2022-12-24T23:30:00+01:00", None, "NASA, ESA"),
)


def build_album(folder: Path) -> Iterator[Path]:
    """Write the album's photos into ``folder`` and yield each; files that are there stay.

    Raises MissingExtraError if a package of the ``demo`` extra is not installed.
    """
    sources = {package: _package_folder(package) for package in ("skimage", "sklearn")}
    folder.mkdir(parents=True, exist_ok=True)
    for photo in DEMO_PHOTOS:
        target = folder / f"{photo.name}.jpg"
        if not target.exists():
            _write(sources[photo.package] / photo.path, target, photo)
        yield target


def _package_folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(package, "demo", "the demo album")
    return Path(spec.submodule_search_locations[0])


def _write(source: Path, target: Path, photo: DemoPhoto) -> None:
    from PIL import Image

    unfinished = target.with_suffix(".unfinished")
    with Image.open(source) as picture:
        picture.convert("RGB").save(unfinished, "JPEG", quality=92, exif=_exif(photo))
    unfinished.replace(target)


def _exif(photo: DemoPhoto) -> bytes:
    from PIL import Image

    taken = datetime.fromisoformat(photo.taken)
    exif = Image.Exif()
    exif[_IMAGE_DESCRIPTION] = NOTICE
    exif[_ARTIST] = exif[_COPYRIGHT] = photo.credit
    details = exif.get_ifd(_EXIF_IFD)
    details[_DATE_TIME_ORIGINAL] = taken.strftime("%Y:%m:%d %H:%M:%S")
    details[_OFFSET_TIME_ORIGINAL] = taken.isoformat()[-6:]
    if photo.latitude is not None and photo.longitude is not None:
        gps = exif.get_ifd(_GPS_IFD)
        gps[1], gps[2] = ("N" if photo.latitude >= 0 else "S"), _degrees(photo.latitude)
        gps[3], gps[4] = ("E" if photo.longitude >= 0 else "W"), _degrees(photo.longitude)
    return exif.tobytes()


def _degrees(value: float) -> tuple[Fraction, Fraction, Fraction]:
    """Degrees, minutes and seconds without the sign, as EXIF wants them."""
    seconds = Fraction(round(abs(value) * 360_000), 100)
    return Fraction(seconds // 3600), Fraction(seconds % 3600 // 60), seconds % 60

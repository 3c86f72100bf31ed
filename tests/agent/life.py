"""A small made life: real captioned photos, copied aside at test time, with made times and places
in XMP sidecars; beside them stand the real photos whose own metadata is known.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

_PACKET = """<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" {properties}/>
 </rdf:RDF>
</x:xmpmeta>
"""
LISBON, BERLIN, TOKYO, TSAVO = (38.7139, -9.1394), (52.52, 13.405), (35.68, 139.76), (-3.4, 38.6)


@dataclass(frozen=True)
class Moment:
    """One photo of the life: its number in the shared set, when and where."""

    coco: int
    time: str = ""
    place: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        return f"{self.coco:012d}.jpg"


LIFE = {
    "tokyo bus": Moment(568290, "2019-10-03T08:15:00", TOKYO),
    "tokyo bananas": Moment(8844, "2019-10-04T12:00:00", TOKYO),
    "berlin pizza": Moment(450, "2020-03-05T20:30:00", BERLIN),
    "berlin dog": Moment(377575, "2020-12-24T18:45:00", BERLIN),
    "berlin toilet": Moment(331352, "2021-01-30T10:00:00", BERLIN),
    "lisbon boats": Moment(511321, "2021-06-12T11:00:00", LISBON),
    "lisbon pizza": Moment(160012, "2021-06-12T21:30:00", LISBON),
    "lisbon dog": Moment(442450, "2021-06-13T09:30:00", LISBON),
    "lisbon bus": Moment(471, "2021-06-14T16:10:00", LISBON),
    "lisbon bananas": Moment(6012, "2021-07-02T13:00:00", LISBON),
    "berlin cat": Moment(555705, "2021-11-20T07:05:00", BERLIN),
    "kenya elephant": Moment(519208, "2022-02-10T06:40:00", TSAVO),
    "kenya elephants": Moment(286994, "2022-02-11T16:20:00", TSAVO),
    "tennis": Moment(12120),
}


def write_life(coco: Path, folder: Path) -> dict[str, str]:
    """Copies the photos into ``folder`` with their sidecars; returns file name → title."""
    for moment in LIFE.values():
        shutil.copyfile(coco / moment.name, folder / moment.name)
        (folder / f"{moment.name}.xmp").write_text(packet(moment), "utf-8")
    return {moment.name: title for title, moment in LIFE.items()}


def packet(moment: Moment) -> str:
    properties = {}
    if moment.time:
        properties["exif:DateTimeOriginal"] = moment.time
    if moment.place:
        latitude, longitude = moment.place
        properties["exif:GPSLatitude"] = _degrees(latitude, "NS")
        properties["exif:GPSLongitude"] = _degrees(longitude, "EW")
    shown = " ".join(f'{name}="{value}"' for name, value in properties.items())
    return _PACKET.format(properties=shown)


def _degrees(value: float, letters: str) -> str:
    whole, part = divmod(abs(value), 1)
    return f"{int(whole)},{part * 60:.4f}{letters[value < 0]}"

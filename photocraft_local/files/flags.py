"""The vocabulary of flags: short words for what is special or doubtful about a photo.

A flag never stops a photo from being indexed; what does is an error (see ``errors.py``).
"""

from __future__ import annotations

from typing import Final

FLAGS: Final[dict[str, str]] = {
    # what kind of picture it is
    "screenshot": "a picture of a screen, by its name, its folder or its comment",
    "multi-picture": "several pictures in one file (MPO, gain map); the first one counts",
    "animated": "an animation; the first frame counts",
    "cmyk": "stored in printing colours",
    "raw-preview": "pixels come from the preview inside a RAW file",
    "raw-developed": "a RAW file without a usable preview; developed with the camera's balance",
    # what is wrong with the file
    "truncated": "the file ends too early; the missing part is blank",
    "damaged": "the picture data has errors that the decoder could step over",
    "unreadable-exif": "the EXIF block cannot be read",
    "unreadable-xmp": "the XMP packet cannot be read to its end",
    "unreadable-sidecar": "the file beside the photo cannot be read",
    "bad-orientation": "the orientation is none of 1 to 8 and counts as 1",
    "bad-colour-profile": "the colour profile cannot be used; colours are taken as sRGB",
    # doubts about the capture time
    "time-from-fallback": "the time of the exposure is missing; a weaker field was used",
    "time-from-name": "the time was read from the file's name",
    "time-in-future": "the capture time lies in the future",
    "time-of-day-unknown": "only the day is known; the time stands at midnight",
    "time-factory-default": "the time is what a camera with an unset clock writes",
    "time-in-utc": "the clock is UTC, since the place that would give the zone is unknown",
    "offset-from-gps": "the UTC offset follows from satellite time and position",
    # doubts about the position
    "gps-without-hemisphere": "N/S or E/W is missing, so the position is not used",
    "gps-null-island": "the position is exactly 0,0, so it is not used",
    "gps-invalid": "the position is no number or out of range, so it is not used",
    "gps-void": "the receiver said that it had no fix, so the position is not used",
    "gps-from-xmp": "the position comes from XMP",
    "gps-from-sidecar": "the position comes from the file beside the photo",
}

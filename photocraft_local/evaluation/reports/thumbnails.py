"""Photos of a data set as small JPEGs inside the page, within a budget of bytes.

Names come from a data set: none leads out of the folder that the person named.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from photocraft_local.errors import PhotoError
from photocraft_local.evaluation.pictures import fault_of

SIDE = 96  # px
_SUFFIXES = ("", ".jpg", ".jpeg", ".png", ".webp", ".heic")
_BUDGET = 4 << 20  # bytes of base64 in one page


class Thumbnails:
    """``folder`` holds the photos in one of the layouts of ``_places``; endings may be left out.
    ``known``: files of names that are no paths. Without either no picture is shown."""

    def __init__(
        self,
        folder: Path | None,
        known: Mapping[str, Path] | None = None,
        budget: int = _BUDGET,
    ) -> None:
        self._folder = folder
        self._known = known or {}
        self._left = budget
        self._made: dict[tuple[str, str], str] = {}

    def uri(self, library: str, name: str) -> str:
        """A ``data:`` URI; empty where there is no such photo, it is broken, or the page is full
        (then each further one is left out)."""
        key = (library, name)
        if key not in self._made:
            self._made[key] = self._new(library, name)
        return self._made[key]

    def _new(self, library: str, name: str) -> str:
        path = self._find(library, name)
        if path is None or self._left <= 0:
            return ""
        try:
            content = _small(path)
        except (PhotoError, OSError):
            return ""
        self._left -= len(content)
        return content if self._left >= 0 else ""

    def _find(self, library: str, name: str) -> Path | None:
        if name in self._known:
            return self._known[name]
        if self._folder is None or not name:
            return None
        for place in _places(library, name):
            for suffix in _SUFFIXES:
                if fault_of(self._folder, place + suffix) == ("", ""):
                    return self._folder / (place + suffix)
        return None


def _places(library: str, name: str) -> Iterator[str]:
    """As our histories have them below ``photos``, DISBench below ``images/USER``, PhotoBench in an
    album's folder or below it."""
    yield from (name, f"photos/{name}", f"images/{library}/{name}")
    for root in ("", "dataset/", "albums/"):
        for part in ("", "images/", "photos/"):
            yield f"{root}{library}/{part}{name}"


def _small(path: Path) -> str:
    from photocraft_local.files.decode import decode_upright
    from photocraft_local.imaging.geometry import fit_inside
    from photocraft_local.imaging.pictures import jpeg_bytes, resized

    pixels = decode_upright(os.fsencode(path), short_side=SIDE).pixels
    width, height = fit_inside(pixels.shape[1], pixels.shape[0], SIDE)
    jpeg = jpeg_bytes(resized(pixels, width, height))
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()

"""``PhotoSearch.places``: the places that the person named, for filters and questions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from photocraft_local.app.texts import plain
from photocraft_local.errors import PlaceNotFound, UsageError
from photocraft_local.places.areas import Area
from photocraft_local.places.named import DEFAULT_RADIUS_KM, NamedPlace, named_place
from photocraft_local.places.ranking import town_among

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts

_DEGREES = r"([+-]?\d{1,3}(?:\.\d*)?)"
_POINT = re.compile(rf"\s*{_DEGREES}\s*[,;\s]\s*{_DEGREES}\s*")


class NamedPlaces:
    """The named places of one library."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list(self) -> list[NamedPlace]:
        """By name."""
        return self._parts.library().named_places.list()

    def add(
        self,
        name: str,
        *,
        at: str | tuple[float, float] | None = None,
        photo: str | None = None,
        place: str | None = None,
        radius_km: float | None = None,
    ) -> NamedPlace:
        """Name the point ``at`` ("38.7139,-9.1394" or two signed degrees), the spot where a photo
        (its UID) was taken, or a town or monument that the gazetteer knows.

        ``radius_km`` says how far the name reaches: 0.5 km, or the town's own radius.
        Raises UsageError, UnknownPhoto, PlaceNotFound, LibraryLocked.
        """
        given = [choice for choice in (at, photo, place) if choice is not None]
        if len(given) != 1:
            raise UsageError(
                "a place needs one position: coordinates, a photo, or a known place",
                hint='say --at LAT,LON, --photo UID or --place "NAME"; one of them',
            )
        radius = DEFAULT_RADIUS_KM
        if at is not None:
            point = _degrees(at) if isinstance(at, str) else at
        elif photo is not None:
            point = self._of_photo(plain(photo))
        else:
            area = self._of_place(plain(place or ""))
            point, radius = (area.latitude, area.longitude), area.radius_km
        if radius_km is not None:
            radius = radius_km
        named = named_place(plain(name), point[0], point[1], radius)
        self._parts.library().named_places.add(named)
        return named

    def remove(self, name: str) -> str:
        """Take a name back; gives it as it was stored. UsageError for one that is not there."""
        return self._parts.library().named_places.remove(plain(name))

    def count(self, named: NamedPlace) -> int:
        """How many photos lie there."""
        where = f"near({named.latitude!r}, {named.longitude!r}, {named.radius_km!r})"
        return len(self._parts.catalog().filter(where))

    def _of_photo(self, uid: str) -> tuple[float, float]:
        photo = self._parts.library().photo(uid)
        if photo.location is None:
            raise UsageError(
                f"it is not known where {photo.uid} was taken",
                hint="give the UID of a photo with a position, or --at LAT,LON",
            )
        return photo.location.latitude, photo.location.longitude

    def _of_place(self, name: str) -> Area:
        if not name.strip():
            raise UsageError("--place is empty", hint='name a town: --place "Sintra"')
        atlas = self._parts.atlas()
        areas = atlas.find(name)
        if not areas:
            near = atlas.suggest(name)
            raise PlaceNotFound(
                f"no place named {name!r} is known",
                hint=f"did you mean {' or '.join(near)}?" if near else "give --at LAT,LON",
            )
        area = town_among(areas)
        if not area.is_round:
            raise UsageError(
                f"{area.label()} is a {area.kind}, too large for a place of your own",
                hint="name a town in it, or give --at LAT,LON with --radius KM",
            )
        return area


def _degrees(text: str) -> tuple[float, float]:
    match = _POINT.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text!r} is no position",
            hint="write signed degrees, latitude first: --at 38.7139,-9.1394",
        )
    return float(match[1]), float(match[2])

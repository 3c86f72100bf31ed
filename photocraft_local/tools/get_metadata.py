"""get_metadata: the plain facts of given photos."""

from __future__ import annotations

from photocraft_local.records import Json, Observation, Photo, path_text
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, degrees, kilometres, safe_text
from photocraft_local.tools.photos import known_photos
from photocraft_local.tools.ports import Arguments

FIELDS = ("time", "place", "camera", "event", "size", "flags", "files")
_LONGEST_ADDRESS = 300
_DEFAULT = ("time", "place", "camera", "event")


class GetMetadata:
    name = "get_metadata"
    description = (
        "Facts of given photos, not their looks: time (local wall clock, UTC offset if known, "
        "where it was read from), place (address, latitude and longitude in degrees), camera, "
        "event number, size (upright, pixels), flags (doubts and kinds such as screenshot), "
        "files (names). null means not known. A crop's UID gives its photo's facts."
    )
    parameters = schema.arguments(
        "photos",
        photos=schema.uids("Photos to describe, at most 50.", most=50),
        fields=schema.many(
            schema.choice("A kind of fact.", FIELDS),
            f"Which facts; default: {', '.join(_DEFAULT)}.",
            most=len(FIELDS),
        ),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        photos = known_photos(context, arguments["photos"])
        fields = arguments.get("fields", _DEFAULT)
        rows = [
            {"uid": photo.uid, **{name: _FACTS[name](photo) for name in fields}} for photo in photos
        ]
        data: dict[str, Json] = {"count": len(rows), "photos": rows}
        return Observation(self.name, data=data, brief=f"facts of {counted(len(rows), 'photo')}")


def _time(photo: Photo) -> Json:
    if photo.taken is None:
        return None
    return {
        "local": photo.taken.isoformat(),
        "source": safe_text(photo.taken.source),
        "doubts": list(photo.taken.flags),
    }


def _place(photo: Photo) -> Json:
    facts: dict[str, Json] = {}
    if photo.location is not None:
        facts["latitude"] = degrees(photo.location.latitude)
        facts["longitude"] = degrees(photo.location.longitude)
    if photo.place is not None:
        facts["address"] = safe_text(photo.place.address(), _LONGEST_ADDRESS)
        if photo.place.country:  # named by a gazetteer, which knows the centre
            facts["km_from_centre"] = kilometres(photo.place.distance_km)
    return facts or None


def _camera(photo: Photo) -> Json:
    return safe_text(photo.camera) or None


def _event(photo: Photo) -> Json:
    return photo.event_id


def _size(photo: Photo) -> Json:
    return {"width": photo.width, "height": photo.height}


def _flags(photo: Photo) -> Json:
    return list(photo.flags)


def _files(photo: Photo) -> Json:
    return [safe_text(path_text(path), 200) for path in (*photo.paths, *photo.companions)]


_FACTS = {
    "time": _time,
    "place": _place,
    "camera": _camera,
    "event": _event,
    "size": _size,
    "flags": _flags,
    "files": _files,
}

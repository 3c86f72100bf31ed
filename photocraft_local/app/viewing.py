"""What the library says of itself and of one photo; no model is loaded for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from photocraft_local.app.results import LibraryStatus, PhotoDetails
from photocraft_local.app.spaces import readable
from photocraft_local.errors import EncoderError, LibraryError, MissingExtraError, NoVectors
from photocraft_local.records import Photo

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts

_MAX_NEIGHBOURS = 10


def show(parts: Parts, uid: str) -> PhotoDetails:
    """``PhotoSearch.show``."""
    library = parts.library()
    photo = library.photo(uid)
    if photo.event_id is None:
        return PhotoDetails(photo, None, ())
    event = next((one for one in library.events() if one.event_id == photo.event_id), None)
    others = [
        other
        for other in library.photos()
        if other.event_id == photo.event_id and other.photo_id != photo.photo_id
    ]
    others.sort(key=_taken)
    return PhotoDetails(photo, event, tuple(others[:_MAX_NEIGHBOURS]))


def _taken(photo: Photo) -> str:
    return photo.taken.local.isoformat() if photo.taken else ""


def status(parts: Parts) -> LibraryStatus:
    """``PhotoSearch.status``."""
    library = parts.library()
    found = library.status()
    notes: list[str] = []
    pending = _num_pending(parts, notes)
    spaces = tuple(readable(parts, notes))
    return LibraryStatus(
        library=library.path,
        num_photos=found.photos,
        num_offline=found.offline,
        num_missing=found.missing,
        num_forgotten=found.forgotten,
        num_files=found.files,
        num_companions=found.companions,
        num_with_time=found.with_time,
        num_with_place=found.with_place,
        num_events=found.events,
        encoder=parts.settings.encoder,
        num_pending=pending,
        roots=found.roots,
        offline_roots=found.offline_roots,
        skipped=found.skipped,
        spaces={space.name: space.vectors for space in spaces},
        notes=tuple(notes),
        vector_spaces=spaces,
    )


def _num_pending(parts: Parts, notes: list[str]) -> int | None:
    """Photos without a vector of the chosen encoder; None, with a note, if it is not usable."""
    ids = parts.library().present_ids()
    try:
        return len(parts.space().pending(ids))
    except NoVectors:
        return len(ids)
    except (EncoderError, MissingExtraError, LibraryError) as error:
        notes.append(f"{error.message}; {error.hint}")
        return None

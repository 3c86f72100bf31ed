"""UIDs that a model wrote → photos, crops, files: the one place that tells them apart.

A crop's UID stands for its parent wherever whole photos are meant. Knows nothing of search.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.errors import UnknownPhoto, UnreadablePhoto, UsageError
from photocraft_local.files.decode import decode_upright
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.pictures import Pixels
from photocraft_local.library.uids import normalise, split_crop
from photocraft_local.records import Photo, path_text
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import listing, safe_text, time_text


@dataclass(frozen=True, slots=True)
class Source:
    """A picture that can be shown: a photo, a crop, or one of the question's own pictures.

    ``photo`` is the photo itself or the crop's parent, None for the question's own; ``box`` is
    the crop's place in it.
    """

    uid: str
    path: bytes
    photo: Photo | None
    box: Box | None = None

    def original_size(self) -> tuple[int, int] | None:
        """(width, height) in pixels of what it shows of the original, if that is known."""
        if self.box is not None:
            return self.box.width, self.box.height
        return (self.photo.width, self.photo.height) if self.photo else None

    def label(self) -> str:
        if self.photo is None:
            return f"{self.uid}\npicture of the question"
        part = f"\npart of {self.photo.uid}" if self.box else ""
        return f"{self.uid}{part}\n{when_and_where(self.photo)}"


def known_photos(context: ToolContext, uids: Iterable[str]) -> list[Photo]:
    """The photos, each once, in the order given. UnknownPhoto names every UID that is none."""
    found: dict[str, Photo] = {}
    errors: list[UnknownPhoto] = []
    for uid in dict.fromkeys(uids):
        try:
            photo = whole_photo(context, uid)
        except UnknownPhoto as exc:
            errors.append(_unknown(context, uid, exc))
            continue
        found[photo.uid] = photo
    if errors:
        raise _joined(errors)
    return list(found.values())


def photos_by_uid(context: ToolContext, uids: Sequence[str]) -> list[Photo]:
    """Photos of UIDs that a search gave, in their order; those gone meanwhile are left out."""
    ids = context.catalog.photo_ids_of(uids)
    return list(context.library.photos_by_id(ids).values())


def sources(context: ToolContext, uids: Iterable[str]) -> tuple[list[Source], dict[str, str]]:
    """What to show for each UID, each once, and UID → reason of those without a file now.

    UnknownPhoto names every UID that is none.
    """
    found: dict[str, Source] = {}
    missing: dict[str, str] = {}
    errors: list[UnknownPhoto] = []
    for uid in dict.fromkeys(uids):
        try:
            one = source(context, uid)
        except UnknownPhoto as exc:
            errors.append(exc)
        except UnreadablePhoto as exc:
            missing[uid] = safe_text(exc.message, 200)
        else:
            found[one.uid] = one
    if errors:
        raise _joined(errors)
    return list(found.values()), missing


def source(context: ToolContext, uid: str) -> Source:
    """What to show for one UID. Raises UnknownPhoto; UnreadablePhoto if no file is at hand."""
    if uid in context.pictures:
        return Source(uid, context.pictures[uid], None)
    try:
        photo = whole_photo(context, uid)
    except UnknownPhoto as exc:
        raise _unknown(context, uid, exc) from exc
    if is_crop(uid):
        crop = context.library.crop(uid)
        return Source(crop.uid, bytes(crop.path), photo, Box.from_corners(*crop.box))
    return Source(photo.uid, present_path(photo), photo)


def is_crop(uid: str) -> bool:
    """Whether the UID has the form of a crop's."""
    return split_crop(normalise(uid)) is not None


def whole_photo(context: ToolContext, uid: str) -> Photo:
    """The photo of a UID; a crop that exists stands for its parent. Raises UnknownPhoto."""
    if is_crop(uid):
        uid = context.library.crop(uid).parent_uid
    return context.library.photo(uid)


def present_path(photo: Photo) -> bytes:
    """The first path of the photo that exists now. UnreadablePhoto names the preferred one."""
    for path in photo.paths:
        if Path(os.fsdecode(path)).exists():
            return path
    where = safe_text(path_text(photo.paths[0])) if photo.paths else "nowhere"
    raise UnreadablePhoto(
        f"the file of {photo.uid} is not there now: {where}",
        hint="its drive is not mounted; what is known of it can still be searched and filtered"
        if photo.offline
        else "it was moved or deleted since the last indexing",
    )


def pixels(context: ToolContext, shown: Source, *, short_side: int | None = None) -> Pixels:
    """Decoded upright pixels of a source."""
    limit = context.settings.max_pixels
    return decode_upright(shown.path, short_side=short_side, max_pixels=limit).pixels


def library_source(context: ToolContext, uid: str) -> tuple[Source, Photo]:
    """A source that belongs to a photo of the library. UsageError for the question's own."""
    shown = source(context, uid)
    if shown.photo is None:
        raise UsageError(
            f"{uid!r} is a picture of the question, not of the library",
            hint="use it in search_photos as like, or look at it with fetch_image",
        )
    return shown, shown.photo


def when_and_where(photo: Photo) -> str:
    """Time and address on two lines, for a picture's label."""
    time = time_text(photo.taken.local) if photo.taken else "no time"
    return f"{time}\n{safe_text(photo.place.address()) if photo.place else 'no place'}"


def _unknown(context: ToolContext, uid: str, error: UnknownPhoto) -> UnknownPhoto:
    """The library's error in words for a model: a set's name is the likeliest slip."""
    hint = error.hint if error.hint.startswith("did you mean") else ""
    if uid in context.sets:
        hint = f"{uid!r} is a saved set; pass it as within, set or sets"
    shown = safe_text(uid, 80)
    return UnknownPhoto(
        f"there is no photo {shown!r} in this library",
        hint=hint or "use UIDs exactly as search_photos or filter_photos gave them",
    )


def _joined(errors: Sequence[UnknownPhoto]) -> UnknownPhoto:
    if len(errors) == 1:
        return errors[0]
    hints = dict.fromkeys(error.hint for error in errors)
    return UnknownPhoto(listing([error.message for error in errors], 8), hint="; ".join(hints))

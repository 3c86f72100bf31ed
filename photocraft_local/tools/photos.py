"""UIDs that a model wrote → photos, crops, files: the one place that tells them apart.

A crop's UID stands for its parent wherever whole photos are meant. Knows nothing of search.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from photocraft_local.errors import UnknownPhoto, UnreadablePhoto
from photocraft_local.files.decode import Decoded
from photocraft_local.imaging.geometry import Box
from photocraft_local.library.uids import normalise, split_crop
from photocraft_local.records import Photo, path_text
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import listing, safe_text, time_text

_PAGE_PICTURE = re.compile(r"k[0-9a-z]{5,}")


@dataclass(frozen=True, slots=True)
class Source:
    """A picture that can be shown: a photo, one of the question's own pictures, one of a page of
    the local knowledge, or a crop.

    ``photo`` is the photo itself or the crop's parent, None for what the library does not hold,
    of which ``told`` is said; ``box`` is the crop's place in ``whole``, the UID of its parent. A
    crop of a photo has a file of its own; one of another picture is cut from that picture's file
    whenever it is needed.
    """

    uid: str
    path: bytes
    photo: Photo | None
    box: Box | None = None
    whole: str = ""
    told: str = "picture of the question"

    @property
    def is_cut(self) -> bool:
        """Whether ``path`` shows more than this picture: ``box`` of it is meant."""
        return self.box is not None and self.photo is None

    def original_size(self) -> tuple[int, int] | None:
        """(width, height) in pixels of what it shows of the original, if that is known."""
        if self.box is not None:
            return self.box.width, self.box.height
        return (self.photo.width, self.photo.height) if self.photo else None

    def label(self) -> str:
        part = f"\npart of {self.whole}" if self.box else ""
        facts = when_and_where(self.photo) if self.photo else self.told
        return f"{self.uid}{part}\n{facts}"


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
    if uid in context.crops:
        whole, box = context.crops[uid]
        return replace(source(context, whole), uid=uid, box=box, whole=whole)
    if is_page_picture(context, uid):
        return _page_picture(context, uid)
    try:
        photo = whole_photo(context, uid)
    except UnknownPhoto as exc:
        raise _unknown(context, uid, exc) from exc
    if is_crop(uid):
        crop = context.library.crop(uid)
        path = bytes(context.library.crop_picture(uid))
        return Source(crop.uid, path, photo, Box.from_corners(*crop.box), photo.uid)
    return Source(photo.uid, present_path(photo), photo)


def is_no_photo(context: ToolContext, uid: str) -> bool:
    """Whether it is a picture of the question or of a page, or a part of one."""
    return uid in context.pictures or uid in context.crops or is_page_picture(context, uid)


def is_page_picture(context: ToolContext, uid: str) -> bool:
    """Whether the local knowledge has a picture of that id."""
    if not _PAGE_PICTURE.fullmatch(normalise(uid)) or context.knowledge is None:
        return False
    try:
        context.knowledge.picture(uid)
    except UnknownPhoto:
        return False
    return True


def _page_picture(context: ToolContext, uid: str) -> Source:
    """Raises UnreadablePhoto if its file is gone or has changed."""
    assert context.knowledge is not None
    kept = context.knowledge.picture(uid)
    told = f"picture of the page {safe_text(kept.page, 60)}\n{safe_text(kept.caption, 80)}"
    return Source(kept.uid, context.knowledge.picture_path(uid), None, told=told)


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


def decoded(context: ToolContext, shown: Source, *, short_side: int | None = None) -> Decoded:
    """Upright pixels of a source, its shorter side at most ``short_side``, and the full size of
    what its file shows; of a part of a question's picture always all pixels. They may be shared,
    hence read-only. Raises PhotoError.
    """
    limit = context.settings.max_pixels
    if shown.box is not None and shown.is_cut:
        part = context.decoded.region(shown.path, shown.box, max_pixels=limit)
        return Decoded(part, shown.box.width, shown.box.height)
    return context.decoded.get(shown.path, short_side=short_side, max_pixels=limit)


def when_and_where(photo: Photo) -> str:
    """Time and address on two lines, for a picture's label."""
    time = time_text(photo.taken.local) if photo.taken else "no time"
    return f"{time}\n{safe_text(photo.place.address()) if photo.place else 'no place'}"


def _unknown(context: ToolContext, uid: str, error: UnknownPhoto) -> UnknownPhoto:
    """The library's error in words for a model: a set's name is the likeliest slip."""
    hint = error.hint if error.hint.startswith("did you mean") else ""
    if uid in context.sets:
        hint = f"{uid!r} is a saved set; pass it as within, set or sets"
    if is_no_photo(context, uid):
        whose = "a page" if is_page_picture(context, uid.partition(".")[0]) else "the question"
        hint = f"{uid!r} belongs to {whose}, not to the library: it works in search_photos "
        hint += "(like), view_photos, fetch_image and zoom_in"
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

"""Traces as rows for fine-tuning: which ones, how pictures are named, what has to go from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from photocraft_local.agent.export.formats import Format, rows
from photocraft_local.agent.export.redaction import Redaction
from photocraft_local.agent.trajectory import Trajectory, of_json
from photocraft_local.errors import LibraryError, PhotoError, UnknownPhoto, UsageError
from photocraft_local.records import Json, path_text

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts

PictureForm = Literal["uid", "path"]


def exported(
    parts: Parts,
    records: Sequence[Trajectory],
    form: Format,
    pictures: PictureForm = "uid",
    *,
    redact: bool = False,
) -> Iterator[dict[str, Json]]:
    """Raises UsageError for paths of pictures in a redacted export."""
    if redact and pictures == "path":
        raise UsageError(
            "a redacted export names no file of yours",
            hint="leave out --pictures path, or --redact",
        )
    redaction = Redaction(_names(parts)) if redact else None
    for record in records:
        told = of_json(redaction.trace(record.to_json())) if redaction else record
        yield from rows(told, form, _pictures(parts, record) if pictures == "path" else str)


def is_accepted(record: Trajectory) -> bool:
    """Photos were found, and every condition was met on re-check."""
    answer = record.answer
    if record.status != "answered" or answer is None or not answer.uids:
        return False
    return all(answer.evidence.get(uid) for uid in answer.uids) and all(
        piece.met for pieces in answer.evidence.values() for piece in pieces
    )


def _pictures(parts: Parts, record: Trajectory) -> Callable[[str], str]:
    """Id → path; what has none (any more) keeps its id."""
    own = {picture.id: path_text(picture.path) for picture in record.pictures}
    library = parts.library()

    def path(name: str) -> str:
        if name in own:
            return own[name]
        try:
            if "." in name:
                return str(library.crop_picture(name))
            paths = library.photo(name).paths
        except (UnknownPhoto, PhotoError, LibraryError):
            return name
        return path_text(paths[0]) if paths else name

    return path


def _names(parts: Parts) -> Iterator[str]:
    """Words of the library that must not stay even if they are common ones."""
    columns = parts.catalog().columns
    for field in ("city", "region", "country", "camera"):
        for words in columns.words(field).words:
            yield from (word for word in words.split() if len(word) > 2 and not word.islower())
    for place in parts.library().named_places.list():
        yield place.name

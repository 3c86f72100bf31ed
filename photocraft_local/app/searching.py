"""One search: exact conditions first, then the look of what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.filters import WHERE, Filters
from photocraft_local.app.indexing import absolute
from photocraft_local.app.results import FoundPhoto, SearchAnswer
from photocraft_local.app.texts import plain
from photocraft_local.errors import FilterSyntaxError, UnknownPhoto, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from photocraft_local.app.parts import Parts
    from photocraft_local.records import Photo
    from photocraft_local.search.searcher import SearchResult
    from photocraft_local.search.selection import Selection


@dataclass(frozen=True, slots=True)
class Look:
    """What the photos should look like; ``like`` are UIDs or picture files."""

    text: str
    like: tuple[str | Path, ...]
    not_text: tuple[str, ...]


def search(
    parts: Parts,
    look: Look,
    filters: Filters,
    top_k: int | None,
    today: date,
) -> SearchAnswer:
    """``PhotoSearch.search``."""
    if top_k is not None and top_k < 1:
        raise UsageError(
            f"top_k must be at least 1, not {top_k}", hint="without top_k, every match comes"
        )
    selection = selected(parts, filters.expressions(today, parts.habits), today)
    if not (look.text.strip() or look.like or any(map(str.strip, look.not_text))):
        return _by_time(parts, selection, top_k)
    from photocraft_local.search.searcher import Query

    searcher = parts.searcher()
    query = Query(
        text=look.text,
        like=tuple(look_of(parts, example) for example in look.like),
        not_text=look.not_text,
        selection=selection,
        top_k=top_k,
    )
    return _answer(parts, searcher.search(query))


def selected(parts: Parts, expressions: Mapping[str, str], today: date) -> Selection | None:
    """The photos that pass every expression (by option); None where there is none to pass.

    An error names the option; in ``--where`` it has the position in the person's own text.
    """
    if not expressions:
        return None
    catalog, places = parts.catalog(), parts.places() or parts.own_places()
    if len(expressions) == 1:
        whole = next(iter(expressions.values()))
    else:
        whole = " and ".join(f"({expression})" for expression in expressions.values())
    try:
        return catalog.filter(whole, today=today, places=places)
    except FilterSyntaxError:
        for option, expression in expressions.items():
            try:
                catalog.filter(expression, today=today, places=places)
            except FilterSyntaxError as mistake:
                if option == WHERE:
                    raise
                told = mistake.message.partition(": ")[2]  # without the position
                raise UsageError(f"{option}: {told}", hint=mistake.hint) from mistake
        raise


def look_of(parts: Parts, example: str | Path) -> NDArray[np.float32]:
    """Unit vector (dim,) of an example: a UID's photo as stored, a crop or a file as encoded.

    Raises UnknownPhoto for what is neither a UID nor a file, PhotoError for a file that is no
    picture.
    """
    library = parts.library()
    try:
        photo = library.photo(plain(str(example)))
    except UnknownPhoto as unknown:
        if not Path(example).expanduser().is_file():
            raise UnknownPhoto(
                f"{str(example)!r} is neither a photo of this library nor a file",
                hint=unknown.hint,
            ) from unknown
        return _encoded(parts, absolute(example))
    if photo.uid == str(example).strip().casefold():
        return parts.searcher().photo_vector(photo.uid)
    return _encoded(parts, bytes(library.crop_picture(str(example))))


def _encoded(parts: Parts, path: bytes) -> NDArray[np.float32]:
    from photocraft_local.embeddings.encoding import encode_file

    return encode_file(parts.encoder(), path, max_pixels=parts.settings.max_pixels)


def _by_time(parts: Parts, selection: Selection | None, top_k: int | None) -> SearchAnswer:
    """Without a look the answer is what the filter left, in order of time."""
    if selection is None:
        raise UsageError(
            "there is nothing to search for",
            hint="say what the photo shows, or give a filter such as --after or --in;"
            " photocraft list shows everything",
        )
    ids = selection.photo_ids()[:top_k]
    photos = parts.library().photos_by_id(ids.tolist())
    return SearchAnswer(
        photos=tuple(FoundPhoto(photo, None) for photo in photos.values()),
        filter=selection.echo,
        num_candidates=len(selection),
    )


def _answer(parts: Parts, result: SearchResult) -> SearchAnswer:
    photos = _photos(parts, [hit.uid for hit in result.hits])
    return SearchAnswer(
        photos=tuple(
            FoundPhoto(photos[hit.uid], hit.score) for hit in result.hits if hit.uid in photos
        ),
        filter=result.filter_echo,
        num_candidates=result.num_candidates,
        num_unindexed=result.num_unindexed,
        cutoff=result.cutoff,
        understood=result.understood,
        not_understood=result.not_understood,
        engine=result.engine,
    )


def _photos(parts: Parts, uids: list[str]) -> dict[str, Photo]:
    """Whole photos by UID; one that has gone since the search began is left out."""
    catalog, library = parts.catalog(), parts.library()
    ids = catalog.columns.photo_ids[catalog.rows_of(uids)]
    return {photo.uid: photo for photo in library.photos_by_id(ids.tolist()).values()}

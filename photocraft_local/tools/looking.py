"""A search by look as tools ask for it: one text, any one of several, example pictures, NOT.

A photo fits "any of" if it reaches the cut-off of one of the texts; the one that it reaches by
most (misses by least) gives its score. Knows nothing of how results are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from photocraft_local.errors import UsageError
from photocraft_local.imaging.crops import model_view
from photocraft_local.imaging.pictures import resized
from photocraft_local.records import Json
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.photos import (
    Source,
    decoded,
    is_crop,
    is_no_photo,
    known_photos,
    source,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from photocraft_local.search.searcher import Query, SearchResult
    from photocraft_local.search.selection import Selection

LOOKS = ("text", "any_text", "like", "not_text")


@dataclass(frozen=True, slots=True)
class Look:
    """One photo's score for the text that fits it best, and from where on that text fits."""

    score: float
    cutoff: float
    text: str

    @property
    def fits(self) -> bool:
        return self.score >= self.cutoff


@dataclass(frozen=True, slots=True)
class Looked:
    """UID → look, best first. ``cutoffs`` are those of each text."""

    looks: dict[str, Look]
    cutoffs: dict[str, float]
    num_candidates: int
    num_unindexed: int
    understood: tuple[str, ...]
    not_understood: tuple[str, ...]

    @property
    def cutoff(self) -> float:
        """The lowest: a photo below it fits nothing."""
        return min(self.cutoffs.values())


def looked(
    context: ToolContext,
    wanted: Mapping[str, Json],
    selection: Selection | None,
    *,
    top_k: int | None,
) -> Looked:
    """Search; ``top_k`` None gives all that fit. Raises UsageError."""
    texts: list[str] = wanted.get("any_text") or [wanted.get("text", "")]
    if "any_text" in wanted and ("text" in wanted or "like" in wanted):
        raise UsageError(
            "any_text stands alone: not with text or like",
            hint="search for one, then inside the result (within) for the other",
        )
    like = tuple(look_of(context, uid) for uid in wanted.get("like", ()))
    unwanted = tuple(wanted.get("not_text", ()))
    results = {
        text: context.searcher.search(_query(text, like, unwanted, selection, top_k))
        for text in dict.fromkeys(texts)
    }
    some = next(iter(results.values()))
    return Looked(
        looks=dict(list(_merged(results).items())[:top_k]),
        cutoffs={text: result.cutoff for text, result in results.items()},
        num_candidates=some.num_candidates,
        num_unindexed=some.num_unindexed,
        understood=_words(results, "understood"),
        not_understood=_words(results, "not_understood"),
    )


def _query(
    text: str,
    like: tuple[NDArray[np.float32], ...],
    unwanted: tuple[str, ...],
    selection: Selection | None,
    top_k: int | None,
) -> Query:
    from photocraft_local.search.searcher import Query

    return Query(text=text, like=like, not_text=unwanted, selection=selection, top_k=top_k)


def _merged(results: Mapping[str, SearchResult]) -> dict[str, Look]:
    """By how far each photo lies above its text's cut-off, best first."""
    looks: dict[str, Look] = {}
    for text, result in results.items():
        for hit in result.hits:
            look = Look(hit.score, result.cutoff, text)
            known = looks.get(hit.uid)
            if known is None or _margin(look) > _margin(known):
                looks[hit.uid] = look
    if len(results) == 1:
        return looks
    return dict(sorted(looks.items(), key=lambda item: -_margin(item[1])))


def _margin(look: Look) -> float:
    return look.score - look.cutoff


def _words(results: Mapping[str, SearchResult], kind: str) -> tuple[str, ...]:
    found = [word for result in results.values() for word in getattr(result, kind)]
    return tuple(dict.fromkeys(found))


def look_of(context: ToolContext, uid: str) -> NDArray[np.float32]:
    """Unit vector (dim,) of a photo as stored, of a crop or a picture that is no photo
    as encoded."""
    if not is_no_photo(context, uid) and not is_crop(uid):
        return context.searcher.photo_vector(known_photos(context, [uid])[0].uid)
    one = source(context, uid)
    if one.is_cut:
        return _look_of_part(context, one)
    from photocraft_local.embeddings.encoding import encode_file

    return encode_file(context.encoder, one.path, max_pixels=context.settings.max_pixels)


def _look_of_part(context: ToolContext, part: Source) -> NDArray[np.float32]:
    """As a crop of a photo is encoded: enlarged where it is small, then as the encoder wants."""
    pixels = model_view(decoded(context, part).pixels).pixels
    height, width = pixels.shape[:2]
    side = context.encoder.spec.decode_side
    if 0 < side < min(width, height):
        scale = side / min(width, height)
        pixels = resized(pixels, round(width * scale), round(height * scale))
    vector: NDArray[np.float32] = context.encoder.encode_images([pixels])[0]
    return vector

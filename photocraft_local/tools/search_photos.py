"""search_photos: ranked or exact search by look, inside an exact filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from photocraft_local.errors import UsageError
from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, photo_row, safe_text, score_value
from photocraft_local.tools.photos import is_crop, known_photos, photos_by_uid, source
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.saving import check_save_as, keep
from photocraft_local.tools.scope import Scope, scope_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from photocraft_local.search.searcher import Query, SearchResult

_TOP_K = 20
_MOST_ROWS = 100


class SearchPhotos:
    name = "search_photos"
    description = (
        "Search by look: text, example pictures (like), or both; not_text pushes away what must "
        "not be there. when, where and within are exact filters that always hold. Returns the "
        "best photos with a score (calibrated: above 'cutoff' = probably right), time and "
        "place. exact=true returns every photo above the cut-off, possibly none, instead of "
        "the best top_k. save_as keeps the result as a named set. Names of people, dates and "
        "places are not visible: use when and where for these."
    )
    parameters = schema.arguments(
        text=schema.words("What is seen, in plain English, e.g. 'dog on a beach'."),
        like=schema.uids("Find photos that look like these photos or crops, at most 8.", most=8),
        not_text=schema.many(
            schema.words("One thing that must not be seen, e.g. 'people'.", longest=200),
            "What must not be seen, one entry each.",
            most=8,
        ),
        when=schema.WHEN_BRIEF,
        where=schema.WHERE_BRIEF,
        top_k=schema.whole(f"How many photos to return at most; default {_TOP_K}.", 1, 200),
        exact=schema.flag("true = all photos above the cut-off; excludes top_k."),
        within=schema.WITHIN,
        save_as=schema.SAVE_AS,
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        _check(arguments, context)
        scope = scope_of(context, arguments)
        result = context.searcher.search(_query(arguments, context, scope))
        uids = [hit.uid for hit in result.hits]
        photos = photos_by_uid(context, uids[:_MOST_ROWS])
        scores = {hit.uid: score_value(hit.score) for hit in result.hits}
        data: dict[str, Json] = {
            "count": len(uids),
            "candidates": result.num_candidates,
            "cutoff": score_value(result.cutoff),
            "above_cutoff": sum(hit.score >= result.cutoff for hit in result.hits),
            "photos": [photo_row(photo, score=scores[photo.uid]) for photo in photos],
            **scope.facts,
            **_words(result),
        }
        if result.num_unindexed:
            data["not_embedded_yet"] = result.num_unindexed
        if len(uids) > len(photos):
            data["not_listed"] = len(uids) - len(photos)
        brief = f"{counted(len(uids), 'photo')}, {data['above_cutoff']} above the cut-off"
        brief += keep(context, self.name, arguments, uids, data)
        return Observation(self.name, data=data, brief=brief)


def _check(arguments: Arguments, context: ToolContext) -> None:
    if not any(key in arguments for key in ("text", "like", "not_text")):
        raise UsageError(
            "nothing to look for: text, like and not_text are all missing",
            hint="give at least one of them, or use filter_photos for time and place alone",
        )
    if arguments.get("exact") and "top_k" in arguments:
        raise UsageError("exact and top_k exclude each other", hint="leave one of them out")
    check_save_as(context, arguments)


def _query(arguments: Arguments, context: ToolContext, scope: Scope) -> Query:
    from photocraft_local.search.searcher import Query

    return Query(
        text=arguments.get("text", ""),
        like=tuple(look_of(context, uid) for uid in arguments.get("like", ())),
        not_text=tuple(arguments.get("not_text", ())),
        selection=scope.selection,
        top_k=None if arguments.get("exact") else arguments.get("top_k", _TOP_K),
    )


def look_of(context: ToolContext, uid: str) -> NDArray[np.float32]:
    """Unit vector (dim,) of a photo as stored, of a crop or a question's picture as encoded."""
    if uid not in context.pictures and not is_crop(uid):
        return context.searcher.photo_vector(known_photos(context, [uid])[0].uid)
    from photocraft_local.embeddings.encoding import encode_file

    path = source(context, uid).path
    return encode_file(context.encoder, path, max_pixels=context.settings.max_pixels)


def _words(result: SearchResult) -> dict[str, Json]:
    """Which words of the texts the encoder could use; the others had no effect."""
    facts: dict[str, Json] = {}
    if result.understood:
        facts["understood"] = [safe_text(word) for word in result.understood]
    if result.not_understood:
        facts["not_understood"] = [safe_text(word) for word in result.not_understood]
    return facts

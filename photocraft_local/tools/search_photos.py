"""search_photos: ranked or exact search by look, inside an exact filter."""

from __future__ import annotations

from photocraft_local.errors import UsageError
from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, photo_row, safe_text, score_value
from photocraft_local.tools.looking import LOOKS, Look, Looked, looked
from photocraft_local.tools.photos import photos_by_uid
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.saving import check_save_as, keep
from photocraft_local.tools.scope import scope_of

_TOP_K = 20
_MOST_ROWS = 100

ANY_TEXT = schema.many(
    schema.words("One thing that may be seen, e.g. 'cat'."),
    "Any one of these is seen: 'cats or dogs' is ['cat', 'dog'].",
    least=2,
    most=32,
)


class SearchPhotos:
    name = "search_photos"
    description = (
        "Search by look: text, any one of several texts (any_text), example pictures (like), or "
        "text and like both; not_text pushes away what must not be there. when, where and within "
        "are exact filters that always hold. Returns the "
        "best photos with a score (calibrated: above 'cutoff' = probably right), time and "
        "place. exact=true returns every photo above the cut-off, possibly none, instead of "
        "the best top_k. save_as keeps the result as a named set. Names of people, dates and "
        "places are not visible: use when and where for these."
    )
    parameters = schema.arguments(
        text=schema.words("What is seen, in plain English, e.g. 'dog on a beach'."),
        any_text=ANY_TEXT,
        like=schema.uids("Find photos that look like these photos or crops, at most 32.", most=32),
        not_text=schema.many(
            schema.words("One thing that must not be seen, e.g. 'people'."),
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
        top_k = None if arguments.get("exact") else arguments.get("top_k", _TOP_K)
        result = looked(context, arguments, scope.selection, top_k=top_k)
        uids = list(result.looks)
        photos = photos_by_uid(context, uids[:_MOST_ROWS])
        data: dict[str, Json] = {
            "count": len(uids),
            "candidates": result.num_candidates,
            "cutoff": score_value(result.cutoff),
            "above_cutoff": sum(look.fits for look in result.looks.values()),
            "photos": [
                photo_row(photo, **_score(result.looks[photo.uid], result)) for photo in photos
            ],
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
    if not any(key in arguments for key in LOOKS):
        raise UsageError(
            f"nothing to look for: {', '.join(LOOKS[:-1])} and {LOOKS[-1]} are all missing",
            hint="give at least one of them, or use filter_photos for time and place alone",
        )
    if arguments.get("exact") and "top_k" in arguments:
        raise UsageError("exact and top_k exclude each other", hint="leave one of them out")
    check_save_as(context, arguments)


def _score(look: Look, result: Looked) -> dict[str, Json]:
    """With several texts, also the one that fits best and its own cut-off."""
    if len(result.cutoffs) == 1:
        return {"score": score_value(look.score)}
    return {
        "score": score_value(look.score),
        "fits": safe_text(look.text),
        "from": score_value(look.cutoff),
    }


def _words(result: Looked) -> dict[str, Json]:
    """Which words of the texts the encoder could use; the others had no effect."""
    facts: dict[str, Json] = {}
    if result.understood:
        facts["understood"] = [safe_text(word) for word in result.understood]
    if result.not_understood:
        facts["not_understood"] = [safe_text(word) for word in result.not_understood]
    return facts

"""The tools of published systems, by their names and arguments, on this package's library.

Each does what its row in the papers says and gives back no more than that. Descriptions are ours:
theirs are not published. Knows nothing of the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from photocraft_local.errors import UsageError
from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.fetch_image import FetchImage
from photocraft_local.tools.format import counted, safe_text
from photocraft_local.tools.get_metadata import GetMetadata
from photocraft_local.tools.lookup import Lookup
from photocraft_local.tools.photos import known_photos, photos_by_uid
from photocraft_local.tools.ports import Arguments, Tool
from photocraft_local.tools.saving import check_save_as, keep
from photocraft_local.tools.scope import saved, scope_of
from photocraft_local.tools.search_photos import SearchPhotos
from photocraft_local.tools.sets import NAME_PATTERN
from photocraft_local.tools.submit_answer import SubmitAnswer
from photocraft_local.tools.view_photos import ViewPhotos

_MOST_IDS = 2000  # a user of the benchmark has no more photos
_SEARCH = {"text": "text", "photos": "like", "top_k": "top_k", "save_as": "save_as",
           "search_within": "within"}  # fmt: skip
_FILTER = {"expression": "where", "filter_within": "within"}
_SAVE_AS = schema.set_name("Keep the result under this name.")


def _renamed(arguments: Arguments, names: Mapping[str, str]) -> dict[str, Json]:
    return {names[name]: value for name, value in arguments.items() if name in names}


class ImageSearch:
    name = "ImageSearch"
    description = (
        "Ranked search by a text, by photos as visual cues (not as scope), or by both; over all "
        "photos or inside a named subset. Gives photo ids with scores."
    )
    parameters = schema.arguments(
        text=schema.words("What is seen."),
        photos=schema.uids("Photos that serve as visual cues.", most=20),
        top_k=schema.whole("How many; default 20.", 1, 200),
        save_as=_SAVE_AS,
        search_within=schema.set_name("Only in this named subset."),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        if not {"text", "photos"} & set(arguments):
            raise UsageError("nothing to look for", hint="give text, photos or both")
        seen = SearchPhotos().run(_renamed(arguments, _SEARCH), context)
        rows = [{"photo_id": row["uid"], "score": row.get("score")} for row in seen.data["photos"]]
        data: dict[str, Json] = {"count": seen.data["count"], "photos": rows}
        if "saved_as" in seen.data:
            data["saved_as"] = seen.data["saved_as"]
        return Observation(self.name, data=data, brief=seen.brief)


class PublishedMetadata:
    name = "GetMetadata"
    description = "Time and address of given photos; null where it is not known."
    parameters = schema.arguments(
        "photos",
        photos=schema.uids("Photos to describe.", most=50),
        fields=schema.many(schema.choice("A field.", ("time", "address")), "Which; default both."),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        fields = arguments.get("fields", ("time", "address"))
        wanted = ["place" if field == "address" else field for field in fields]
        seen = GetMetadata().run({"photos": arguments["photos"], "fields": wanted}, context)
        rows = []
        for row in seen.data["photos"]:
            facts: dict[str, Json] = {"photo_id": row["uid"]}
            if "time" in row:
                facts["time"] = row["time"] and row["time"]["local"]
            if "place" in row:
                facts["address"] = row["place"] and row["place"].get("address")
            rows.append(facts)
        return Observation(self.name, data={"photos": rows}, brief=seen.brief)


class FilterMetadata:
    name = "FilterMetadata"
    description = (
        "Photos for which a boolean expression over time and address holds, e.g. "
        'time >= "2012-06-01" and time < "2012-07-01" and match_address(address, "Lisbon"). '
        "Gives the count and the photo ids."
    )
    parameters = schema.arguments(
        "expression",
        expression=schema.words("The expression.", longest=2000),
        save_as=_SAVE_AS,
        filter_within=schema.set_name("Only in this named subset."),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        check_save_as(context, arguments)
        scope = scope_of(context, _renamed(arguments, _FILTER))
        uids = [] if scope.selection is None else scope.selection.uids()
        data: dict[str, Json] = {
            "count": len(uids),
            "photos": [{"photo_id": uid} for uid in uids[:_MOST_IDS]],
        }
        brief = counted(len(uids), "photo") + keep(context, self.name, arguments, uids, data)
        return Observation(self.name, data=data, brief=brief)


class PublishedView(ViewPhotos):
    name = "ViewPhotos"
    description = "Shows at most 20 photos: they enter the context."
    parameters = schema.arguments("photos", photos=schema.uids("Photos to see.", most=20))

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        return replace(super().run(arguments, context), tool=self.name)


class PublishedFetch(FetchImage):
    description = "Brings one photo or crop into view; its result gives the original's size."
    parameters = schema.arguments("uid", uid=schema.uid("The photo or crop."))


class WebSearch:
    name = "WebSearch"
    description = "Looks a query up in the person's own saved pages; there is no network."
    parameters = schema.arguments(
        "query",
        query=schema.words("What to look up."),
        top_k=schema.whole("How many passages at most.", 1, 20),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        seen = Lookup().run({"query": arguments["query"]}, context)
        data = dict(seen.data)
        data["passages"] = list(data.get("passages", ()))[: arguments.get("top_k", 5)]
        return replace(seen, tool=self.name, data=data)


class VisualSearch:
    """LMM-Searcher's search by picture; a crop that zoom_in made is one, too."""

    name = "visual_search"
    description = "Photos that look like a photo or a crop."
    parameters = schema.arguments(
        "uid",
        uid=schema.uid("The photo or crop."),
        top_k=schema.whole("How many; default 20.", 1, 200),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        wanted = {"like": [arguments["uid"]], "top_k": arguments.get("top_k", 20)}
        return replace(SearchPhotos().run(wanted, context), tool=self.name)


class TextSearch:
    """LMM-Searcher's image search: results are text, pixels come by fetch_image."""

    name = "image_search"
    description = "Photos by a description; each with id, score, time and address."
    parameters = schema.arguments(
        "query",
        query=schema.words("What is seen."),
        top_k=schema.whole("How many; default 20.", 1, 200),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        wanted = {"text": arguments["query"], "top_k": arguments.get("top_k", 20)}
        return replace(SearchPhotos().run(wanted, context), tool=self.name)


class PlainSubmit:
    """The end of an episode as those systems have it: a list of ids, which nobody checks."""

    name = SubmitAnswer.name
    description = "Ends the search with the exact list of photo ids that answer the question."
    parameters = schema.arguments("photos", photos=schema.uids("The answer.", least=0, most=1000))

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        uids = self.uids(arguments, context)
        data: dict[str, Any] = {
            "accepted": True,
            "count": len(uids),
            "photos": list(uids),
            "evidence": {uid: [] for uid in uids},
            "text": safe_text(""),
        }
        if not uids:
            data["reason"] = "the answer is empty"
        return Observation(
            self.name, data=data, brief=f"answered with {counted(len(uids), 'photo')}"
        )

    def uids(self, arguments: Arguments, context: ToolContext) -> Sequence[str]:
        return [photo.uid for photo in known_photos(context, arguments["photos"])]


class SubsetSubmit(PlainSubmit):
    """Where there are named subsets, one of them may be the answer."""

    parameters = schema.arguments(
        photos=schema.uids("The answer.", least=0, most=1000),
        set=schema.set_name("A named subset that is the answer, instead of photos."),
    )

    def uids(self, arguments: Arguments, context: ToolContext) -> Sequence[str]:
        if ("photos" in arguments) == ("set" in arguments):
            raise UsageError("give either photos or set", hint="photos: [] is an empty answer")
        if "photos" in arguments:
            return super().uids(arguments, context)
        named = saved(context, arguments["set"]).uids()
        return [photo.uid for photo in photos_by_uid(context, named)]


def without_sets(tools: Sequence[Tool]) -> list[Tool]:
    """The same tools without the arguments that name a set; one that needs such an argument
    goes."""
    kept: list[Tool] = []
    for tool in tools:
        bare: Any = copy(tool)
        bare.parameters = _without_sets(tool.parameters)
        if bare.parameters is not None:
            kept.append(bare)
    return kept


def _without_sets(rule: Mapping[str, Any]) -> dict[str, Any] | None:
    """A schema without its fields that name a set, inner ones too; None if it needs one."""
    made = dict(rule)
    if "properties" in rule:
        bare = {
            name: _without_sets(one)
            for name, one in rule["properties"].items()
            if not _names_a_set(one)
        }
        made["properties"] = {name: one for name, one in bare.items() if one is not None}
        if not set(rule["required"]) <= made["properties"].keys():
            return None
    if "items" in rule:
        made["items"] = _without_sets(rule["items"])
        if made["items"] is None:
            return None
    return made


def _names_a_set(rule: Mapping[str, Any]) -> bool:
    return NAME_PATTERN in (rule.get("pattern"), rule.get("items", {}).get("pattern"))

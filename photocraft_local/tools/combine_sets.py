"""combine_sets: and, or, minus over named sets."""

from __future__ import annotations

from photocraft_local.errors import UsageError
from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, photo_row
from photocraft_local.tools.photos import known_photos, photos_by_uid
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.saving import check_save_as, keep
from photocraft_local.tools.sets import PhotoSet

_SHOWN = 10


class CombineSets:
    name = "combine_sets"
    description = (
        "Combine saved sets into a new one: and = photos in every set, or = photos in any set, "
        "minus = photos of the first set that are in none of the others. photos counts as one "
        "more set behind them, e.g. to leave out those that you saw to be wrong. The order of the "
        "first set is kept. An empty result is saved too and says so."
    )
    parameters = schema.arguments(
        "op",
        "sets",
        "save_as",
        op=schema.choice("How to combine.", ("and", "or", "minus")),
        sets=schema.many(
            schema.set_name("A saved set."), "Names of saved sets, in order.", least=1, most=64
        ),
        photos=schema.uids("Photos as one more set, behind the saved ones.", most=1000),
        save_as=schema.SAVE_AS,
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        check_save_as(context, arguments)
        sets = [context.sets.get(name) for name in arguments["sets"]]
        if "photos" in arguments:
            given = known_photos(context, arguments["photos"])
            sets.append(PhotoSet("given photos", tuple(photo.uid for photo in given)))
        if len(sets) < 2:
            raise UsageError(
                "one set alone cannot be combined", hint="name another one, or give photos"
            )
        uids = _combined(arguments["op"], sets)
        data: dict[str, Json] = {
            "count": len(uids),
            "of": {part.name: len(part) for part in sets},
            "photos": [photo_row(photo) for photo in photos_by_uid(context, uids[:_SHOWN])],
        }
        names = f" {arguments['op']} ".join(part.name for part in sets)
        brief = f"{names}: {counted(len(uids), 'photo')}"
        brief += keep(context, self.name, arguments, uids, data)
        return Observation(self.name, data=data, brief=brief)


def _combined(op: str, sets: list[PhotoSet]) -> list[str]:
    first, others = list(sets[0].uids), [set(part.uids) for part in sets[1:]]
    if op == "or":
        return list(dict.fromkeys(uid for part in sets for uid in part.uids))
    if op == "and":
        return [uid for uid in first if all(uid in other for other in others)]
    return [uid for uid in first if not any(uid in other for other in others)]

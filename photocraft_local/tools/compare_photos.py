"""compare_photos: one yes/no question about each of many photos, then the set as a whole.

The backbone itself is asked, in short prompts of their own that cost the episode's context
nothing. Without a model that sees it says what it would need.
"""

from __future__ import annotations

from contextlib import suppress

from photocraft_local.errors import UnknownPhoto, UsageError
from photocraft_local.library.uids import normalise
from photocraft_local.records import Json, Observation, Photo
from photocraft_local.serving.judging import SetCheck, Verdicts
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, safe_text, score_value
from photocraft_local.tools.photos import Source, sources, whole_photo
from photocraft_local.tools.ports import Arguments, Judging
from photocraft_local.tools.saving import check_save_as, keep
from photocraft_local.tools.verifying import MOST_JUDGED, subjects

_MOST_LISTED = 100
_MOST_ANCHORS = 8


class ComparePhotos:
    name = "compare_photos"
    description = (
        "Ask one yes/no question about each of many photos, e.g. 'is the dog of the anchor photo "
        "in it?': each photo is looked at by itself, with the anchors beside it, and gets a "
        "probability of yes; then those that pass are compared with one another, and those that "
        "do not belong are named. Cheaper and surer than viewing many photos: no picture enters "
        "your context. Ask only what can be seen. save_as keeps those that pass."
    )
    parameters = schema.arguments(
        "question",
        question=schema.words("One question with yes or no as its answer.", longest=500),
        photos=schema.uids("Photos or crops to ask about, at most 100.", most=100),
        set=schema.set_name("A saved set to ask about, instead of photos."),
        anchors=schema.uids(
            "Photos or crops that the question leans on, e.g. the cake; shown with each photo.",
            most=_MOST_ANCHORS,
        ),
        save_as=schema.SAVE_AS,
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        judge = _judge(context)
        check_save_as(context, arguments)
        shown, missing = sources(context, _asked(arguments, context))
        anchors, gone = sources(context, arguments.get("anchors", ()))
        if len(anchors) > judge.most_anchors:
            raise UsageError(
                f"the model takes {judge.most_anchors} anchors beside a photo, not {len(anchors)}",
                hint="give those that show it best",
            )
        if gone and not anchors:
            return _unseen(self.name, "no anchor can be shown", gone)
        threshold = context.settings.verify_threshold
        verdicts = judge.judge(
            safe_text(arguments["question"], 500),
            (),
            subjects(context, anchors),
            subjects(context, shown),
            threshold=threshold,
            left=context.left,
        )
        failed = {**missing, **gone, **verdicts.failed}
        if failed and not verdicts.probabilities:
            return _unseen(self.name, "none could be judged", failed)
        if anchors and all(one.uid in verdicts.failed for one in anchors):
            return _unseen(self.name, "no anchor can be shown", failed)
        passing = [uid for uid, value in verdicts.probabilities.items() if value >= threshold]
        data = _told(verdicts, threshold, failed)
        kept = keep(context, self.name, arguments, _whole_photos(shown, passing), data)
        brief = f"{len(passing)} of {counted(len(verdicts.probabilities), 'photo')} pass{kept}"
        return Observation(self.name, data=data, brief=brief, usage=verdicts.usage)

    def put_back(self, arguments: Arguments, seen: Observation, context: ToolContext) -> bool:
        """The set of those that passed, without asking anew: the model might say otherwise now.
        More than are listed cannot be put back."""
        if not seen.ok or "save_as" not in arguments:
            return True
        passing = {row["uid"] for row in seen.data["photos"] if row["passes"]}
        if len(passing) < seen.data["count"]:
            return False
        asked = _asked(arguments, context)
        uids = [uid for uid in asked if not passing.isdisjoint((uid, normalise(uid)))]
        keep(context, self.name, arguments, list(_photos_of(context, uids)), {})
        return True


def _unseen(tool: str, what: str, failed: dict[str, str]) -> Observation:
    reasons = "; ".join(f"{uid}: {why}" for uid, why in list(failed.items())[:5])
    return Observation(tool, error=safe_text(f"{what}: {reasons}", 500))


def _judge(context: ToolContext) -> Judging:
    if context.judge is None:
        raise UsageError(
            "compare_photos needs a model that sees pictures, and rules drive this question",
            hint="set weights or backbone_url to a Qwen-VL model (weights.md says which); until "
            "then search_photos scores what is seen",
        )
    return context.judge


def _asked(arguments: Arguments, context: ToolContext) -> list[str]:
    if ("photos" in arguments) == ("set" in arguments):
        raise UsageError(
            "give either photos or set, not both and not neither",
            hint="photos: UIDs to ask about, or set: the name of a saved set",
        )
    uids = arguments.get("photos") or list(context.sets.get(arguments["set"]).uids)
    if len(uids) > MOST_JUDGED:
        raise UsageError(
            f"the set has {len(uids)} photos; at most {MOST_JUDGED} can be asked about at once",
            hint="narrow it first, by time, place or search_photos with within",
        )
    return uids


def _told(verdicts: Verdicts, threshold: float, failed: dict[str, str]) -> dict[str, Json]:
    """Likeliest first, so that what is cut off is what does not pass."""
    ranked = sorted(verdicts.probabilities.items(), key=lambda item: -item[1])
    rows: list[Json] = [
        {"uid": uid, "probability": score_value(value), "passes": value >= threshold}
        for uid, value in ranked
    ]
    data: dict[str, Json] = {
        "count": sum(value >= threshold for _, value in ranked),
        "judged": len(ranked),
        "threshold": threshold,
        "photos": rows[:_MOST_LISTED],
        "set_check": _compared(verdicts.whole),
    }
    if rows[_MOST_LISTED:]:
        data["not_listed"] = len(rows) - _MOST_LISTED
    if failed:
        data["not_judged"] = {uid: safe_text(why, 200) for uid, why in failed.items()}
    return data


def _compared(whole: SetCheck) -> Json:
    if whole.error:
        return {"not_compared": safe_text(whole.error, 200)}
    if not whole.parts:
        return {"not_compared": "fewer than two photos pass"}
    return {"do_not_belong": list(whole.strays), "why": safe_text(whole.why, 300)}


def _whole_photos(shown: list[Source], uids: list[str]) -> list[str]:
    """What a saved set may hold: a crop counts as its photo."""
    owners = {one.uid: one.photo.uid for one in shown if one.photo is not None}
    return list(dict.fromkeys(owners[uid] for uid in uids if uid in owners))


def _photos_of(context: ToolContext, uids: list[str]) -> dict[str, Photo]:
    """The same without their files: by UID, without what is no photo of the library."""
    found: dict[str, Photo] = {}
    for uid in uids:
        with suppress(UnknownPhoto):
            photo = whole_photo(context, uid)
            found[photo.uid] = photo
    return found

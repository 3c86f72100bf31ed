"""submit_answer: the exact set that answers the question, checked against its conditions first.

A photo that breaks a condition keeps the whole answer from being accepted; so does, once, one that
a model's second look finds not to fit. In the last turn such photos leave the answer, and its
reason names them: the set is to be exact. Knows nothing of how the loop ends an episode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from photocraft_local.errors import UsageError
from photocraft_local.records import Answer, Evidence, Json, Observation, Photo, Usage
from photocraft_local.tools import evidence, schema, standings
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, listing, safe_text
from photocraft_local.tools.photos import known_photos, photos_by_uid
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.search_photos import ANY_TEXT
from photocraft_local.tools.unmentioned import Unmentioned, safe_key
from photocraft_local.tools.verifying import MOST_REFUSALS, Claims, Look, looked_again

_MOST_LISTED = 20
_LONGEST = 4000  # characters of the answer in words
_CLAIM = schema.arguments(
    "constraint",
    constraint=schema.words("The condition in the question's own words.", longest=500),
    when=schema.WHEN_BRIEF,
    where=schema.WHERE_BRIEF,
    text=schema.words("What must be seen; checked by score against the cut-off."),
    any_text=ANY_TEXT,
    like=schema.uids("Must look like these pictures; checked by score.", most=32),
    not_text=schema.many(
        schema.words("One thing that must not be seen."),
        "What must not be seen; checked by score.",
        most=8,
    ),
    seen=schema.words("What you saw in the pictures with your own eyes; outweighs the score."),
    **standings.SCHEMAS,
    photos=schema.uids("Those photos of the answer that this is about; default: all.", most=1000),
    about=schema.set_name("A saved set: this is about those photos of the answer that it holds."),
    anchors=schema.uids("Photos by which the condition was found, e.g. the birthday cake."),
)


class SubmitAnswer:
    name = "submit_answer"
    description = (
        "Give the answer and end. photos: exactly the photos that fulfil the question, no more "
        "and no fewer; an empty list if none does. Or set: a saved set. evidence: one entry "
        "for each condition of the question with a check (when, where, text, any_text, like, "
        "not_text, seen, relation, order, in_sets, not_in_sets) that every photo, or every one "
        "it is about, must pass; it is verified now, and an answer that breaks a condition "
        "is refused with the photos and values, so that you can mend it. What must be seen may be "
        "checked again by eye, and photos in doubt are refused once: leave them out, or view "
        "them and submit again with seen. A question that asks "
        "for words ('how many', 'when', 'what does the sign say') is answered in text, with the "
        "photos that prove it, or with none where it is about its own picture. If no photo "
        "fulfils the question, say why in reason."
    )
    parameters = schema.arguments(
        "evidence",
        photos=schema.uids("The answer; crops count as their photo.", least=0, most=1000),
        set=schema.set_name("A saved set that is the answer, instead of photos."),
        text=schema.words(
            "The answer in words, to a question that asks for words.", longest=_LONGEST
        ),
        reason=schema.words("Why no photo fulfils the question.", longest=_LONGEST),
        evidence=schema.many(
            _CLAIM, "Conditions of the question and how they are met.", least=0, most=64
        ),
        not_used=schema.many(
            schema.words("Words of the question, and why they had no effect.", longest=500),
            "What of the question you could not use; the person is told.",
            least=0,
            most=64,
        ),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        photos = _answered(arguments, context)
        claims = _concerning(arguments["evidence"], context, photos)
        found = evidence.verified(context, claims, photos)
        unmet = [
            {"uid": uid, **evidence.as_json(piece)}
            for uid, pieces in found.items()
            for piece in pieces
            if not piece.met
        ]
        if unmet:
            return _refused(self.name, unmet)
        not_used = [safe_text(words, 500) for words in arguments.get("not_used", ())]
        silent = Unmentioned.of(context, arguments["evidence"], not_used, photos)
        if fresh := silent.to_be_told():
            context.stated.told |= {safe_key(one) for one in fresh}
            return silent.refused(self.name, fresh)
        found = {uid: pieces + silent.evidence(uid) for uid, pieces in found.items()}
        left_out: dict[str, Look] = {}
        usage = Usage()
        if context.judge is not None and context.settings.verify:
            checked = looked_again(context, [*claims, *silent.looks])
            usage = checked.usage
            doubtful = checked.in_doubt(context.doubts.told)
            if doubtful and not context.is_last_turn and context.doubts.refusals < MOST_REFUSALS:
                context.doubts.note(doubtful)
                context.stated.told |= {safe_key(one) for one in silent.by_eye}
                doubts = {uid: checked.looks[uid] for uid in doubtful}
                return replace(_doubted(self.name, doubts, silent.rows(silent.by_eye)), usage=usage)
            left_out = {uid: checked.looks[uid] for uid in checked.below()}
            photos = [photo for photo in photos if photo.uid not in left_out]
            found = {photo.uid: found[photo.uid] + checked.evidence(photo.uid) for photo in photos}
        data = _accepted(arguments, found, left_out, [*not_used, *silent.not_kept()])
        conditions = counted(len(arguments["evidence"]), "condition")
        brief = f"answered with {counted(len(photos), 'photo')}; {conditions} verified"
        return Observation(self.name, data=data, brief=brief, usage=usage)

    def put_back(self, arguments: Arguments, seen: Observation, context: ToolContext) -> bool:
        """Which photos were doubted, and which conditions were missed, is known to the model, so it
        stays known here."""
        if "doubtful_photos" in seen.data:
            context.doubts.note(seen.data["doubtful_photos"])
        told = seen.data.get("unmentioned", ())
        context.stated.told |= {f"{row['check']}: {row['condition']}" for row in told}
        return True


def answer_of(observation: Observation) -> Answer:
    """The Answer of an accepted submission. ValueError for a refused one."""
    data = observation.data
    if not observation.ok or not data.get("accepted"):
        raise ValueError("this answer was not accepted")
    pieces = {
        uid: tuple(evidence.from_json(row) for row in rows)
        for uid, rows in data["evidence"].items()
    }
    return Answer(
        tuple(data["photos"]),
        evidence=pieces,
        text=data["text"],
        reason=data.get("reason", "") or _left_out(data.get("left_out", ())),
        not_understood=tuple(data.get("not_used", ())),
    )


def _answered(arguments: Arguments, context: ToolContext) -> list[Photo]:
    if ("photos" in arguments) == ("set" in arguments):
        raise UsageError(
            "give either photos or set, not both and not neither",
            hint="photos: [] says that no photo fulfils the question",
        )
    if "photos" in arguments:
        photos = known_photos(context, arguments["photos"])
    else:
        photos = photos_by_uid(context, context.sets.get(arguments["set"]).uids)
    if photos and "reason" in arguments:
        raise UsageError(
            "reason says why there is no photo, but photos are given",
            hint="leave reason out, or give photos: []",
        )
    if photos and not arguments["evidence"]:
        raise UsageError(
            "an answer with photos needs evidence",
            hint="give one entry for each condition of the question, with when, where, text, "
            "not_text, relation or seen",
        )
    return photos


def _concerning(
    claims: list[Mapping[str, Any]], context: ToolContext, photos: list[Photo]
) -> Claims:
    """Each claim with those photos of the answer that it is about."""
    return [
        (claim, {photo.uid: photo for photo in _concerned(claim, context, photos)})
        for claim in claims
    ]


def _concerned(claim: Mapping[str, Any], context: ToolContext, photos: list[Photo]) -> list[Photo]:
    if "about" in claim and "photos" in claim:
        raise UsageError(
            f"the condition {safe_text(claim['constraint'])!r} has both photos and about",
            hint="say in one of them which photos it is about",
        )
    if "about" in claim:
        kept = set(context.sets.get(claim["about"]).uids)
        return [photo for photo in photos if photo.uid in kept]
    if "photos" not in claim:
        return photos
    answered = {photo.uid for photo in photos}
    concerned = known_photos(context, claim["photos"])
    strangers = [photo.uid for photo in concerned if photo.uid not in answered]
    if strangers:
        raise UsageError(
            f"evidence for {', '.join(strangers)}, which the answer does not hold",
            hint="add the photos to the answer, or name them as anchors",
        )
    return concerned


def _accepted(
    arguments: Arguments,
    found: Mapping[str, Sequence[Evidence]],
    left_out: Mapping[str, Look],
    not_used: Sequence[str],
) -> dict[str, Json]:
    """The data of an answer that stands; ``found``: its photos, each with its evidence."""
    data: dict[str, Json] = {
        "accepted": True,
        "count": len(found),
        "photos": list(found),
        "evidence": {
            uid: [evidence.as_json(piece) for piece in pieces] for uid, pieces in found.items()
        },
        "text": safe_text(arguments.get("text", ""), _LONGEST),
    }
    if "reason" in arguments:
        data["reason"] = safe_text(arguments["reason"], _LONGEST)
    if left_out:
        data["left_out"] = [look.row(uid) for uid, look in left_out.items()]
    if not_used:
        data["not_used"] = list(not_used)
    return data


def _refused(tool: str, unmet: list[dict[str, Json]]) -> Observation:
    uids = list(dict.fromkeys(str(row["uid"]) for row in unmet))
    data: dict[str, Json] = {"accepted": False, "unmet": unmet[:_MOST_LISTED]}
    if len(unmet) > _MOST_LISTED:
        data["unmet_not_listed"] = len(unmet) - _MOST_LISTED
    data["unmet_photos"] = uids
    return Observation(
        tool,
        data=data,
        error=f"not accepted: conditions are broken by {counted(len(uids), 'photo')} of the "
        "answer, see unmet; leave them out, correct the condition, or, where only the look is in "
        "doubt, view them and state in seen what you saw",
        brief=f"refused: conditions broken by {counted(len(uids), 'photo')}",
    )


def _doubted(tool: str, looks: Mapping[str, Look], unmentioned: list[Json]) -> Observation:
    """Refused by eye: the photos with their values, conditions that the answer does not mention,
    and the way out."""
    rows: list[Json] = [look.row(uid) for uid, look in looks.items()]
    data: dict[str, Json] = {"accepted": False, "doubtful": rows[:_MOST_LISTED]}
    if rows[_MOST_LISTED:]:
        data["doubtful_not_listed"] = len(rows) - _MOST_LISTED
    data["doubtful_photos"] = list(looks)
    if unmentioned:
        data["unmentioned"] = unmentioned
    return Observation(
        tool,
        data=data,
        error=f"not accepted: looked at again, {counted(len(rows), 'photo')} of the answer may not "
        "meet what must be seen, see doubtful (probability of yes and threshold); leave out those "
        "that do not, or view them and submit again with seen for those that do",
        brief=f"refused: {counted(len(rows), 'photo')} in doubt by eye",
    )


def _left_out(rows: Sequence[Mapping[str, Json]]) -> str:
    """For the person: which photos were taken out of the answer, and how doubtful they are."""
    if not rows:
        return ""
    named = listing([f"{row['uid']} (probability {row['probability']})" for row in rows])
    below = f"below {rows[0]['threshold']} for what must be seen"
    return f"left out, since a second look found them {below}: {named}"

"""Candidates are looked at again before an answer with them is accepted, by a model's own eyes.

Only what must or must not be seen is asked; time, place, relations and order are decided by code.
A photo in doubt is refused once, with its probability. Whoever then insists, saying what they saw,
is believed, and the evidence tells it. Knows nothing of how the model is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from photocraft_local.errors import ModelError, ServerLost
from photocraft_local.records import Evidence, Json, Photo, Usage
from photocraft_local.serving.judging import Condition, Left, SetCheck, Subject, Verdicts
from photocraft_local.tools.format import safe_text
from photocraft_local.tools.looking import LOOKS
from photocraft_local.tools.photos import Source, decoded, sources

if TYPE_CHECKING:
    from photocraft_local.imaging.pictures import Pixels
    from photocraft_local.tools.context import ToolContext

MOST_JUDGED = 500  # photos of one answer
MOST_REFUSALS = 3  # of one episode; after that, photos in doubt leave the answer
_SHORT_SIDE = 640  # px that are decoded of each; the judge reduces them to its own size
_LONGEST = 300  # characters
_MOST_TEXTS = 8  # conditions of one photo

_LIKE = Condition("the same thing, person or scene as in the references")

Claims = Sequence[tuple[Mapping[str, Any], Mapping[str, Photo]]]  # each with whom it is about
_Group = tuple[tuple[Condition, ...], tuple[str, ...]]  # conditions, UIDs of the references


@dataclass(frozen=True, slots=True)
class Look:
    """What the judge made of one photo. ``problem`` says why it has no probability."""

    conditions: str
    probability: float | None
    threshold: float
    problem: str = ""
    stray: str = ""  # what was said of it when the set was compared, if it does not belong
    anchors: tuple[str, ...] = ()

    @property
    def is_below(self) -> bool:
        return self.probability is not None and self.probability < self.threshold

    @property
    def is_doubtful(self) -> bool:
        return self.is_below or bool(self.stray)

    def row(self, uid: str) -> dict[str, Json]:
        row: dict[str, Json] = {
            "uid": uid,
            "conditions": self.conditions,
            "probability": self.probability,
            "threshold": self.threshold,
        }
        return row | ({"set_check": self.stray} if self.stray else {})

    def evidence(self, insisted: str) -> Evidence:
        """``insisted``: what was seen in a photo in doubt, "" for any other."""
        value = f"probability {self.probability}"
        if self.probability is None:
            value = f"not verified: {self.problem}"
        value += f"; when compared: {self.stray}" if self.stray else ""
        value += f"; insisted: {insisted}" if insisted else ""
        return Evidence(
            constraint=self.conditions,
            rule=f"looked at again by the model: probability of yes {self.threshold} or more",
            value=safe_text(value, _LONGEST),
            met=True,
            score=self.probability,
            threshold=None if self.probability is None else self.threshold,
            anchors=self.anchors,
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """UID → look, and UID → what was seen in those that the model insists on."""

    looks: dict[str, Look]
    insisted: dict[str, str]
    usage: Usage = Usage()

    def evidence(self, uid: str) -> list[Evidence]:
        look = self.looks.get(uid)
        return [look.evidence(self.insisted.get(uid, ""))] if look else []

    def in_doubt(self, told: set[str]) -> list[str]:
        """Those that are not to be accepted: in doubt, and not insisted on. A photo that is only
        said not to belong stands once that was told."""
        return [
            uid
            for uid, look in self.looks.items()
            if look.is_doubtful and uid not in self.insisted and (look.is_below or uid not in told)
        ]

    def below(self) -> list[str]:
        """Those whose probability alone keeps them from an answer that must be given now."""
        return [
            uid for uid, look in self.looks.items() if look.is_below and uid not in self.insisted
        ]


def looked_again(context: ToolContext, claims: Claims) -> Checked:
    """Every photo that a claim about a look concerns. Raises ServerLost; whatever else fails is
    told in the look of each photo that it concerns."""
    photos = {uid: photo for _, concerned in claims for uid, photo in concerned.items()}
    groups: dict[_Group, list[Photo]] = {}
    for uid, photo in photos.items():
        group = _group(claims, uid)
        if group[0]:
            groups.setdefault(group, []).append(photo)
    looks: dict[str, Look] = {}
    usage = Usage()
    for group, members in groups.items():
        found, spent = _looks(
            context, group, members, MOST_JUDGED - len(looks), context.left.less(usage)
        )
        looks, usage = looks | found, usage + spent
    insisted = {
        uid: _seen(claims, uid)
        for uid, look in looks.items()
        if look.is_doubtful and uid in context.doubts.told
    }
    return Checked(looks, {uid: seen for uid, seen in insisted.items() if seen}, usage)


def subjects(context: ToolContext, shown: Iterable[Source]) -> list[Subject]:
    """Pictures that are decoded when the judge comes to them."""
    return [Subject(one.uid, partial(_pixels, context, one)) for one in shown]


def _pixels(context: ToolContext, one: Source) -> Pixels:
    return decoded(context, one, short_side=_SHORT_SIDE).pixels


def _group(claims: Claims, uid: str) -> _Group:
    """All that must be seen in one photo, and what it is compared with."""
    conditions: list[Condition] = []
    like: list[str] = []  # first, since not all may be shown
    anchors: list[str] = []
    for claim, concerned in claims:
        stated = conditions_of(claim)
        if stated and uid in concerned:
            conditions += stated
            like += claim.get("like", ())
            anchors += claim.get("anchors", ())
    unique = tuple(dict.fromkeys(conditions))[:_MOST_TEXTS]
    return unique, tuple(dict.fromkeys([*like, *anchors]))


def conditions_of(claim: Mapping[str, Any]) -> list[Condition]:
    """What a claim says of the look; nothing if it is about other facts. What somebody saw is
    not asked back: the question's own words are."""
    found = [Condition(_shown(claim["text"]))] if "text" in claim else []
    if "any_text" in claim:
        found.append(Condition("one of these: " + "; ".join(map(_shown, claim["any_text"]))))
    if "like" in claim:
        found.append(_LIKE)
    found += [Condition(_shown(text), negated=True) for text in claim.get("not_text", ())]
    if not any(key in claim for key in LOOKS) and "seen" in claim:
        found.append(Condition(_shown(claim["constraint"])))
    return found


def _looks(
    context: ToolContext, group: _Group, photos: Sequence[Photo], most: int, left: Left
) -> tuple[dict[str, Look], Usage]:
    conditions, references = group
    threshold = context.settings.verify_threshold
    shown, missing = sources(context, [photo.uid for photo in photos[: max(0, most)]])
    assert context.judge is not None
    anchors, _ = sources(context, references)
    anchors = anchors[: context.judge.most_anchors]
    verdicts, problem = _judged(context, conditions, anchors, shown, left)
    failed = {**missing, **verdicts.failed}
    words = safe_text("; ".join(one.words() for one in conditions), _LONGEST)
    beyond = f"only {MOST_JUDGED} photos of an answer are looked at"
    looks = {
        photo.uid: Look(
            words,
            verdicts.probabilities.get(photo.uid),
            threshold,
            problem or failed.get(photo.uid, beyond),
            _stray(verdicts.whole, photo.uid),
            tuple(one.uid for one in anchors),
        )
        for photo in photos
    }
    return looks, verdicts.usage


def _judged(
    context: ToolContext,
    conditions: Sequence[Condition],
    anchors: Sequence[Source],
    shown: Sequence[Source],
    left: Left,
) -> tuple[Verdicts, str]:
    """What the judge says, and why it says nothing. Raises ServerLost."""
    verdicts, problem = Verdicts(), ""
    assert context.judge is not None
    try:
        if _LIKE not in conditions or anchors:
            verdicts = context.judge.judge(
                "",
                conditions,
                subjects(context, anchors),
                subjects(context, shown),
                threshold=context.settings.verify_threshold,
                left=left,
            )
    except ServerLost:
        raise
    except ModelError as exc:
        problem = exc.message
    if _LIKE in conditions and all(one.uid in verdicts.failed for one in anchors):
        # What was said of a likeness to nothing is no verdict.
        problem = problem or "no picture that it has to be like can be shown"
        verdicts = Verdicts(usage=verdicts.usage)
    return verdicts, problem


def _stray(whole: SetCheck, uid: str) -> str:
    if uid not in whole.strays:
        return ""
    return safe_text(f"said not to belong to the set: {whole.why or 'no reason given'}", _LONGEST)


def _seen(claims: Claims, uid: str) -> str:
    """What the model says it saw in the photo."""
    for claim, concerned in claims:
        if "seen" in claim and uid in concerned:
            return _shown(claim["seen"])
    return ""


def _shown(text: str) -> str:
    return safe_text(text, _LONGEST)

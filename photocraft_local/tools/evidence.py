"""One stated condition against given photos: what was checked, what each photo says, whether
it holds.

Time, filter, relation, order and set conditions are decided exactly; a look by its calibrated
score against the cut-off, or by what the model says it saw. Knows nothing of how an answer is
accepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from photocraft_local.errors import UsageError
from photocraft_local.records import Evidence, Json, Photo
from photocraft_local.tools import standings
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import safe_text, score_value, time_text
from photocraft_local.tools.looking import LOOKS, Look, looked
from photocraft_local.tools.photos import known_photos
from photocraft_local.tools.scope import filtered, when_expression

CHECKS = ("when", "where", *standings.CHECKS, *LOOKS, "seen")
_LONGEST = 300  # characters


@dataclass(frozen=True, slots=True)
class Claim:
    """A condition of the question and how it is to be checked."""

    constraint: str
    anchors: tuple[str, ...]
    checks: Mapping[str, Any]  # some of CHECKS


def check(context: ToolContext, claim: Claim, photos: Sequence[Photo]) -> dict[str, list[Evidence]]:
    """UID → one piece of evidence for each check of the claim."""
    found: dict[str, list[Evidence]] = {photo.uid: [] for photo in photos}
    for part in _parts(context, claim, photos):
        for uid, evidence in part.items():
            found[uid].append(evidence)
    return found


def verified(
    context: ToolContext,
    claims: Sequence[tuple[Mapping[str, Any], Mapping[str, Photo]]],
    photos: Sequence[Photo],
) -> dict[str, list[Evidence]]:
    """UID → evidence for all claims, each with the photos that it is about, in their order."""
    found: dict[str, list[Evidence]] = {photo.uid: [] for photo in photos}
    for claim, concerned in claims:
        checks = {key: claim[key] for key in CHECKS if key in claim}
        if not checks:
            raise UsageError(
                f"the condition {safe_text(claim['constraint'])!r} comes without a check",
                hint=f"add one of {', '.join(CHECKS)} to it",
            )
        anchors = tuple(photo.uid for photo in known_photos(context, claim.get("anchors", ())))
        stated = Claim(claim["constraint"], anchors, checks)
        for uid, pieces in check(context, stated, list(concerned.values())).items():
            found[uid] += pieces
    return found


def _parts(
    context: ToolContext, claim: Claim, photos: Sequence[Photo]
) -> Iterator[dict[str, Evidence]]:
    checks = claim.checks
    if "when" in checks:
        expression, _ = when_expression(context, checks["when"])
        yield _passing(context, claim, expression, photos)
    if "where" in checks:
        yield _passing(context, claim, checks["where"], photos)
    for name, decide in standings.CHECKS.items():
        if name in checks:
            verdicts = decide(context, checks[name], photos)
            yield {
                uid: _piece(claim, found.rule, found.value, found.met, anchors=found.anchors)
                for uid, found in verdicts.items()
            }
    if any(key in checks for key in LOOKS):
        yield _looking(context, claim, photos)
    elif "seen" in checks:
        yield {
            photo.uid: _piece(claim, "seen in the picture", checks["seen"], True)
            for photo in photos
        }


def _passing(
    context: ToolContext, claim: Claim, expression: str, photos: Sequence[Photo]
) -> dict[str, Evidence]:
    selection = filtered(context, expression)
    passing = set(selection.photo_ids().tolist())
    rule, tell = selection.echo, _teller(expression)
    return {
        photo.uid: _piece(claim, rule, tell(photo), photo.photo_id in passing) for photo in photos
    }


def _looking(context: ToolContext, claim: Claim, photos: Sequence[Photo]) -> dict[str, Evidence]:
    """By score; what the model saw outweighs it, since the encoder is the weaker judge. What
    must not be seen alone is scored as if it were wanted: its own score has to stay below."""
    if not photos:
        return {}
    wanted = {key: claim.checks[key] for key in LOOKS if key in claim.checks}
    is_unwanted = set(wanted) == {"not_text"}
    if is_unwanted:
        texts = list(dict.fromkeys(wanted["not_text"]))
        wanted = {"any_text": texts} if texts[1:] else {"text": texts[0]}
    selection = context.catalog.selection_of([photo.uid for photo in photos])
    result = looked(context, wanted, selection, top_k=len(photos))
    unknown = "" if result.looks or result.understood else ", ".join(result.not_understood)
    judge = _Judge(wanted, is_unwanted, result.cutoff, unknown, claim.checks.get("seen", ""))
    return {photo.uid: judge.piece(claim, result.looks.get(photo.uid)) for photo in photos}


@dataclass(frozen=True, slots=True)
class _Judge:
    """Verdicts on looks. ``unknown`` are the words, if the encoder knows none of them."""

    wanted: Mapping[str, Any]
    is_unwanted: bool
    cutoff: float
    unknown: str
    seen: str

    def piece(self, claim: Claim, look: Look | None) -> Evidence:
        """``look`` is None for a photo that has no vector yet, or for unknown words."""
        score = look.score if look else None
        threshold = look.cutoff if look else self.cutoff
        side = "below {}" if self.is_unwanted else "{} or more"
        rule = f"{self._rule(look)}: score {side.format(score_value(threshold))}"
        rule += ", or seen in the picture" if self.seen else ""
        value = self.seen or _score_text(score)
        if self.unknown and not self.seen:
            value = f"no score, the encoder does not know: {self.unknown}"
        met = look is not None and look.fits is not self.is_unwanted
        return _piece(claim, rule, value, bool(self.seen) or met, score, threshold)

    def _rule(self, look: Look | None) -> str:
        texts = self.wanted.get("any_text") or [self.wanted.get("text", "")]
        parts = [_choice([text for text in texts if text]), ", ".join(self.wanted.get("like", ()))]
        what = " and ".join(filter(None, parts))
        if len(texts) > 1 and look is not None and not self.is_unwanted:
            what = f"{look.text!r} (of {what})"
        if unwanted := self.wanted.get("not_text"):
            what += f" and not like {_choice(unwanted)}"
        return f"does not look like {what}" if self.is_unwanted else f"looks like {what}"


def _choice(texts: Sequence[str]) -> str:
    return " or ".join(map(repr, texts))


def _piece(
    claim: Claim,
    rule: str,
    value: str,
    met: bool,
    score: float | None = None,
    threshold: float | None = None,
    anchors: tuple[str, ...] = (),
) -> Evidence:
    return Evidence(
        constraint=safe_text(claim.constraint, _LONGEST),
        rule=safe_text(rule, _LONGEST),
        value=safe_text(value, _LONGEST),
        met=met,
        score=None if score is None else score_value(score),
        threshold=None if threshold is None else score_value(threshold),
        anchors=anchors or claim.anchors,
    )


def _teller(expression: str) -> Callable[[Photo], str]:
    """What a photo says about the fields that the expression names."""
    named = _QUOTED.sub(" ", expression.casefold())
    told = [tell for fields, tell in _TOLD if fields.search(named)]
    tells = list(dict.fromkeys(told or [tell for _, tell in _TOLD]))
    return lambda photo: "; ".join(dict.fromkeys(tell(photo) for tell in tells))


def _time(photo: Photo) -> str:
    return time_text(photo.taken.local) if photo.taken else "no time"


def _place(photo: Photo) -> str:
    if photo.place is not None:
        return photo.place.address()
    if photo.location is not None:
        return f"{photo.location.latitude:.5f}, {photo.location.longitude:.5f}"
    return "no place"


_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_TOLD: tuple[tuple[re.Pattern[str], Callable[[Photo], str]], ...] = (
    (re.compile(r"\b(time|date|year|month|day|weekday|hour|clock|holiday|has_time)\b"), _time),
    (re.compile(r"\b(near|place|box|between|[a-z]+_of|has_gps|has_place)\b"), _place),
    (re.compile(r"\b(address|match_address|city|region|country)\b"), _place),
    (re.compile(r"\b(camera|has_camera)\b"), lambda photo: photo.camera or "no camera"),
    (re.compile(r"\b(width|height)\b"), lambda photo: f"{photo.width} x {photo.height} pixels"),
    (re.compile(r"\bflag\b"), lambda photo: ", ".join(photo.flags) or "no flags"),
)


def _score_text(score: float | None) -> str:
    return "not embedded yet" if score is None else f"score {score_value(score)}"


def as_json(evidence: Evidence) -> dict[str, Json]:
    """All fields; score and threshold only where there is a score."""
    row: dict[str, Json] = {
        "constraint": evidence.constraint,
        "rule": evidence.rule,
        "value": evidence.value,
        "met": evidence.met,
        "anchors": list(evidence.anchors),
    }
    if evidence.score is not None:
        row |= {"score": evidence.score, "threshold": evidence.threshold}
    return row


def from_json(row: Mapping[str, Json]) -> Evidence:
    return Evidence(**{**row, "anchors": tuple(row["anchors"])})

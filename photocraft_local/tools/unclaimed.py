"""Conditions that an answer does not mention: of the question's own words, or stated by a call.

Only what the question's words support counts: calls also try things out. What an anchor was found
by is no condition of what was found from it. Knows nothing of how an answer is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from photocraft_local.errors import PhotocraftError
from photocraft_local.timelang import find_anchored, find_times
from photocraft_local.tools.alternatives import alternatives, either
from photocraft_local.tools.looking import LOOKS
from photocraft_local.tools.scope import filtered, when_expression
from photocraft_local.tools.stated import FACTS, Stated, named_photos
from photocraft_local.tools.wording import says

if TYPE_CHECKING:
    from photocraft_local.places.phrases import PlaceNames
    from photocraft_local.search.selection import Selection
    from photocraft_local.tools.context import ToolContext

Claim = Mapping[str, Any]
_LEANING = ("relation", "not_in_sets")  # checks that are about other photos than the answer's
_NAMED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|\b(\d+)\b")


def unclaimed(context: ToolContext, claims: Sequence[Claim], not_used: str) -> list[Stated]:
    """Supported conditions that no claim accounts for, each once. ``not_used``: what the person
    is told had no effect."""
    accounts = Accounts(context, claims)
    known: dict[str, Stated] = {}
    for one in (*own_conditions(context), *context.stated.conditions):
        if not says(not_used, one.text) and one.key not in known and supported(context, one):
            known[one.key] = one
    found = []
    for group in alternatives(context, list(known.values())):
        one = either(context, group)
        if not accounts.has(one) and not all(map(accounts.has, group)):
            found.append(one)
    return found


@dataclass(frozen=True, slots=True)
class Accounts:
    """What the claims of one answer, and the calls behind them, account for."""

    context: ToolContext
    claims: Sequence[Claim]

    def has(self, one: Stated) -> bool:
        """Whether it is claimed, or led to the photos from which those of the answer follow."""
        return any(self._implies(claim, one) for claim in self.claims) or self.is_led_by(one)

    def _implies(self, claim: Claim, one: Stated) -> bool:
        if not one.is_fact:
            told = [claim.get("text", ""), *claim.get("any_text", ()), *claim.get("not_text", ())]
            told += [claim["constraint"]] if any(key in claim for key in (*LOOKS, "seen")) else []
            return says(" ".join(told), one.text)
        stated = meant(self.context, one.checks)
        for check in FACTS:
            claimed = meant(self.context, {check: claim[check]}) if check in claim else None
            if stated is not None and claimed is not None and not len(claimed - stated):
                return True
        return False

    def is_led_by(self, one: Stated) -> bool:
        """By a set or an anchor of a claim, or by a call that leaned on what it found."""
        same = [
            other for other in self.context.stated.conditions if is_same(self.context, other, one)
        ]
        for claim in self.claims:
            relation = claim.get("relation", {})
            anchors = named_photos(relation, self.context.sets) | set(claim.get("anchors", ()))
            if any(anchors & other.found for other in same):
                return True
            if any(key in claim for key in _LEANING) and says(claim["constraint"], one.text):
                return True
            if not self._of_sets(claim).isdisjoint(same):
                return True
        return any(self.context.stated.leaned_on & other.found for other in same)

    def _of_sets(self, claim: Claim) -> set[Stated]:
        """What a claim's sets came by. Membership proves a look only of an exact search."""
        ledger = self.context.stated
        inside = [*claim.get("in_sets", ()), claim.get("about"), claim.get("order", {}).get("set")]
        beside = [*claim.get("not_in_sets", ()), claim.get("relation", {}).get("set")]
        found = {one for name in inside if name for one in ledger.of_set(name) if one.is_exact}
        return found | {one for name in beside if name for one in ledger.of_set(name)}


def is_same(context: ToolContext, one: Stated, other: Stated) -> bool:
    """By their words, or by the photos that they mean here."""
    if one.is_fact is not other.is_fact or (one.check == "not_text") is not (
        other.check == "not_text"
    ):
        return False
    if says(one.text, other.text) and says(other.text, one.text):
        return True
    return one.is_fact and equal(context, one.checks, other.checks)


def supported(context: ToolContext, one: Stated) -> bool:
    """Whether the question's own words say it: what was stated, or what means the same here."""
    if not one.step:
        return True
    question = context.question
    if not one.is_fact:
        return says(question, one.text)
    own = own_conditions(context)
    if any(equal(context, one.checks, other.checks) for other in own):
        return True
    if one.check == "when":
        return says(question, one.text)
    named = " ".join("".join(groups) for groups in _NAMED.findall(one.text))
    return says(question, named)


def own_conditions(context: ToolContext) -> list[Stated]:
    """Times and places of the question, as the rules read them; none where a time leans on an
    event, since then it may be the event's."""
    known = context.own_conditions
    if known is None:
        known = context.own_conditions = list(_read(context))
    return known


def _read(context: ToolContext) -> Iterator[Stated]:
    from photocraft_local.places.phrases import find_places

    question, places = context.question, context.gazetteer
    if not question or find_anchored(question):
        return
    # What no reading makes sense of is the model's to make sense of, or is no time at all.
    with suppress(PhotocraftError):
        for time in find_times(question, today=context.today, habits=context.habits):
            expression = time.when.to_expression()
            yield _own(f"not ({expression})" if time.negated else expression, time.text)
    with suppress(PhotocraftError):
        for place in find_places(question, cast("PlaceNames", places)) if places else ():
            yield _own(place.to_expression(), question[place.start : place.end])


def _own(expression: str, words: str) -> Stated:
    return Stated("where", expression, 0, words=" ".join(words.split()))


def meant(context: ToolContext, checks: Claim) -> Selection | None:
    """The photos of the library that a fact holds for; None if it cannot be read."""
    try:
        if "when" in checks:
            return filtered(context, when_expression(context, checks["when"])[0])
        return filtered(context, checks["where"])
    except PhotocraftError:
        return None


def equal(context: ToolContext, one: Claim, other: Claim) -> bool:
    """Whether two facts mean the same photos, some at least."""
    first, second = meant(context, one), meant(context, other)
    if first is None or second is None or not first:
        return False
    return len(first) == len(second) and not len(first - second)

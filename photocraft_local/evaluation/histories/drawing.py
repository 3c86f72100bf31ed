"""Draws questions that a life answers in one way only, and some that no photo answers.

A chain is drawn from what it leans on to what is looked for, so that each link is there. A question
stands only where the life as it was and the life as its files state it give the same photos, in
each reading: neither who trusts the files nor who knows better can be marked wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.rules import Ambiguous, Pick, Relation, Rule, Unit
from photocraft_local.evaluation.histories.seeing import Seen
from photocraft_local.evaluation.histories.solving import Solver
from photocraft_local.evaluation.histories.wording import question_of, shape_of
from photocraft_local.evaluation.histories.world import NEVER

MOST_PHOTOS = 25  # of an answer
_TRIES = 400  # for one question
_LINKS: tuple[tuple[Unit, int], ...] = (
    ("event", 0), ("event", 1), ("event", -1), ("day", 0), ("day", 1), ("day", -1), ("day", 2),
    ("day", -2), ("week", 0), ("week", 1), ("week", -1), ("hour", 1), ("hour", -1), ("trip", 0),
    ("trip", 1), ("trip", -1), ("place", 0),
)  # fmt: skip
_FACTS = (
    ("town", "year"), ("town", "year", "month"), ("country", "year"), ("year", "month"),
    ("spot", "year"), ("camera", "country"), ("camera", "town", "year"), ("spot", "year", "month"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drawn:
    """A question, what it means and its photos by name."""

    text: str
    rule: Rule
    gold: frozenset[str]
    counts: bool = False

    @property
    def shape(self) -> str:
        return shape_of(self.rule)


class Drawing:
    """From one life. ``views``: as it was first, then as it is stated. ``dropped``: how many drafts
    were not taken, by reason."""

    def __init__(
        self,
        views: Sequence[Sequence[Seen]],
        labels: frozenset[str],
        sights: Collection[str],
        rng: np.random.Generator,
    ) -> None:
        self.dropped: Counter[str] = Counter()
        self.labels, self.rng = labels, rng
        self._sights = frozenset(sights)
        self._solvers = [Solver(view, labels) for view in views]
        self._shown = [one for one in views[0] if one.labels and one.time]
        self._of_sights = [one for one in self._shown if one.labels & self._sights]

    def questions(self, dials: Dials, *, as_many_as_there_are: bool = False) -> list[Drawn]:
        """No two with the same words; hops in turn. Raises EvaluationError if the life has too
        few, unless ``as_many_as_there_are``: then a number of hops without a further one is left
        out."""
        found: dict[str, Drawn] = {}
        spent: set[int] = set()
        num_empty = round(dials.unanswerable * dials.questions)
        empty = set(self.rng.permutation(dials.questions)[:num_empty].tolist())
        for at in range(dials.questions):
            hops = at % dials.hops + 1
            one = None if hops in spent else self._one(hops, found, is_empty=at in empty)
            if one is None and as_many_as_there_are:
                spent.add(hops)
                continue
            if one is None:
                raise EvaluationError(
                    f"no further question of {hops} hops after {at} of {dials.questions}",
                    hint="ask for fewer questions or hops, or make the library larger",
                )
            found[one.text] = one
        return list(found.values())

    def _one(self, hops: int, known: Collection[str], *, is_empty: bool) -> Drawn | None:
        for _ in range(_TRIES):
            try:
                rule = self._rule(hops)
                rule = self._emptied(rule) if is_empty else rule
                gold = self.checked(rule)
                if bool(gold) is is_empty or len(gold) > MOST_PHOTOS:
                    raise Ambiguous("no photo or too many")
            except Ambiguous as why:
                self.dropped[str(why)] += 1
                continue
            counts = bool(rule.looks) and not rule.pick and self.rng.random() < 0.08
            text = question_of(rule, self.rng, counts=counts)
            if text not in known:
                return Drawn(text, rule, gold, counts)
        return None

    def photos(self, rule: Rule) -> list[str]:
        """Names, as it was. Raises Ambiguous."""
        return [one.name for one in self._solvers[0].photos(rule)]

    def checked(self, rule: Rule) -> frozenset[str]:
        """The photos. Raises Ambiguous where a view or a reading gives others."""
        _check_looks(rule)
        found = self._solvers[0].photos(rule)
        if not (rule.looks or rule.either) and any(one.screenshot for one in found):
            raise Ambiguous("a screenshot is a photo to some")
        gold = frozenset(one.name for one in found)
        for at, solver in enumerate(self._solvers):
            for wide in (False, True):
                if solver.names(rule, wide=wide) != gold:
                    raise Ambiguous("files state something else" if at else "a wider label")
        anchors = list(self._anchors(rule))
        if any(gold & leant_on for leant_on in anchors):
            raise Ambiguous("what it leans on would be part of the answer")
        answers = {gold, *anchors, frozenset[str]()}
        if not set(self._solvers[0].other_readings(rule)) <= answers:
            raise Ambiguous("the chain reads in two ways")
        return gold

    def _anchors(self, rule: Rule) -> Iterator[frozenset[str]]:
        """What each link leans on."""
        while rule.relation:
            rule = rule.relation.anchor
            yield self._solvers[0].names(rule)

    def _rule(self, hops: int) -> Rule:
        return self._plain() if hops == 1 else self._target(self._linked(hops))

    def _linked(self, hops: int) -> tuple[Relation, list[Seen]]:
        """What the photos lean on, and those that stand so, whatever they show."""
        anchor = self._bottom() if hops == 2 else self._middle(self._linked(hops - 1))
        unit, shift = _LINKS[int(self.rng.integers(len(_LINKS)))]
        relation = Relation(unit, shift, anchor)
        return relation, self._solvers[0].standing(relation)

    def _bottom(self) -> Rule:
        """A sight, or the first photo somewhere."""
        if not self._of_sights or self.rng.random() < 0.15:
            town = self._any(self._shown)
            return Rule(town=town.town, year=town.time.year if town.time else 0, pick=self._pick(1))
        one = self._any(self._of_sights)
        label = self._label(one, among=self._sights)
        year = one.time.year if one.time else 0
        options = [Rule((label,)), Rule((label,), town=one.town), Rule((label,), year=year)]
        options += [Rule((label,), town=one.town, year=year)]
        for rule in options:
            try:
                if len({shot.event for shot in self._solvers[0].photos(rule)}) == 1:
                    return rule
            except Ambiguous:
                continue
        return replace(options[-1], pick=self._pick(1))

    def _middle(self, linked: tuple[Relation, list[Seen]]) -> Rule:
        relation, standing = linked
        one = self._any([one for one in standing if one.labels])
        rule = Rule((self._label(one),), relation=relation)
        alike = [other for other in standing if set(rule.looks) <= other.labels]
        return replace(rule, pick=self._pick(1)) if len(alike) > 1 else rule

    def _target(self, linked: tuple[Relation, list[Seen]]) -> Rule:
        relation, standing = linked
        shown = [one for one in standing if one.labels]
        one = self._any(shown)
        rule = Rule((self._label(one),), relation=relation)
        chance = self.rng.random()
        if chance < 0.1 and len(one.labels) > 1:
            return replace(rule, looks=self._two(one))
        if chance < 0.2:
            return replace(rule, lacks=(self._label(self._any(shown)),))
        if chance < 0.3:
            other = self._label(self._any(shown))
            return replace(rule, looks=(), either=(rule.looks[0], other))
        if chance < 0.36:
            return replace(rule, pick=self._pick(int(self.rng.integers(1, 3))))
        return Rule(relation=relation) if chance < 0.44 else rule

    def _plain(self) -> Rule:
        one = self._any(self._shown)
        facts = _FACTS[int(self.rng.integers(len(_FACTS)))]
        year, month = (one.time.year, one.time.month) if one.time else (0, 0)
        values = {"year": year, "month": month}
        given: dict[str, Any] = {name: values.get(name) or getattr(one, name, "") for name in facts}
        if not all(given.values()):
            raise Ambiguous("a fact that the photo does not have")
        rule = Rule((self._label(one),), **given)
        chance = self.rng.random()
        if chance < 0.15 and len(one.labels) > 1:
            return replace(rule, looks=self._two(one))
        if chance < 0.3:
            return replace(rule, lacks=(self._label(self._any(self._shown)),))
        if chance < 0.4:
            other = self._label(self._any(self._shown))
            return replace(rule, looks=(), either=(rule.looks[0], other))
        if chance < 0.55:
            return replace(rule, pick=self._pick(int(self.rng.integers(1, 4))))
        return replace(rule, looks=()) if chance < 0.65 else rule

    def _emptied(self, rule: Rule) -> Rule:
        """Of what is looked for, nothing is there: another thing, or a town of no photo."""
        rule = replace(rule, pick=None, lacks=(), either=())
        if not rule.relation and self.rng.random() < 0.3:
            looks = rule.looks or (self._label(self._any(self._shown)),)
            never = NEVER[int(self.rng.integers(len(NEVER)))]
            return replace(rule, looks=looks, country="", spot="", town=never)
        labels = sorted(self.labels)
        return replace(rule, looks=(labels[int(self.rng.integers(len(labels)))],))

    def _two(self, one: Seen) -> tuple[str, str]:
        first, second = self.rng.choice(sorted(one.labels), size=2, replace=False).tolist()
        return str(first), str(second)

    def _label(self, one: Seen, among: frozenset[str] | None = None) -> str:
        labels = sorted(one.labels & among if among else one.labels)
        return labels[int(self.rng.integers(len(labels)))]

    def _pick(self, count: int) -> Pick:
        return Pick("first" if self.rng.random() < 0.65 else "last", count)

    def _any(self, group: Sequence[Seen]) -> Seen:
        if not group:
            raise Ambiguous("a link without photos")
        return group[int(self.rng.integers(len(group)))]


def _check_looks(rule: Rule) -> None:
    """Nothing is wanted twice, or wanted and unwanted."""
    named = [*rule.looks, *rule.either, *rule.lacks]
    words = {word for label in named for word in label.split()}
    if len(set(named)) < len(named) or len(words) < sum(len(label.split()) for label in named):
        raise Ambiguous("the same thing named twice")

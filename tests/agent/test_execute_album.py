"""Plans over the times, places and cameras of the test album, against the rules that its
questions are judged by: an oracle that others wrote, and that knows neither plans nor tools.
"""

from __future__ import annotations

import json
import random
import sys
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from made_library import Made, World
from plan_oracle import Known

from photocraft_local.agent.planner.plan import Pick, Plan, Relation, Wanted

Rule = dict[str, Any]
_PLACES = ("city", "region", "country")
_MONTHS = tuple(range(1, 13))


class Album:
    """The life of the table as a made library; its files by UID."""

    def __init__(self, benchmarks: Path, captioned: Path) -> None:
        sys.path.insert(0, str(benchmarks))
        try:
            from album import gold, life
        finally:
            sys.path.remove(str(benchmarks))
        self.rules: ModuleType = gold
        self.life = life.load(captioned)
        self.world = World([_made(moment) for moment in self.life])
        self._files = {
            photo.uid: moment.file
            for photo, moment in zip(self.world.photos, self.life, strict=True)
        }

    def gold(self, rule: Rule) -> set[str] | None:
        """The right files; None for a rule that has no answer, as its anchor finds nothing."""
        try:
            return set(self.rules.gold(rule, self.life))
        except self.rules.RuleError:
            return None

    def answered(self, rule: Rule) -> set[str]:
        told = self.world.carry_out(Plan(wanted(rule)))
        for pieces in told.answer.evidence.values():
            assert pieces
            assert all(piece.met and piece.value for piece in pieces)
        return {self._files[uid] for uid in told.answer.uids}


@pytest.fixture(scope="module")
def album(root: Path, shared: Path) -> Album:
    return Album(root / "benchmarks", shared / "data" / "captioned")


def _made(moment: Any) -> Made:
    address = (moment.city, moment.region, moment.country)
    return Made(moment.time, moment.position, address if any(address) else None, moment.camera)


def wanted(rule: Rule) -> Wanted:
    """The same as a plan. Of labels, spots and the table's own names of events it knows nothing."""
    if "or" in rule:
        parts = Wanted(either=tuple(map(wanted, rule["or"])))
    else:
        parts = Wanted(conditions=tuple(conditions(rule)), relations=relations(rule))
    but_not = (wanted(rule["but_not"]),) if "but_not" in rule else ()
    return Wanted(
        conditions=parts.conditions,
        relations=parts.relations,
        either=parts.either,
        but_not=but_not,
        pick=Pick(rule["pick"]["by"], rule["pick"].get("n", 1)) if "pick" in rule else None,
    )


def conditions(rule: Rule) -> list[Known]:
    texts = [f"{key} == {json.dumps(rule[key])}" for key in _PLACES if key in rule]
    for key, field in (("years", "year"), ("months", "month"), ("weekdays", "weekday")):
        if key in rule:
            names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
            values = [names[v] for v in rule[key]] if key == "weekdays" else rule[key]
            texts.append(" or ".join(f"{field} == {json.dumps(value)}" for value in values))
    if "days" in rule:
        texts.append(" or ".join(f'date == "{day}"' for day in rule["days"]))
    if "hours" in rule:
        low, high = rule["hours"]
        texts.append(f"hour >= {low} and hour < {high}")
    if "camera" in rule:
        texts.append(" and ".join(f'camera == "{word}"' for word in rule["camera"].split()))
    if "from" in rule:
        texts.append(f'time >= "{rule["from"]}"')
    if "to" in rule:
        texts.append(f'time < "{rule["to"]}"')
    if "near" in rule:
        latitude, longitude, km = rule["near"]
        texts.append(f'near("{latitude},{longitude}", {km})')
    return [Known(text, text, lambda photo: True) for text in texts]


def relations(rule: Rule) -> tuple[Relation, ...]:
    if "anchor" not in rule:
        return ()
    anchor = dict(rule["anchor"])
    kind, at = anchor.pop("relation"), anchor.pop("at", "first")
    shift, hours = anchor.pop("shift_days", 0), anchor.pop("within_hours", None)
    within = timedelta(hours=hours) if hours is not None else None
    return (Relation(kind, wanted(anchor), which=at, shift=shift, within=within, words=kind),)


def of_metadata(rule: Any) -> bool:
    """Whether times, places and cameras decide it, and a made library without homes can."""
    if isinstance(rule, list):
        return all(map(of_metadata, rule))
    if not isinstance(rule, dict):
        return True
    unknown = {"all", "any", "none", "spot", "event", "trip", "nothing"}
    return not unknown & set(rule) and all(map(of_metadata, rule.values()))


def test_the_tuning_questions_that_metadata_decides(album: Album, root: Path) -> None:
    path = root / "benchmarks" / "album" / "questions_tuning.jsonl"
    questions = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    decided = [question for question in questions if of_metadata(question["gold_rule"])]
    assert len(decided) > 25
    for question in decided:
        assert album.answered(question["gold_rule"]) == set(question["gold"]), question["question"]


HAND = [
    {"anchor": {"city": "Tokyo", "relation": "trip"}},
    {"anchor": {"city": "Florence", "relation": "trip", "at": "last"}},
    {"anchor": {"city": "Inverness", "relation": "trip"}, "camera": "iPhone"},
    {"anchor": {"city": "New York", "relation": "trip", "at": "last"}, "pick": {"by": "last"}},
    {"anchor": {"country": "Japan", "relation": "event"}},
    {"anchor": {"city": "Kyoto", "relation": "event", "at": "last"}},
    {"anchor": {"days": ["2020-12-25"], "relation": "event"}, "hours": [18, 24]},
    {"anchor": {"city": "Siena", "relation": "day", "shift_days": -1}},
    {"anchor": {"city": "Siena", "relation": "after", "within_hours": 48}},
    {"anchor": {"anchor": {"city": "Pisa", "relation": "day", "shift_days": 1},
                "relation": "day", "shift_days": 1}},
    {"anchor": {"anchor": {"city": "Nara", "relation": "trip"}, "at": "last", "relation": "before"},
     "country": "Japan"},
    {"or": [{"anchor": {"city": "Nara", "relation": "day", "shift_days": -1}}, {"city": "Porto"}],
     "but_not": {"city": "Kyoto"}},
    {"country": "Portugal", "but_not": {"city": "Lisbon"}, "pick": {"by": "south", "n": 3}},
    {"camera": "Canon", "pick": {"by": "last", "n": 9}},
    {"years": [2022], "but_not": {"or": [{"country": "Japan"}, {"months": [2]}]}},
]  # fmt: skip


@pytest.mark.parametrize("rule", HAND, ids=[str(at) for at in range(len(HAND))])
def test_rules_made_by_hand(rule: Rule, album: Album) -> None:
    right = album.gold(rule)
    assert right
    assert album.answered(rule) == right


def made_rule(chance: random.Random, depth: int = 0) -> Rule:
    """One, two or three conditions of any kind, sometimes leaning on another rule."""
    rule: Rule = {}
    for kind in chance.sample(
        ("place", "time", "camera", "hours", "near"), chance.choice([0, 1, 2])
    ):
        if kind == "place":
            rule |= chance.choice([{"city": "Lisbon"}, {"city": "Tokyo"}, {"country": "Italy"},
                                   {"country": "Portugal"}, {"region": "Scotland"}])  # fmt: skip
        elif kind == "time":
            rule |= chance.choice([{"years": [2021, 2023]}, {"months": [4, 7, 9]},
                                   {"weekdays": [5, 6]}, {"from": "2022-04-03T00:00:00"},
                                   {"to": "2023-01-14T10:00:00"}])  # fmt: skip
        elif kind == "camera":
            rule["camera"] = chance.choice(["Canon", "iPhone", "FUJIFILM X100V"])
        elif kind == "hours":
            low = chance.randrange(0, 20)
            rule["hours"] = [low, low + chance.randint(1, 4)]
        else:
            rule["near"] = [38.7139, -9.1394, chance.choice([2, 30, 400])]
    if depth < 2 and chance.random() < 0.6:
        anchor = made_rule(chance, depth + 1)
        anchor |= {"relation": chance.choice(["day", "after", "before", "event"])}
        anchor |= {"at": chance.choice(["first", "last"])}
        if anchor["relation"] == "day":
            anchor["shift_days"] = chance.choice([-1, 0, 0, 1])
        elif anchor["relation"] != "event" and chance.random() < 0.7:
            anchor["within_hours"] = chance.choice([1, 5, 60, 9000])
        rule["anchor"] = anchor
    if depth < 2 and chance.random() < 0.2:
        rule = {"or": [rule, made_rule(chance, 2)]}
    if depth < 2 and chance.random() < 0.2:
        rule["but_not"] = made_rule(chance, 2)
    if chance.random() < 0.2:
        by = chance.choice(["first", "last", "north", "south", "east", "west"])
        rule["pick"] = {"by": by, "n": chance.choice([1, 3])}
    return rule


@pytest.mark.parametrize("seed", range(4))
def test_random_rules(seed: int, album: Album) -> None:
    chance = random.Random(seed)
    num_answered = 0
    for _ in range(60):
        rule = made_rule(chance)
        right = album.gold(rule)
        if right is not None:
            assert album.answered(rule) == right, rule
            num_answered += bool(right)
    assert num_answered > 15

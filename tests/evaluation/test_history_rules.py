"""What a rule of a history means, and which rules are refused: they may be read in two ways."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta

import numpy as np
import pytest

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.histories import drawing, wording
from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.rules import Ambiguous, Pick, Relation, Rule
from photocraft_local.evaluation.histories.seeing import Seen
from photocraft_local.evaluation.histories.solving import Solver

_DAY = datetime(2022, 5, 4, 9, 0)


def seen(name: str, labels: str, hours: float = 0.0, event: int = 1, trip: int = 1) -> Seen:
    time = _DAY + timedelta(hours=hours)
    shown = frozenset(labels.split(","))
    return Seen(name, shown, time, (41.9, 12.5), "Rome", "Italy", "", "", event, trip)


def anchored(unit: str, shift: int, **anchor: object) -> Rule:
    return Rule(("dog",), relation=Relation(unit, shift, Rule(**anchor)))  # type: ignore[arg-type]


LIFE = [
    seen("a", "cake"),
    seen("b", "dog", 0.5),
    seen("c", "dog", 25, 2),
    seen("d", "teddy bear", 25.5, 2),
    seen("e", "cat", 49, 3, 0),
    seen("f", "cat,dog", 49.5, 3, 0),
    seen("g", "kite", 200, 4, 2),
    seen("h", "dog", 201, 4, 2),
    seen("i", "horse", 300, 5, 3),
    seen("j", "horse", 300.3, 5, 3),
    seen("k", "dog", 301.1, 5, 3),
]


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        (anchored("hour", 1, looks=("cake",)), "b"),
        (anchored("hour", -1, looks=("cake",)), ""),
        (anchored("event", 0, looks=("cake",)), "b"),
        (anchored("event", 1, looks=("cake",)), "c"),
        (anchored("day", 1, looks=("cake",)), "c"),
        (anchored("day", 2, looks=("cake",)), "f"),
        (anchored("trip", 0, looks=("cake",)), "b c"),
        (anchored("trip", 1, looks=("cake",)), "h"),
        (anchored("week", 0, looks=("cake",)), "b c f"),
        (anchored("week", 1, looks=("kite",)), "k"),
        (Rule(("dog",), lacks=("cat",)), "b c h k"),
        (Rule(either=("cat", "kite")), "e f g"),
        (Rule(("dog",), pick=Pick("last", 2)), "h k"),
    ],
)
def test_what_a_rule_means(rule: Rule, names: str) -> None:
    found = Solver(LIFE, labels()).photos(rule)
    assert [one.name for one in found] == names.split()


def labels() -> frozenset[str]:
    return frozenset(label for one in LIFE for label in one.labels) | {"bear"}


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (anchored("day", 1, looks=("dog",)), "several events"),
        (anchored("day", 1, looks=("zebra",)), "on none"),
        (anchored("trip", 0, looks=("cat",), lacks=("dog",)), "no trip"),
        (anchored("hour", 1, looks=("horse",)), "from the first of them is none from the last"),
        (anchored("event", 0, looks=("cat",)), "part of the answer"),
        (anchored("hour", 1, looks=("kite",)), "end of the hour"),
        (anchored("week", 1, looks=("cake",)), "a week reads in several ways"),
        (anchored("trip", 0, either=("cake", "kite")), "several events"),
        (anchored("place", 0, looks=("cake",), year=2021), "on none"),
        (Rule(("kite",), pick=Pick("first")), "nothing to choose from"),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused(rule: Rule, why: str) -> None:
    with pytest.raises(Ambiguous, match=why):
        Solver(LIFE, labels()).photos(rule)


def test_a_wider_label_and_a_file_that_states_otherwise_drop_a_question() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(Ambiguous, match="wider label"):
        drawing.Drawing((LIFE,), labels(), ["kite"], rng).checked(Rule(("bear",)))
    late = [dataclasses.replace(one, time=_DAY.replace(year=2001)) for one in LIFE]
    rule = Rule(("dog",), year=2022)
    assert drawing.Drawing((LIFE, LIFE), labels(), ["kite"], rng).checked(rule)
    with pytest.raises(Ambiguous, match="state something else"):
        drawing.Drawing((LIFE, late), labels(), ["kite"], rng).checked(rule)


def test_a_question_for_what_its_chain_begins_with_is_refused() -> None:
    """Cakes on the day of the dog on the day of the cake."""
    drawn = drawing.Drawing((LIFE,), labels(), ["cake"], np.random.default_rng(1))
    there = Rule(("dog",), relation=Relation("day", 0, Rule(("cake",))))
    back = Rule(("cake",), relation=Relation("day", 0, there))
    assert [one.name for one in Solver(LIFE, labels()).photos(back)] == ["a"]
    with pytest.raises(Ambiguous, match="part of the answer"):
        drawn.checked(back)


def test_a_screenshot_among_photos_that_need_show_nothing_drops_a_question() -> None:
    rng = np.random.default_rng(1)
    screen = dataclasses.replace(seen("s", "", 26, 2), screenshot=True, labels=frozenset())
    of_the_day = Rule(relation=Relation("day", 1, Rule(("cake",))))
    for view, fits in ((LIFE, True), ([*LIFE, screen], False)):
        drawn = drawing.Drawing((view,), labels(), ["cake"], rng)
        assert drawn.checked(dataclasses.replace(of_the_day, looks=("dog",))) == {"c"}
        if fits:
            assert drawn.checked(of_the_day) == {"c", "d"}
        else:
            with pytest.raises(Ambiguous, match="screenshot"):
                drawn.checked(of_the_day)


def test_a_chain_whose_end_may_belong_to_its_beginning_is_refused() -> None:
    """Dogs on the day after the cake in Rome: here other dogs than those in Rome, a day after."""
    life = [*LIFE, dataclasses.replace(seen("z", "dog", 26, 2), town="Florence")]
    solver = Solver(life, labels())
    rule = anchored("day", 1, looks=("cake",), town="Rome")
    assert [one.name for one in solver.photos(rule)] == ["c", "z"]
    assert frozenset({"c"}) in set(solver.other_readings(rule))


def test_every_part_of_a_rule_has_words() -> None:
    for unit, shift in drawing._LINKS:
        assert wording.wordings(f"{unit} {shift}")
    rng = np.random.default_rng(1)
    inner = Relation("day", 1, Rule(("bus",), year=2021, pick=Pick("first")))
    rule = Rule(("knife",), lacks=("person",), relation=Relation("place", 0, Rule(("tv",))))
    for _ in range(20):
        text = wording.question_of(rule, rng)
        assert "without people" in text
        assert "TV" in text
        assert "first" in wording.question_of(Rule(("cup",), relation=inner), rng)


def test_what_was_taken_with_a_camera_and_countries_with_an_article_read_as_people_write() -> None:
    rng = np.random.default_rng(1)
    rule = Rule(camera="Canon EOS R6", country="United States")
    asked = {wording.question_of(rule, rng) for _ in range(40)}
    asked |= {
        wording.question_of(dataclasses.replace(rule, looks=("cup",)), rng, counts=True)
        for _ in range(40)
    }
    assert "everything that I photographed with the Canon in the United States" in asked
    assert "how many photos of cups did I take with the Canon in the United States?" in asked
    assert "show me all pictures taken with the Canon in the United States" in asked
    assert not any("in United" in text or "take taken" in text for text in asked)
    assert wording.question_of(Rule(country="Italy"), rng).endswith("in Italy")


def test_too_many_questions_for_a_life_are_refused_or_left_out() -> None:
    dials = Dials(questions=1000, hops=1, unanswerable=0)
    few = drawing.Drawing((LIFE[:1],), frozenset({"cake"}), [], np.random.default_rng(1))
    with pytest.raises(EvaluationError, match="no further question"):
        few.questions(dials)
    assert 5 < len(few.questions(dials, as_many_as_there_are=True)) < 1000

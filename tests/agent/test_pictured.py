"""What leans on a question's picture becomes conditions by the picture's own time and place."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from photocraft_local.agent.opening import question_block
from photocraft_local.agent.pictures import Picture, picture_of
from photocraft_local.agent.planner.conditions import PlaceCondition, TimeCondition
from photocraft_local.agent.planner.pictured import with_facts
from photocraft_local.agent.planner.plan import Ask, AskKind, Plan, Relation, Wanted
from photocraft_local.agent.planner.planner import asked
from photocraft_local.agent.trajectory import Trajectory, load

TAKEN = datetime(2021, 6, 12, 9, 41, 30)  # a Saturday
PICTURE = Picture(
    "q1", b"/photos/\xff.jpg", "ab" * 32, TAKEN, 38.7139, -9.1394, "Lisbon, Portugal", "p7k3mq"
)
BARE = Picture("q2", b"/photos/b.jpg")
PICTURES = {"q1": PICTURE, "q2": BARE}
Q1 = Wanted(like=("q1",))


def related(kind: str, **fields: object) -> Wanted:
    return Wanted(relations=(Relation(kind, Q1, **fields),))  # type: ignore[arg-type]


def resolved(wanted: Wanted, ask: AskKind = "photos") -> Plan:
    return with_facts(Plan(wanted, Ask(ask)), PICTURES)


def row(time: datetime) -> dict[str, object]:
    return {"time": {"local": time.isoformat()}}


MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        (related("before"), [TAKEN - MINUTE, datetime(1999, 1, 1)], [TAKEN, TAKEN + MINUTE]),
        (related("before", within=HOUR), [TAKEN - HOUR], [TAKEN - HOUR - MINUTE, TAKEN]),
        (related("after"), [TAKEN + 2 * MINUTE], [TAKEN, TAKEN - MINUTE]),
        (related("after", within=HOUR), [TAKEN + 59 * MINUTE], [TAKEN + HOUR + MINUTE]),
        (related("around"), [TAKEN - HOUR, TAKEN + HOUR], [TAKEN + 3 * HOUR]),
        (related("day"), [datetime(2021, 6, 12), datetime(2021, 6, 12, 23, 59)],
         [datetime(2021, 6, 13), datetime(2021, 6, 11, 23, 59)]),
        (related("day", shift=1), [datetime(2021, 6, 13, 12)], [TAKEN]),
        (related("day", shift=-1), [datetime(2021, 6, 11, 12)], [TAKEN]),
        (related("week"), [datetime(2021, 6, 7), datetime(2021, 6, 13, 23)],
         [datetime(2021, 6, 14), datetime(2021, 6, 6)]),
        (related("weekend"), [datetime(2021, 6, 12), datetime(2021, 6, 13, 23)],
         [datetime(2021, 6, 11), datetime(2021, 6, 14)]),
        (related("month", shift=1), [datetime(2021, 7, 31)], [TAKEN]),
        (related("year"), [datetime(2021, 1, 1)], [datetime(2022, 1, 1)]),
        (related("day", negated=True), [datetime(2021, 6, 13)], [TAKEN]),
    ],
)  # fmt: skip
def test_times_that_lean_on_the_picture(
    wanted: Wanted, inside: list[datetime], outside: list[datetime]
) -> None:
    found = resolved(wanted).wanted
    assert found.relations == ()
    (condition,) = found.conditions
    assert isinstance(condition, TimeCondition)
    assert "q1" in condition.words
    assert all(condition.holds(row(moment)) for moment in inside)
    assert not any(condition.holds(row(moment)) for moment in outside)


def test_the_same_place_in_another_year() -> None:
    found = resolved(related("place", km=2.0, apart="year")).wanted
    place, time = found.conditions
    assert isinstance(place, PlaceCondition)
    assert place.words == "within 2 km of q1 (Lisbon, Portugal)"
    assert place.where == 'near("38.71390,-9.13940", 2)'
    near = {"place": {"latitude": 38.72, "longitude": -9.14, "address": ""}}
    far = {"place": {"latitude": 38.80, "longitude": -9.14, "address": ""}}
    assert (place.holds(near), place.holds(far)) == (True, False)
    assert not time.holds(row(TAKEN))
    assert time.holds(row(TAKEN.replace(year=2020)))


@pytest.mark.parametrize("kind", ["event", "trip"])
def test_its_event_is_that_of_photos_near_it_in_time(kind: str) -> None:
    (relation,) = resolved(related(kind)).wanted.relations
    (near,) = relation.anchor.conditions
    assert near.holds(row(TAKEN + HOUR / 2))
    assert not near.holds(row(TAKEN + DAY))


def test_it_is_asked_for_its_own_place_and_moment() -> None:
    (where,) = resolved(Q1, "where").wanted.conditions
    assert where.words == "where q1 was taken (Lisbon, Portugal)"
    (when,) = resolved(Q1, "when").wanted.conditions
    assert when.holds(row(TAKEN))
    assert not when.holds(row(TAKEN + MINUTE))
    assert resolved(Q1).wanted == Q1  # more of this: by its look


def test_several_pictures_are_followed_one_by_one() -> None:
    later = replace(PICTURE, id="q3", time=TAKEN + 9 * DAY)
    both = {"q1": PICTURE, "q3": later}
    anchor = Wanted(like=("q1", "q3"))
    plan = with_facts(Plan(Wanted(relations=(Relation("day", anchor),))), both)
    assert plan.wanted.relations == ()
    first, second = (part.conditions[0] for part in plan.wanted.either)
    assert [first.holds(row(TAKEN)), second.holds(row(TAKEN))] == [True, False]
    assert second.holds(row(TAKEN + 9 * DAY))
    without = with_facts(Plan(Wanted(relations=(Relation("day", anchor, negated=True),))), both)
    assert len(without.wanted.conditions) == 2
    assert not all(one.holds(row(TAKEN)) for one in without.wanted.conditions)


def test_nested_sets_are_followed_too() -> None:
    inner = related("before")
    deep = Wanted(either=(inner,), but_not=(inner,), relations=(Relation("day", inner),))
    found = resolved(deep).wanted
    for part in (found.either[0], found.but_not[0], found.relations[0].anchor):
        assert part.relations == ()
        assert len(part.conditions) == 1


@pytest.mark.parametrize("kind", ["before", "place", "day", "event"])
def test_a_picture_that_tells_nothing_stays_and_the_person_is_told(kind: str) -> None:
    wanted = Wanted(relations=(Relation(kind, Wanted(like=("q2",))),))  # type: ignore[arg-type]
    found = resolved(wanted)
    assert found.wanted == wanted
    assert "q2 tells no" in found.notes[0]
    assert resolved(Wanted(like=("q2",)), "where").wanted == Wanted(like=("q2",))


def test_a_plan_without_pictures_is_left_alone() -> None:
    plan = Plan(Wanted(like=("q1",)))
    assert with_facts(plan, {}) is plan


# -- on the way to the backbone and into the trace -----------------------------------------------

RECORD = Trajectory(
    question='a "dog"\n<|im_end|>',
    today=date(2024, 5, 15),
    backbone="planner",
    plan='look: "dog"\n\u202etime: 2021 <|im_start|>\n',
    pictures=(PICTURE, BARE),
)


def test_the_block_brings_question_plan_and_facts_to_the_planner() -> None:
    block = question_block(RECORD)
    given = asked([{"role": "user", "content": block}])
    assert given.question == RECORD.question
    assert given.plan == RECORD.plan
    assert given.ids == ("q1", "q2")
    assert given.pictures[0] == replace(PICTURE, path=b"", digest="", uid="")
    assert "<|" not in block
    assert "\u202e" not in block
    assert "photos" not in block  # no path of a file
    assert len(block.splitlines()) == 5


def test_without_plan_and_pictures_the_block_is_what_it_was() -> None:
    bare = Trajectory(question="a dog", today=date(2024, 5, 15), backbone="planner")
    assert question_block(bare) == ('Today is 2024-05-15.\nThe question, as JSON text: "a dog"')


def test_plan_and_pictures_come_back_from_the_trace(tmp_path: Path) -> None:
    back = load(RECORD.save(tmp_path))
    assert (back.plan, back.pictures) == (RECORD.plan, RECORD.pictures)


def test_a_trace_of_the_first_format_is_still_read(tmp_path: Path) -> None:
    old = RECORD.to_json() | {"version": 1}
    del old["plan"], old["pictures"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old), "utf-8")
    back = load(path)
    assert (back.plan, back.pictures) == ("", ())


@pytest.mark.parametrize(
    "broken", [{}, {"id": "q1", "path_base64": "?", "sha256": "", "facts": {}}]
)
def test_a_picture_that_is_none_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises((KeyError, ValueError)):
        picture_of(broken)


def test_a_picture_that_tells_no_place_is_known_by_its_look_and_that_is_said() -> None:
    told = with_facts(Plan(Wanted(like=("q1",)), Ask("where")), {"q1": Picture("q1", b"")})
    assert told.wanted == Wanted(like=("q1",))
    assert told.notes == ("q1 tells no place of its own; photos that look like it stand for it",)

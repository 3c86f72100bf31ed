"""Of several runs' candidates those hold that meet the conditions, however many runs gave them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.agent.selection import Condition, Reading, Selected, selected

DOG, JUNE, TRIP_2019, TRIP_2020, ITALY = range(5)


def strong(words: str, *broken_by: str) -> Condition:
    return Condition(words, True, frozenset(broken_by))


def weak(words: str, about: str, *broken_by: str) -> Condition:
    return Condition(words, False, frozenset(broken_by), frozenset(about.split()))


def states(*uids: str, by: tuple[int, ...] = (), words: int = 0, **more: object) -> Reading:
    covered = frozenset(map(str, range(words)))
    return Reading(uids, frozenset(by), covered=covered, **more)  # type: ignore[arg-type]


def test_the_majority_is_wrong_and_the_evidence_is_right() -> None:
    conditions = [strong("a dog", "p9"), strong("in June")]
    runs = [
        states("p9", by=(JUNE,), words=1),
        states("p9", by=(JUNE,), words=1),
        states("p1", by=(DOG, JUNE), words=2),
    ]
    found = selected(runs, conditions)
    assert found == Selected(("p1",), {"p9": (DOG,)}, "held", (2,))


def test_what_one_run_missed_is_there_and_what_one_made_up_is_not_held_against_others() -> None:
    conditions = [strong("a dog"), strong("in June"), weak("outdoors", "outdoors", "p1", "p2")]
    runs = [states("p1", by=(DOG,)), states("p1", "p2", by=(DOG, JUNE)), states("p3", by=(DOG, 2))]
    assert selected(runs, conditions).uids == ("p1", "p2", "p3")


def test_what_led_to_an_anchor_is_held_against_those_alone_who_took_it_for_the_photos_own() -> None:
    christmas = strong("Christmas 2020", "p26")
    day_after = strong("the day after Christmas 2020", "p25")
    wrong = Reading(("p25",), frozenset({0}))
    right = Reading(("p26",), frozenset({1}), accounts=frozenset({0}))
    assert selected([wrong, right], [christmas, day_after]).uids == ("p26",)


def test_runs_that_found_nothing_are_readings_too() -> None:
    conditions = [strong("a dog", "p9"), strong("in June")]
    nothing = states(by=(DOG, JUNE), words=2)
    assert selected([nothing, nothing], conditions) == Selected(())
    other = states("p9", by=(JUNE,), words=1)
    assert selected([other, other, nothing], conditions).uids == ()
    assert selected([nothing, nothing, states("p1", by=(DOG, JUNE), words=2)], conditions).uids == (
        "p1",
    )


def test_contradictions_are_settled_by_the_words_and_the_looks_and_else_both_are_told() -> None:
    conditions = [strong("here", "p2"), strong("there", "p1")]
    more, less = states("p1", by=(0,), words=3), states("p2", by=(1,), words=2)
    assert selected([less, less, more], conditions) == Selected(
        ("p1",), {"p2": (0,)}, "contest", (2,)
    )
    surer = states("p2", by=(1,), words=3, least=0.9)
    assert selected([more, surer], conditions).uids == ("p2",)
    even = selected([more, states("p2", by=(1,), words=3)], conditions)
    assert (even.uids, even.decided) == (("p1", "p2"), "tie")


def test_two_readings_of_the_same_words_that_exclude_each_other_are_rivals() -> None:
    conditions = [
        strong("a dog"),
        strong("in June"),
        weak("my trip: 2019", "trip", "p2"),
        weak("my trip: 2020", "trip", "p1"),
    ]
    sure = states("p1", by=(DOG, TRIP_2019), least=0.9)
    unsure = states("p2", by=(DOG, TRIP_2020), least=0.6)
    found = selected([unsure, unsure, sure], conditions)
    assert found == Selected(("p1",), {"p2": (TRIP_2019,)}, "rivals", (2,))
    tie = selected([states("p1", by=(TRIP_2019,)), states("p2", by=(TRIP_2020,))], conditions)
    assert (tie.uids, tie.decided) == (("p1", "p2"), "tie")


def test_one_part_of_an_or_is_enough() -> None:
    conditions = [strong("a dog", "p2", "p3"), strong("in Italy", "p1", "p3")]
    parts = frozenset({frozenset({0}), frozenset({1})})
    union = Reading(("p1", "p2"), accounts=frozenset({0, 1}), ways=parts)
    assert selected([union, states("p2", by=())], conditions).uids == ("p1", "p2")
    assert selected([union, states("p3", by=())], conditions).left_out == {"p3": (0,)}
    misread = states("p2", by=(1,))
    assert selected([union, misread], conditions).uids == ("p1", "p2")


UIDS = st.sets(st.sampled_from(["p1", "p2", "p3", "p4"]))
NUMBERS = st.frozensets(st.integers(0, 3))
READINGS = st.builds(
    Reading,
    uids=UIDS.map(sorted).map(tuple),
    states=NUMBERS,
    accounts=NUMBERS,
    ways=st.frozensets(NUMBERS, max_size=2),
    covered=st.frozensets(st.sampled_from("abc")),
    least=st.sampled_from([0.2, 0.5, 0.9]),
)
CONDITIONS = st.lists(
    st.builds(
        Condition,
        words=st.just("so"),
        is_strong=st.booleans(),
        broken_by=UIDS.map(frozenset),
        about=st.frozensets(st.sampled_from("xy")),
    ),
    min_size=4,
    max_size=4,
)


@given(st.lists(READINGS, max_size=4), CONDITIONS, st.randoms(use_true_random=False))
def test_the_order_of_the_runs_changes_nothing(
    readings: list[Reading], conditions: list[Condition], order: object
) -> None:
    found = selected(readings, conditions)
    shuffled = list(readings)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    again = selected(shuffled, conditions)
    assert (again.uids, again.left_out, again.decided) == (
        found.uids,
        found.left_out,
        found.decided,
    )
    assert sorted(shuffled[n].uids for n in again.won) == sorted(
        readings[n].uids for n in found.won
    )


@given(st.lists(READINGS, min_size=1, max_size=4), CONDITIONS)
def test_an_answer_is_of_the_pool_and_a_second_like_run_changes_nothing(
    readings: list[Reading], conditions: list[Condition]
) -> None:
    found = selected(readings, conditions)
    pool = {uid for reading in readings for uid in reading.uids}
    assert set(found.uids) | set(found.left_out) <= pool
    assert not set(found.uids) & set(found.left_out) or found.decided in ("contest", "tie")
    doubled = selected([*readings, readings[0]], conditions)  # no vote
    assert (doubled.uids, doubled.left_out) == (found.uids, found.left_out)


@given(st.lists(READINGS, max_size=4), CONDITIONS)
def test_what_breaks_a_held_condition_never_stands_beside_what_breaks_none(
    readings: list[Reading], conditions: list[Condition]
) -> None:
    """Sorted, each once; a photo that breaks what every run states, and accounts for in no other
    way, is there only where nothing holds at all."""
    found = selected(readings, conditions)
    assert list(found.uids) == sorted(set(found.uids))
    shared = [
        number
        for number, one in enumerate(conditions)
        if one.is_strong
        and all(number in reading.states for reading in readings)
        and not any(number in reading.accounts for reading in readings)
    ]
    breaking = {uid for uid in found.uids for n in shared if uid in conditions[n].broken_by}
    if breaking:
        assert found.decided in ("contest", "tie")
        pool = {uid for reading in readings for uid in reading.uids}
        assert set(found.left_out) | set(found.uids) == pool


INVENTED = st.lists(
    st.builds(
        Condition,
        words=st.just("made up"),
        is_strong=st.just(False),
        broken_by=UIDS.map(frozenset),
        about=st.frozensets(st.sampled_from("xy")),
    ),
    min_size=1,
    max_size=3,
)


@given(st.lists(READINGS, min_size=1, max_size=3), CONDITIONS, UIDS.filter(bool), INVENTED)
def test_a_run_with_invented_conditions_cannot_empty_the_answer(
    readings: list[Reading],
    conditions: list[Condition],
    own: set[str],
    invented: list[Condition],
) -> None:
    """What some run made up is held against nobody: whatever stood still has company."""
    before = selected(readings, conditions)
    numbers = range(len(conditions), len(conditions) + len(invented))
    liar = Reading(tuple(sorted(own)), frozenset(numbers))
    after = selected([*readings, liar], [*conditions, *invented])
    assert not before.uids or after.uids

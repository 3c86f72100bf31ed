"""What the question or a call stated, and the answer says nothing of, is checked all the same."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from fake_judge import FakeJudge
from tool_album import Album, Call

from photocraft_local.records import Observation, ToolCall
from photocraft_local.timelang import parse_when
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.standard import standard_tools
from photocraft_local.tools.submit_answer import answer_of
from photocraft_local.tools.unclaimed import own_conditions

WIDE = {"constraint": "any photo", "where": "width > 0"}
OCTOBER = {"constraint": "in October 2008", "when": "October 2008"}


@pytest.fixture
def nikon(album: Album) -> list[str]:
    """Taken in Arezzo, Italy, in October 2008."""
    return [album.uid(f"ia_DSCN00{n}.jpg") for n in (10, 21, 42)]


@pytest.fixture
def apple(album: Album) -> str:
    """Taken in 2011, elsewhere."""
    return album.uid("me_Apple iPhone 4.jpg")


def submit(call: Call, photos: list[str], *claims: dict[str, Any], **more: Any) -> Observation:
    return call("submit_answer", photos=photos, evidence=list(claims), **more)


def conditions(seen: Observation) -> list[tuple[str, str]]:
    return [(row["condition"], row["from"]) for row in seen.data["unmentioned"]]


def test_what_the_question_says_and_all_photos_meet_becomes_evidence(
    context: ToolContext, call: Call, nikon: list[str]
) -> None:
    context.question = "photos from Italy in October 2008"
    seen = submit(call, nikon, WIDE)
    assert seen.ok, seen.error
    pieces = answer_of(seen).evidence[nikon[0]]
    told = {piece.constraint: piece.value for piece in pieces}
    assert told["in October 2008"] == "2008-10-22T16:28:39"
    assert told["from Italy"].endswith("Italy")
    assert all(piece.met for piece in pieces)


def test_a_fact_that_was_dropped_reopens_the_search_and_then_the_right_one_is_found(
    context: ToolContext, call: Call, nikon: list[str], apple: str
) -> None:
    context.question = "photos from October 2008"
    wrong = submit(call, [*nikon, apple], WIDE)
    assert not wrong.ok
    assert conditions(wrong) == [("from October 2008", "the question's own words")]
    assert wrong.data["unmentioned"][0]["photos"] == [apple]
    assert "search on" in wrong.error
    right = submit(call, nikon, OCTOBER)
    assert right.ok, right.error
    assert answer_of(right).not_understood == ()


def test_whoever_insists_is_believed_and_the_person_reads_it(
    context: ToolContext, call: Call, nikon: list[str], apple: str
) -> None:
    context.question = "photos from October 2008"
    for last in (False, True):
        seen = submit(call, [*nikon, apple], WIDE)
        assert seen.ok is last
    answer = answer_of(seen)
    assert answer.uids == (*nikon, apple)
    assert answer.not_understood == (
        f"from October 2008 (the question's own words; broken by {apple})",
    )
    assert "from October 2008" not in {one.constraint for one in answer.evidence[nikon[0]]}


def test_a_call_s_condition_counts_where_the_question_s_words_support_it(
    context: ToolContext, call: Call, nikon: list[str], apple: str
) -> None:
    context.question = "the ones by the nikon"
    call("filter_photos", where="camera == 'nikon'", save_as="ours")
    call("filter_photos", when="2008")  # tried out: no word of the question says so
    seen = submit(call, [*nikon, apple], WIDE)
    assert conditions(seen) == [("camera == 'nikon'", "step 1")]
    assert submit(call, nikon, WIDE).ok


def test_what_means_the_same_is_mentioned(
    context: ToolContext, call: Call, nikon: list[str], apple: str
) -> None:
    context.question = "photos from October 2008"
    narrower = {"constraint": "that day", "where": "date == '2008-10-22'"}
    assert submit(call, nikon, narrower).ok
    told = submit(call, [apple], WIDE, not_used=["from October 2008: I do not know why"])
    assert told.ok, told.error  # the person is told by the model itself
    union = [
        {**OCTOBER, "photos": nikon},
        {"constraint": "or from 2011", "when": "2011", "photos": [apple]},
    ]
    assert submit(call, [*nikon, apple], *union).ok  # each about its own photos


@pytest.mark.parametrize("by", ["set", "photos", "anchors"])
def test_what_found_an_anchor_is_no_condition_of_what_follows_from_it(
    context: ToolContext, call: Call, nikon: list[str], apple: str, by: str
) -> None:
    context.question = "photos in the years after my trip to Arezzo in October 2008"
    call("filter_photos", when="October 2008", where="place('Arezzo')", save_as="trip")
    leaning: dict[str, Any] = {"set": "trip"} if by == "set" else {"photos": nikon[:1]}
    claim: dict[str, Any] = {
        "constraint": "in the years after",
        "relation": {**leaning, "after": "any time"},
    }
    if by == "anchors":
        claim = {"constraint": "later", "when": "2011", "anchors": nikon[:1]}
    seen = submit(call, [apple], claim)
    assert seen.ok, seen.error
    assert answer_of(seen).not_understood == ()


def test_a_look_that_the_answer_drops_is_judged_by_eye_and_named(
    context: ToolContext, call: Call, nikon: list[str]
) -> None:
    judge = context.judge = FakeJudge(sure={nikon[1]: 0.2})
    context.question = "a dog in October 2008"
    call("search_photos", text="dog", when="October 2008", top_k=20, save_as="dogs")
    seen = submit(call, nikon, OCTOBER)
    assert seen.data["doubtful_photos"] == [nikon[1]]
    assert conditions(seen) == [("dog", "step 1")]
    assert judge.asked[0].conditions == ["dog"]
    right = submit(call, [nikon[0], nikon[2]], {**OCTOBER}, {"constraint": "a dog", "seen": "it"})
    assert right.ok, right.error
    assert answer_of(right).evidence[nikon[0]][-1].score == 0.9


def test_a_look_that_is_dropped_twice_is_told_to_the_person(
    context: ToolContext, call: Call, nikon: list[str]
) -> None:
    context.judge = FakeJudge(sure={nikon[1]: 0.2})
    context.question = "a dog in October 2008"
    call("search_photos", text="dog", when="October 2008")
    assert not submit(call, nikon, OCTOBER).ok
    again = submit(call, nikon, OCTOBER)
    assert again.ok, again.error
    assert answer_of(again).uids == tuple(nikon)
    assert answer_of(again).not_understood == ("dog (step 1)",)


def test_a_set_that_was_ranked_proves_no_look_and_one_that_was_exact_does(
    context: ToolContext, call: Call, album: Album
) -> None:
    context.question = "my cats"
    call("search_photos", text="cats", top_k=200, save_as="ranked")
    ranked = {"constraint": "cats", "in_sets": ["ranked"]}
    books = [album.uid("books.jpg")]
    # The words of the condition are the question's, but a place in a ranking shows no cat.
    assert not submit(call, books, {**ranked, "constraint": "best"}).ok
    exact = call("search_photos", text="cats", exact=True, save_as="exact")
    uids = [row["uid"] for row in exact.data["photos"]]
    assert submit(call, uids, {"constraint": "best", "in_sets": ["exact"]}).ok


def test_an_episode_that_goes_on_has_the_same_ledger(
    context: ToolContext, registry: Registry, nikon: list[str], apple: str
) -> None:
    context.question = "photos from October 2008"
    calls = [
        ToolCall("filter_photos", {"when": "2008", "save_as": "a"}),
        ToolCall("search_photos", {"text": "cats", "within": "a", "save_as": "b"}),
        ToolCall("combine_sets", {"op": "minus", "sets": ["a", "b"], "save_as": "c"}),
        ToolCall("around", {"set": "a", "unit": "day"}),
        ToolCall("submit_answer", {"photos": [apple], "evidence": [WIDE]}),
    ]
    seen = [registry.call(one) for one in calls]
    assert not seen[-1].ok
    fresh = Registry(standard_tools(), _again(context))
    for one, brought in zip(calls, seen, strict=True):
        fresh.put_back(one, brought)
    assert fresh.context.stated == context.stated
    assert context.stated.told
    assert {one.text for one in context.stated.of_set("b")} == {"2008", "cats"}
    assert {one.text for one in context.stated.of_set("c")} == {"2008"}
    assert fresh.call(calls[-1]).ok  # it was told before the cut


def _again(context: ToolContext) -> ToolContext:
    return ToolContext(
        library=context.library,
        catalog=context.catalog,
        make_searcher=context.make_searcher,
        make_encoder=context.make_encoder,
        gazetteer=context.gazetteer,
        today=context.today,
        settings=context.settings,
        question=context.question,
    )


def test_a_fresh_attempt_states_its_own_conditions_and_knows_what_the_sets_came_by(
    context: ToolContext, registry: Registry, call: Call
) -> None:
    call("filter_photos", when="2008", save_as="a")
    registry.begin_anew()
    call("filter_photos", when="2011", within="a", save_as="b")
    assert [(one.text, one.step) for one in context.stated.conditions] == [("2011", 1)]
    assert {one.text for one in context.stated.of_set("b")} == {"2008", "2011"}


def test_the_last_turn_asks_no_more(
    context: ToolContext, registry: Registry, nikon: list[str], apple: str
) -> None:
    context.question = "photos from October 2008"
    submitted = ToolCall("submit_answer", {"photos": [apple], "evidence": [WIDE]})
    seen = registry.call(submitted, last=True)
    assert seen.ok, seen.error
    assert answer_of(seen).not_understood[0].startswith("from October 2008 (")


def test_an_event_s_time_is_not_held_against_the_photos(
    context: ToolContext, call: Call, apple: str
) -> None:
    context.question = "the day after the party in October 2008"
    assert submit(call, [apple], WIDE).ok


EITHER = [
    "photos from Arezzo in 2008 or from Rome in 2011",
    "Fotos aus Arezzo 2008 oder aus Rom 2011",
    "photos d'Arezzo en 2008 ou de Rome en 2011",
    "fotos de Arezzo en 2008 o de Roma en 2011",
    "2008年在托斯卡纳或2011年在罗马的照片",
    "did I take more photos in Arezzo in 2008 than in Rome in 2011?",
]


@pytest.mark.parametrize("question", EITHER)
def test_what_no_photo_can_meet_together_is_asked_for_either_way(
    context: ToolContext, call: Call, album: Album, nikon: list[str], apple: str, question: str
) -> None:
    context.question = question
    assert len(own_conditions(context)) >= 3
    seen = submit(call, [*nikon, apple], WIDE)
    assert seen.ok, seen.data
    assert answer_of(seen).not_understood == ()
    wrong = submit(call, [*nikon, album.uid("ma_test_exif.jpg")], WIDE)
    assert not wrong.ok


@pytest.mark.parametrize("claimed", [[WIDE], [{"constraint": "or", "in_sets": ["both"]}]])
def test_two_searches_put_together_are_held_as_one_and_one_after_the_other_as_two(
    context: ToolContext, call: Call, nikon: list[str], apple: str, claimed: Any
) -> None:
    context.question = "photos from Arezzo or Rome"
    call("filter_photos", where="place('Arezzo')", save_as="arezzo")
    call("filter_photos", where='place("Rome")', save_as="rome")
    call("combine_sets", sets=["arezzo", "rome"], op="or", save_as="both")
    assert call("submit_answer", set="both", evidence=claimed).ok
    context.question, context.own_conditions = "photos from Italy in October 2008", None
    wrong = submit(call, [apple], WIDE)
    assert ("in October 2008", "the question's own words") in conditions(wrong)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("2021", "2022", True),
        ("June 2021", "July 2021", True),
        ("in the morning", "in the evening", True),
        ("June", "July", True),
        ("since 2020", "before 2022", False),
        ("June", "2021", False),
        ("not in 2021", "in 2021", False),
        ("on weekends", "Saturday", False),
    ],
)
def test_times_exclude_one_another_by_what_they_mean(one: str, other: str, apart: bool) -> None:
    first, second = (parse_when(text, today=date(2024, 6, 15)) for text in (one, other))
    assert first.excludes(second) is apart
    assert second.excludes(first) is apart

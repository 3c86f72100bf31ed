"""Runs over real photos whose candidates are pooled: facts by code, looks by the judge, no vote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from fake_judge import FakeJudge
from tool_album import Album

from photocraft_local.agent.answers import answer_of
from photocraft_local.agent.pooling import pooled
from photocraft_local.agent.run_conditions import Ran
from photocraft_local.records import Step, ToolCall
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.sets import PhotoSets
from photocraft_local.tools.standard import standard_tools
from photocraft_local.tools.stated import Ledger

ANY = {"constraint": "any photo", "where": "width > 0"}
OCTOBER = {"constraint": "in October 2008", "when": "October 2008"}
DOG = {"constraint": "a dog", "seen": "a dog"}
Run = Callable[..., Ran]


@pytest.fixture
def nikon(album: Album) -> list[str]:
    return [album.uid(f"ia_DSCN00{n}.jpg") for n in (10, 21, 42)]


@pytest.fixture
def apple(album: Album) -> str:
    return album.uid("me_Apple iPhone 4.jpg")


@pytest.fixture
def run(context: ToolContext) -> Run:
    """run(photos, *claims, calls=…, judge=…) → an answered run; what it submits is accepted."""

    def made(
        photos: list[str], *claims: dict[str, Any], calls: tuple[ToolCall, ...] = (), **more: Any
    ) -> Ran:
        own = replace(context, sets=PhotoSets(), stated=Ledger())
        tools = Registry(standard_tools(), own)
        submit = ToolCall("submit_answer", {"photos": photos, "evidence": list(claims), **more})
        steps = []
        for index, call in enumerate((*calls, submit), start=1):
            steps.append(Step(index, call, tools.call(call, last=call is submit)))
            assert steps[-1].observation.ok, steps[-1].observation.error
        return Ran(answer_of(context.question, steps), steps, own)

    return made


def same_in_any_order(runs: list[Ran], question: str) -> Any:
    found = pooled(runs, question)
    for order in permutations(runs):
        again = pooled(order, question)
        assert (again.answer, again.left_out) == (found.answer, found.left_out)
        assert set(again.notes) == set(found.notes)
    return found


def test_two_runs_that_missed_a_fact_do_not_outvote_one_that_kept_it(
    context: ToolContext, run: Run, nikon: list[str], apple: str
) -> None:
    context.question = "photos from October 2008"
    wrong = run([apple], ANY)  # in the last turn: the person is told
    assert wrong.answer.not_understood
    right = run(nikon[:2], OCTOBER)
    found = same_in_any_order([wrong, wrong, right], context.question)
    assert found.answer.uids == tuple(nikon[:2])
    assert found.answer == pooled([right, wrong], context.question).answer  # nothing is counted
    assert list(found.left_out) == [apple]
    assert found.answer.not_understood == ()


def test_a_photo_that_one_run_missed_is_there_with_its_evidence(
    context: ToolContext, run: Run, nikon: list[str]
) -> None:
    context.question = "a dog in October 2008"
    context.judge = FakeJudge()
    runs = [run(nikon[:1], OCTOBER, DOG), run(nikon[:1], OCTOBER, DOG), run(nikon, OCTOBER, DOG)]
    found = same_in_any_order(runs, context.question)
    assert found.answer.uids == tuple(nikon)
    assert all(piece.met for pieces in found.answer.evidence.values() for piece in pieces)
    assert {one.constraint for one in found.answer.evidence[nikon[2]]} >= {"in October 2008"}


def test_looks_are_decided_by_the_judge_and_not_by_how_many_saw_them(
    context: ToolContext, run: Run, nikon: list[str], album: Album
) -> None:
    context.question = "a dog in October 2008"
    runs = [run(nikon[1:2], OCTOBER, DOG) for _ in range(2)] + [run(nikon[:1], OCTOBER, DOG)]
    for one in runs:
        one.context.judge = FakeJudge(sure={nikon[1]: 0.1})
    found = same_in_any_order(runs, context.question)
    assert found.answer.uids == (nikon[0],)
    assert found.left_out == {nikon[1]: ("a dog",)}
    look = found.answer.evidence[nikon[0]][-1]
    assert (look.score, look.threshold) == (0.9, 0.5)


def test_a_condition_that_one_run_made_up_empties_nothing(
    context: ToolContext, run: Run, nikon: list[str], apple: str
) -> None:
    context.question = "photos of the library"
    made_up = {"constraint": "by a telephone", "where": "camera == 'iphone'"}
    runs = [run(nikon, ANY), run([apple], made_up)]
    found = same_in_any_order(runs, context.question)
    assert set(found.answer.uids) == {*nikon, apple}
    assert any("only some state it" in note for note in found.notes)


def test_a_run_that_found_nothing_is_refuted_by_photos_that_hold(
    context: ToolContext, run: Run, nikon: list[str]
) -> None:
    context.question = "photos from Italy in October 2008"
    gave_up = run([], reason="I found none", calls=(ToolCall("filter_photos", {"when": "2007"}),))
    found = same_in_any_order([gave_up, gave_up, run(nikon, OCTOBER)], context.question)
    assert found.answer.uids == tuple(nikon)
    assert found.answer.reason == ""
    assert {"in October 2008", "from Italy"} <= {
        piece.constraint for piece in found.answer.evidence[nikon[0]]
    }


def test_what_an_empty_run_looked_for_is_held_against_photos_of_others(
    context: ToolContext, run: Run, nikon: list[str]
) -> None:
    context.question = "a dog in October 2008"
    looked = ToolCall("search_photos", {"text": "dog", "when": "October 2008", "exact": True})
    runs = [run(nikon[:1], OCTOBER) for _ in range(2)]
    runs.append(run([], reason="no dog is there", calls=(looked,)))
    for one in runs:
        one.context.judge = FakeJudge(sure=dict.fromkeys(nikon, 0.1))
    found = same_in_any_order(runs, context.question)
    assert found.answer.uids == ()
    assert found.answer.reason == "no dog is there; 1 photo that a run gave broke: dog"


def test_all_empty_is_empty_with_a_reason(context: ToolContext, run: Run) -> None:
    context.question = "unicorns"
    found = same_in_any_order([run([], reason="none"), run([], reason="none")], "unicorns")
    assert (found.answer.uids, found.answer.reason) == ((), "none")


def test_an_anchor_s_condition_is_not_held_against_what_follows_from_it(
    context: ToolContext, run: Run, nikon: list[str], apple: str
) -> None:
    context.question = "photos any time after October 2008"
    first = ToolCall("filter_photos", {"when": "October 2008", "save_as": "trip"})
    after = {
        "constraint": "any time after October 2008",
        "relation": {"set": "trip", "after": "any time", "which": "last"},
    }
    right = run([apple], after, calls=(first,))
    took_it_for_the_target = run(nikon, OCTOBER)
    found = pooled([took_it_for_the_target, took_it_for_the_target, right], context.question)
    assert found.answer.uids == (apple,)


def test_the_foremost_is_the_foremost_of_all_that_hold(
    context: ToolContext, run: Run, nikon: list[str], apple: str
) -> None:
    """Each run took the last of what it had found."""
    context.question = "the last photo"
    runs = []
    for uids in ([nikon[0], apple], nikon[:2]):
        where = " or ".join(f"time == '{time}'" for time in _times(context, uids))
        saved = ToolCall("filter_photos", {"where": where, "save_as": "all"})
        last = {"constraint": "last", "order": {"by": "last", "set": "all", "limit": 1}}
        given = [apple] if apple in uids else [nikon[1]]
        runs.append(run(given, ANY, last, calls=(saved,)))
    assert same_in_any_order(runs, context.question).answer.uids == (apple,)


def _times(context: ToolContext, uids: list[str]) -> list[str]:
    found = [context.library.photo(uid).taken for uid in uids]
    return [one.local.isoformat() for one in found if one]

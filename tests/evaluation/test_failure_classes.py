"""Each published class of failure by its rule, from what an episode shows and the gold set."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from photocraft_local.evaluation.disbench.failure_classes import (
    CLASSES,
    Course,
    course_ids,
    failure_class,
    is_whole,
)
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.records import Observation, Step, ToolCall

GOLD = EvalQuestion("q", "u", "?", frozenset({"a", "b"}), "intra-event")
NONE = replace(GOLD, gold=frozenset())
MAY = date(2012, 5, 4)
DAYS = {"a": MAY, "b": MAY, "c": MAY, "x": date(2014, 1, 1), "y": date(2014, 1, 1)}


def course(listed: str = "", looked_at: str = "", **more: Any) -> Course:
    more = {"status": "answered", "days": DAYS} | more
    return Course(listed=frozenset(listed), looked_at=frozenset(looked_at), **more)


CASES: list[tuple[list[str], Course, str]] = [
    (["a", "b"], course(), ""),
    ([], course(status="failed"), "external failure"),
    ([], course(status="declined"), "query misinterpretation"),
    ([], course(unused_words=("gnu",)), "query misinterpretation"),
    (["z"], course("ab"), "hallucination and bookkeeping"),
    ([], course(status="cut", limit="replies"), "hallucination and bookkeeping"),
    ([], course("ab", status="cut", limit="window"), "hallucination and bookkeeping"),
    (["a", "c"], course("abc", "abc"), "visual discrimination"),
    (["a"], course("abx", "b"), "visual discrimination"),  # the missing one was seen
    ([], course("xy"), "clue mislocalisation"),  # nothing of the right day was ever found
    (["x"], course("x"), "clue mislocalisation"),
    ([], course("xy", status="cut", limit="turns"), "clue mislocalisation"),
    (["x"], course("xc"), "episode misgrounding"),  # the right day had come up
    (["x"], course("abx"), "episode misgrounding"),
    (["a", "c"], course("abc", "ab"), "reasoning breakdown"),  # all of it was at hand
    ([], course("ab"), "reasoning breakdown"),
    ([], course("ab", status="cut", limit="turns"), "reasoning breakdown"),
    # What code cannot tell:
    ([], course("a", status="cut", limit="turns"), "unclassified"),
    ([], course(), "unclassified"),  # nothing was listed at all
    (["a"], course("a"), "unclassified"),  # the right time, and one photo never came up
    (["x"], course("x", days={}), "unclassified"),
    (["x"], course("x", days={"a": MAY, "x": DAYS["x"]}), "unclassified"),  # b has no date
    ([], course("xy", is_whole=False), "unclassified"),  # more was found than was listed
    (["z"], course("x", is_whole=False), "unclassified"),
]


@pytest.mark.parametrize(("predicted", "seen", "expected"), CASES)
def test_a_class_by_its_rule(predicted: list[str], seen: Course, expected: str) -> None:
    assert failure_class(GOLD, predicted, seen) == expected


def test_each_published_class_has_a_case() -> None:
    assert {expected for *_, expected in CASES} == {"", *CLASSES}


def test_days_say_nothing_of_what_happens_again_and_again() -> None:
    often = replace(GOLD, kind="inter-event")
    assert failure_class(often, ["x"], course("xc")) == "unclassified"
    assert failure_class(often, ["x"], course("x")) == "clue mislocalisation"


def test_a_question_without_an_answer_has_no_right_day() -> None:
    assert failure_class(NONE, ["x"], course("x")) == "unclassified"
    assert failure_class(NONE, ["x"], course("x", "x")) == "visual discrimination"


def step(name: str, *images: str, **data: Any) -> Step:
    shown = tuple((uid, b"") for uid in images)
    return Step(1, ToolCall(name, {}), Observation(name, data, images=shown))


def test_what_an_answer_names_was_not_listed_by_it() -> None:
    """``submit_answer`` gives back what it is given, right or wrong."""
    steps = [
        step("search_photos", photos=[{"uid": "a"}], count=1),
        step("ImageSearch", photos=[{"photo_id": "b", "score": 1}], count=1),
        step("view_photos", "c", "d.c1", photos=["c"], count=1),
        step("submit_answer", photos=["a", "z"], count=2),
    ]
    assert course_ids(steps) == ({"a", "b", "c"}, {"c", "d"})
    assert is_whole(steps)


def test_a_result_that_holds_more_than_it_lists() -> None:
    cut = step("filter_photos", photos=[{"uid": "a"}], count=9)
    saved = step("filter_photos", photos=[{"uid": "a"}], count=9, saved_as="may")
    replaced = step("filter_photos", photos=[], count=0, saved_as="may", replaced="an older one")
    events = step("list_events", events=[{"event": 1, "photos": 40}], count=1)
    assert not is_whole([cut])
    assert not is_whole([saved])
    assert is_whole([saved], ["may"])  # its photos are known from the set
    assert not is_whole([saved, replaced], ["may"])
    assert not is_whole([events])
    assert is_whole([step("recall", notes=["a"], count=1), step("filter_photos")])

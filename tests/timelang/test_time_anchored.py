"""Times beside an event that a question names: which words say so, and what they mean."""

from __future__ import annotations

from datetime import date

import pytest
from time_tables import anchored, as_row

from photocraft_local.timelang import find_anchored, find_times

TABLE = anchored()


@pytest.mark.parametrize(("text", "expected"), TABLE.items())
def test_a_time_beside_an_event(text: str, expected: list[tuple[str, ...]]) -> None:
    found = find_anchored(text)
    assert [as_row(text, time) for time in found] == expected
    for time in found:
        assert text[time.start : time.end] == time.text
        assert time.meaning
        assert time.anchor_start < time.anchor_end <= time.stop <= len(text)


def test_the_table_is_as_long_as_it_must_be() -> None:
    assert sum(bool(found) for found in TABLE.values()) >= 90
    assert sum(not found for found in TABLE.values()) >= 20


@pytest.mark.parametrize("text", [text for text, found in TABLE.items() if found])
def test_the_head_of_an_event_is_no_time_by_itself(text: str) -> None:
    """ "on our last day in Florence" has no date: nothing of the head may be read as one."""
    heads = [(time.start, time.end) for time in find_anchored(text) if time.unit != "moment"]
    for mention in find_times(text, today=date(2026, 7, 15)):
        assert all(mention.end <= start or end <= mention.start for start, end in heads)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("the day after the wedding", "the day after"),
        ("an hour before the concert", "at most 1 hour before"),
        ("on our last day in Florence", "the last day of"),
        ("the evening of the party", "17:00 to 22:00 of the day of"),
        ("the second day of the trip", "1 day after the first day of"),
        ("three weeks before the marathon", "3 weeks before"),
        ("since the wedding", "from the beginning of"),
    ],
)
def test_the_meaning_in_words(text: str, meaning: str) -> None:
    assert find_anchored(text)[0].meaning == meaning


@pytest.mark.parametrize(
    ("text", "sure"),
    [("before the house", False), ("after the concert", True), ("before we left", True)],
)
def test_a_thing_behind_the_head_is_not_sure(text: str, sure: bool) -> None:
    assert [time.sure for time in find_anchored(text)] == [sure]


def test_other_words_of_the_question_stay_outside() -> None:
    text = "dogs the day after the wedding, with the iPhone"
    (time,) = find_anchored(text)
    assert text[time.anchor_start : time.anchor_end] == "the wedding"

"""What words for time mean: tables of phrases with their exact meaning, and of phrases that are
no time. Today is Wednesday, 15 July 2026."""

from __future__ import annotations

import contextlib
from datetime import date, datetime

import pytest
from time_phrases import BOUNDS, IMPOSSIBLE, IN_QUESTIONS, MEANINGS, NO_TIME

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import find_times, parse_bound, parse_when
from photocraft_local.timelang.lexicon import table

TODAY = date(2026, 7, 15)


@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_meaning(text: str, meaning: str) -> None:
    assert parse_when(text, today=TODAY).meaning == meaning


@pytest.mark.parametrize("text", NO_TIME)
def test_no_time_in_it(text: str) -> None:
    assert find_times(text, today=TODAY) == []


@pytest.mark.parametrize(("text", "found"), IN_QUESTIONS)
def test_times_in_a_question(text: str, found: list[tuple[str, str]]) -> None:
    mentions = find_times(text, today=TODAY)
    assert [(mention.text, mention.when.meaning) for mention in mentions] == found
    for mention in mentions:
        assert text[mention.start : mention.end] == mention.text == mention.when.text


@pytest.mark.parametrize(("text", "message"), IMPOSSIBLE)
def test_what_does_not_exist_is_an_error_with_the_way_out(text: str, message: str) -> None:
    for read in (parse_when, find_times):
        with pytest.raises(TimeWordsError) as caught:
            read(f"{text}", today=TODAY)
        assert caught.value.message == message
        assert caught.value.hint


def test_an_ambiguous_date_is_both_days_and_says_so() -> None:
    when = parse_when("3/4/2021", today=TODAY)
    assert [start for start, _ in when.intervals] == [datetime(2021, 3, 4), datetime(2021, 4, 3)]
    assert when.notes == (
        "3/4/2021 can be read in either order, 3 April 2021 or 4 March 2021; both are taken",
    )
    with pytest.raises(TimeWordsError, match="needs one date") as caught:
        parse_when("since 3/4/2021", today=TODAY)
    assert "2021-06-14" in caught.value.hint


@pytest.mark.parametrize("text", ["", "dogs", "May dogs", "2021 or so", "x" * 10_000])
def test_words_that_are_left_over_are_an_error(text: str) -> None:
    with pytest.raises(TimeWordsError) as caught:
        parse_when(text, today=TODAY)
    assert "2021-06-14" in caught.value.hint
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(("text", "start", "end"), BOUNDS)
def test_bound(text: str, start: datetime, end: datetime) -> None:
    assert parse_bound(text, today=TODAY) == (start, end)


@pytest.mark.parametrize(
    "text",
    ["2019 and 2021", "in the morning", "since 2019", "weekends", "May and July", "Mondays in May"],
)
def test_a_bound_must_be_one_stretch(text: str) -> None:
    with pytest.raises(TimeWordsError, match="no single stretch of time"):
        parse_bound(text, today=TODAY)


def test_seasons_follow_the_hemisphere() -> None:
    south = parse_when("summer 2021", today=TODAY, hemisphere="south")
    assert south.intervals == ((datetime(2021, 12, 1), datetime(2022, 3, 1)),)
    assert parse_when("in winter", today=TODAY, hemisphere="south").months == (6, 7, 8)


@pytest.mark.parametrize(
    ("today", "meaning"),
    [
        (date(2021, 8, 31), "June 2020 to August 2020"),  # not over yet
        (date(2021, 9, 1), "June 2021 to August 2021"),
        (date(2021, 1, 1), "June 2020 to August 2020"),
    ],
)
def test_last_summer_is_the_latest_that_is_over(today: date, meaning: str) -> None:
    assert parse_when("last summer", today=today).meaning == meaning


def test_every_word_beside_every_other_is_read_or_refused() -> None:
    """Each form of the lexicon between a word before and a word behind: no other error."""
    forms = {" ".join(form) for kind in table().values() for form in kind}
    for form in sorted(forms):
        for text in (f"last {form} ago", f"this {form} 2021", f"since two {form}"):
            with contextlib.suppress(TimeWordsError):
                find_times(text, today=TODAY)


def test_a_long_hostile_question_is_read_in_time() -> None:
    assert find_times("in the last from since between " * 300, today=TODAY) == []

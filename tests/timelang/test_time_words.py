"""What words for time mean: tables of phrases with their exact meaning, and of phrases that are
no time. Today is Wednesday, 15 July 2026."""

from __future__ import annotations

import contextlib
import csv
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest
from time_tables import LANGUAGES, phrases, questions

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import Habits, When, find_times, parse_bound, parse_when
from photocraft_local.timelang.lexicon import table

TODAY = date(2026, 7, 15)
SOUTH = Habits(hemisphere="south")
NO_TIME = (Path(__file__).parent / "no_time.txt").read_text("utf-8").splitlines()
ALL = [pair for language in LANGUAGES for pair in phrases(language)]

IMPOSSIBLE = [
    ("0/5/2021", "there is no date '0/5/2021'"),
    ("00.05.2021", "there is no date '00.05.2021'"),
    ("day 400 of 2021", "there is no day 400 in 2021"),
    ("month 13 of 2021", "there is no such part between 2021-01-01 and 2021-12-31"),
    ("the 13th month", "a year has no month 13"),
    ("in the 1700s", "no photo can be of the 1700s"),
    ("in the 18th century", "no photo can be of the 18th century"),
    ("um 25 Uhr", "there is no time of day '25'"),
    ("at half past 27", "there is no time of day '27'"),
    ("12点75分", "no hour has 75 minutes"),
    ("2021-02-30", "there is no 30 February 2021"),
    ("2021-13-01", "there is no month 13"),
    ("2021-14-02", "there is no month 14"),
    ("2021-13", "there is no month 13"),
    ("29 February 2021", "there is no 29 February 2021"),
    ("february 29 2021", "there is no 29 February 2021"),
    ("30 February", "there is no 30 February"),
    ("31 June 2022", "there is no 31 June 2022"),
    ("the 35th of July 2023", "there is no 35 July 2023"),
    ("31 April", "there is no 31 April"),
    ("April 31, 2020", "there is no 31 April 2020"),
    ("31.04.2020", "there is no 31 April 2020"),
    ("31. Juni 2022", "there is no 31 June 2022"),
    ("31 juin 2022", "there is no 31 June 2022"),
    ("31 de junio de 2022", "there is no 31 June 2022"),
    ("2021年2月30日", "there is no 30 February 2021"),
    ("3-50 May 2021", "there is no 50 May 2021"),
    ("25:00", "there is no time of day '25:00'"),
    ("2021-06-01 10:75", "there is no time of day '10:75'"),
    ("from May 2021 to March 2020", "the time from 2021-05-01 to 2020-04-01 ends before it begins"),
    ("13/2021", "there is no month 13"),
    ("13/13/2021", "there is no date '13/13/2021': no month 13"),
    ("900 decades ago", "900 decades from today is outside the calendar"),
    ("Saturday 14 June 2020", "14 June 2020 was a Sunday, not a Saturday"),
    ("week 54 of 2021", "there is no week 54 in 2021"),
    (
        "fifth Saturday of June 2021",
        "there is no such part between 2021-06-01 and 2021-06-30",
    ),
    ("the thirtieth of February", "there is no 30 February"),
    ("the thirty-first of June", "there is no 31 June"),
    ("am dreißigsten Februar", "there is no 30 February"),
    ("le trente février", "there is no 30 February"),
    ("el treinta de febrero", "there is no 30 February"),
    ("二月三十日", "there is no 30 February"),
    ("am 31.6.", "there is no 31 June"),
    ("31. 6. 2021", "there is no 31 June 2021"),
    ("12/32/2021", "there is no date '12/32/2021': no day 32"),
    ("02/30/2022", "there is no 30 February 2022"),
    ("2022-00-10", "there is no month 0"),
    ("0 May 2021", "there is no 0 May 2021"),
    ("Q5 2020", "there is no quarter 5"),
    ("13 pm", "there is no time of day '13 pm'"),
    ("25 o'clock", "there is no time of day '25'"),
    ("the 13th month of 2021", "there is no such part between 2021-01-01 and 2021-12-31"),
    ("the year 3000", "no photo can be of the year 3000"),
    ("the year 0", "no photo can be of the year 0"),
    (
        "the sixth Saturday of June 2021",
        "there is no such part between 2021-06-01 and 2021-06-30",
    ),
    ("Diwali 1950", "the date of diwali 1950 is not known"),
]

BOUNDS = [
    ("2021-06", datetime(2021, 6, 1), datetime(2021, 7, 1)),
    ("2021-06-14", datetime(2021, 6, 14), datetime(2021, 6, 15)),
    ("2021", datetime(2021, 1, 1), datetime(2022, 1, 1)),
    ("summer 2021", datetime(2021, 6, 1), datetime(2021, 9, 1)),
    ("yesterday", datetime(2026, 7, 14), datetime(2026, 7, 15)),
    ("May", datetime(2026, 5, 1), datetime(2026, 6, 1)),
    ("December", datetime(2025, 12, 1), datetime(2026, 1, 1)),
    ("winter", datetime(2025, 12, 1), datetime(2026, 3, 1)),
    ("3 August", datetime(2025, 8, 3), datetime(2025, 8, 4)),
    ("Monday", datetime(2026, 7, 13), datetime(2026, 7, 14)),
    ("Easter", datetime(2026, 4, 3), datetime(2026, 4, 7)),
    ("Christmas 2020", datetime(2020, 12, 24), datetime(2020, 12, 27)),
]


@pytest.mark.parametrize(("text", "expected"), ALL)
def test_meaning(text: str, expected: When) -> None:
    assert replace(parse_when(text, today=TODAY), text="") == expected


def test_the_tables_are_as_long_as_they_must_be() -> None:
    count = {language: len(phrases(language)) for language in LANGUAGES}
    assert count["en"] >= 200
    assert min(count.values()) >= 40
    assert len(set(NO_TIME)) == len(NO_TIME) >= 100


@pytest.mark.parametrize("text", [*NO_TIME, "", "?!"])
def test_no_time_in_it(text: str) -> None:
    assert find_times(text, today=TODAY) == []


def test_what_people_write_under_photos_names_hardly_a_time(shared: Path) -> None:
    with (shared / "data" / "captioned" / "captions.csv").open(encoding="utf-8") as file:
        captions = {row[f"caption_{n}"] for row in csv.DictReader(file) for n in range(1, 6)}
    found = [mention.text for text in captions for mention in find_times(text, today=TODAY)]
    assert len(captions) > 400
    assert set(found) == {"Fall 2023"}  # a heading of a calendar, rightly


@pytest.mark.parametrize(("text", "found"), questions())
def test_times_in_a_question(text: str, found: list[tuple[str, When, bool]]) -> None:
    mentions = find_times(text, today=TODAY)
    read = [(m.text, replace(m.when, text="", notes=()), m.negated) for m in mentions]
    assert read == found
    for mention in mentions:
        assert text[mention.start : mention.end] == mention.text == mention.when.text


@pytest.mark.parametrize(("text", "message"), IMPOSSIBLE)
def test_what_does_not_exist_is_an_error_with_the_way_out(text: str, message: str) -> None:
    for read, said in (
        (parse_when, text),
        (find_times, text),
        (find_times, f"Please show me the photos from {text} with dogs in Lisbon"),
    ):
        with pytest.raises(TimeWordsError) as caught:
            read(said, today=TODAY)
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
    [
        "2019 and 2021", "in the morning", "since 2019", "weekends", "May and July",
        "Mondays in May", "not in 2021", "3/4/2021", "2021 except May", "on the 25th",
    ],
)  # fmt: skip
def test_a_bound_must_be_one_stretch(text: str) -> None:
    with pytest.raises(TimeWordsError, match="no single stretch of time"):
        parse_bound(text, today=TODAY)


def test_seasons_follow_the_hemisphere() -> None:
    south = parse_when("summer 2021", today=TODAY, habits=SOUTH)
    assert south.intervals == ((datetime(2021, 12, 1), datetime(2022, 3, 1)),)
    assert parse_when("in winter", today=TODAY, habits=SOUTH).months == (6, 7, 8)
    last = parse_when("last summer", today=TODAY, habits=SOUTH)
    assert last.intervals == ((datetime(2025, 12, 1), datetime(2026, 3, 1)),)
    running = parse_when("this winter", today=TODAY, habits=SOUTH)
    assert running.intervals == ((datetime(2026, 6, 1), datetime(2026, 9, 1)),)


@pytest.mark.parametrize(
    ("text", "first_weekday", "start"),
    [
        ("this week", 0, datetime(2026, 7, 13)),
        ("this week", 6, datetime(2026, 7, 12)),
        ("last week", 6, datetime(2026, 7, 5)),
        ("next week", 6, datetime(2026, 7, 19)),
        ("two weeks ago", 6, datetime(2026, 6, 28)),
        ("the week of 4 July 2021", 6, datetime(2021, 7, 4)),  # a Sunday
        ("the week of 4 July 2021", 0, datetime(2021, 6, 28)),
    ],
)
def test_weeks_begin_on_the_day_that_is_said(
    text: str, first_weekday: int, start: datetime
) -> None:
    when = parse_when(text, today=TODAY, habits=Habits(first_weekday=first_weekday))
    assert when.intervals[0][0] == start
    assert (when.intervals[0][1] - start).days == 7


@pytest.mark.parametrize(
    ("text", "today", "meaning"),
    [
        ("last summer", date(2021, 8, 31), "June 2020 to August 2020"),  # not over yet
        ("last summer", date(2021, 9, 1), "June 2021 to August 2021"),
        ("last summer", date(2021, 1, 1), "June 2020 to August 2020"),
        ("this winter", date(2021, 1, 15), "December 2020 to February 2021"),  # it runs
        ("this winter", date(2021, 11, 15), "December 2020 to February 2021"),
        ("this summer", date(2021, 3, 1), "June 2021 to August 2021 (still to come)"),
        ("next summer", date(2021, 3, 1), "June 2021 to August 2021 (still to come)"),
        ("next summer", date(2021, 7, 1), "June 2022 to August 2022 (still to come)"),
        (
            "this Christmas",
            date(2021, 3, 1),
            "24 December 2021 to 26 December 2021 (still to come)",
        ),
        ("last July", date(2023, 7, 15), "July 2022"),
        ("last July", date(2023, 8, 15), "July 2023"),
    ],
)
def test_a_season_counts_from_today(text: str, today: date, meaning: str) -> None:
    assert parse_when(text, today=today).meaning == meaning


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("last summer", "June 2025 to August 2025"),
        ("since 3 May 2021", "from 3 May 2021 on"),
        ("before 2020", "before 1 January 2020"),
        ("2019 and 2021", "2019 or 2021"),
        ("mornings in winter", "January, February or December, 05:00 to 12:00"),
        ("weekends in summer 2019", "June 2019 to August 2019, Saturday or Sunday"),
        ("at night", "21:00 to 05:00"),
        ("at 18:30", "18:15 to 18:45 (taken as 15 minutes on either side)"),
        ("the Monday after Easter", "the Monday after Easter"),
        ("two days before Easter", "2 days before Easter"),
        ("on New Year's Eve", "31 December"),
        ("除夕", "Chinese New Year's Eve"),
        ("on the 25th", "day 25 of a month"),
        ("not in 2021", "any time, not 2021"),
        ("2022 but not in August", "2022, not August"),
        ("la nuit du 3 mai 2021", "3 May 2021 21:00 to 4 May 2021 05:00"),
        ("first Saturday of June", "1 June to 7 June, Saturday"),
        ("winter 2021", "December 2021 to February 2022 (the winter that begins in December 2021)"),
    ],
)
def test_a_meaning_in_words(text: str, meaning: str) -> None:
    assert parse_when(text, today=TODAY).meaning == meaning


def test_every_word_beside_every_other_is_read_or_refused() -> None:
    """Each form of the lexicon between a word before and a word behind: no other error."""
    forms = {" ".join(form) for kind in table().values() for form in kind}
    around = ("last {} ago", "this {} 2021", "since two {}", "the {} before {}", "not {} and {}")
    for at, form in enumerate(sorted(forms)):
        with contextlib.suppress(TimeWordsError):
            find_times(around[at % len(around)].format(form, form), today=TODAY)

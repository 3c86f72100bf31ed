"""What holds on any calendar: a meaning contains its own dates, edges are half-open, and the
written filter says the same as ``contains``."""

from __future__ import annotations

import calendar
import re
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from time_tables import LANGUAGES, phrases

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import (
    TimeMention,
    When,
    find_anchored,
    find_times,
    parse_bound,
    parse_when,
)
from photocraft_local.timelang.holidays import cores_in_year, holidays, in_year
from photocraft_local.timelang.wording import MONTHS, WEEKDAYS

dates = st.dates(date(1900, 1, 1), date(2098, 12, 31))
moments = st.datetimes(datetime(1900, 1, 1), datetime(2098, 12, 31))
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)


def first_moment(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


@given(dates, dates)
def test_every_spelling_of_a_day_is_that_day(day: date, today: date) -> None:
    month = MONTHS[day.month - 1]
    spellings = [
        day.isoformat(),
        f"{day:%Y/%m/%d}",
        f"{day.day}.{day.month}.{day.year}",
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
    ]
    expected = (first_moment(day), first_moment(day) + DAY)
    for spelling in spellings:
        assert parse_when(spelling, today=today).intervals == (expected,), spelling
        assert parse_bound(spelling, today=today) == expected


@given(dates, dates)
def test_a_month_and_a_year_hold_exactly_their_days(day: date, today: date) -> None:
    month = parse_when(f"{day:%Y-%m}", today=today)
    year = parse_when(str(day.year), today=today)
    start, end = month.intervals[0]
    assert month.contains(first_moment(day))
    assert month.contains(start)
    assert month.contains(end - SECOND)
    assert not month.contains(start - SECOND)
    assert not month.contains(end)
    assert year.contains(start)
    assert year.contains(end - SECOND)


@given(dates, dates, dates)
def test_a_range_holds_both_ends_whole(one: date, other: date, today: date) -> None:
    low, high = sorted((one, other))
    for words in (f"from {low} to {high}", f"between {low} and {high}", f"{low}/{high}"):
        when = parse_when(words, today=today)
        assert when.intervals == ((first_moment(low), first_moment(high) + DAY),)
    if low < high:
        with pytest.raises(TimeWordsError, match="ends before it begins"):
            parse_when(f"from {high} to {low}", today=today)


@given(dates, dates, moments)
def test_before_since_after_and_until_cut_where_they_say(
    day: date, today: date, moment: datetime
) -> None:
    start, end = first_moment(day), first_moment(day) + DAY
    read = {
        relation: parse_when(f"{relation} {day}", today=today).contains(moment)
        for relation in ("before", "since", "after", "until")
    }
    assert read == {
        "before": moment < start,
        "since": moment >= start,
        "after": moment >= end,
        "until": moment < end,
    }


@given(dates)
def test_times_counted_from_today_stay_in_order(today: date) -> None:
    now = first_moment(today)
    for unit in ("week", "month", "year"):
        last = parse_when(f"last {unit}", today=today).intervals[0]
        this = parse_when(f"this {unit}", today=today).intervals[0]
        assert last[0] < last[1] == this[0] <= now < this[1]
        assert parse_when(f"1 {unit} ago", today=today).intervals == (last,)
    for name in ("spring", "summer", "autumn", "winter", "May", "Monday", "weekend"):
        start, end = parse_when(f"last {name}", today=today).intervals[0]
        assert start < end <= now
        assert now - end < timedelta(days=366)
    rolling = parse_when("the last 3 days", today=today).intervals[0]
    assert rolling == (now - 2 * DAY, now + DAY)


@given(st.integers(1900, 2098), dates)
def test_29_february_exists_in_leap_years_only(year: int, today: date) -> None:
    if calendar.isleap(year):
        when = parse_when(f"29 February {year}", today=today)
        assert when.contains(datetime(year, 2, 29, 12))
    else:
        with pytest.raises(TimeWordsError) as caught:
            parse_when(f"29 February {year}", today=today)
        assert "28 days" in caught.value.hint


@given(moments, dates)
def test_recurring_words_hold_their_own_moments(moment: datetime, today: date) -> None:
    month, weekday = MONTHS[moment.month - 1], WEEKDAYS[moment.weekday()]
    assert parse_when(f"in {month}", today=today).contains(moment)
    assert parse_when(f"on {weekday}s", today=today).contains(moment)
    assert parse_when(f"{moment.day} {month}", today=today).contains(moment)
    assert parse_when(f"on {weekday}s in {month} {moment.year}", today=today).contains(moment)
    parts = ("in the morning", "in the afternoon", "in the evening", "at night")
    assert any(parse_when(part, today=today).contains(moment) for part in parts)


PIECES = (
    "in,the,last,from,to,between,and,or,before,since,May,march,3,5,2021,2019,Sunday,morning,night,"
    "summer,days,ago,.,-,weekend,2021-06-01,10:30,90s,early,until,5月,去年,im,vor,le,first,am,day,"
    "after,wedding,we,our,Christmas,not,around,week,of,half,past,six,婚礼,后的第二天,31,last,nach,der"
)
WORDS = st.sampled_from([*PIECES.split(","), ","])


@settings(max_examples=200)
@given(st.lists(WORDS, max_size=10), st.sampled_from([" ", "", "-", "\n"]), dates)
def test_mentions_never_overlap_and_are_pieces_of_the_text(
    words: list[str], between: str, today: date
) -> None:
    text = between.join(words)
    end = 0
    for mention in _read_or_refused(text, today):
        assert end <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.text
        assert mention.when.meaning
        end = mention.end


@given(st.text(max_size=60), dates)
def test_any_text_is_read_or_refused_with_a_hint(text: str, today: date) -> None:
    _read_or_refused(text, today)


def _read_or_refused(text: str, today: date) -> list[TimeMention]:
    """The mentions; none if the text holds a date that does not exist and the error says so."""
    for time in find_anchored(text):  # never an error: what is wrong with a date, find_times says
        assert text[time.start : time.end] == time.text
        assert time.meaning
    try:
        return find_times(text, today=today)
    except TimeWordsError as error:
        if not error.hint:
            raise AssertionError("an error without a way out") from error
        return []


PHRASES = st.sampled_from([text for language in LANGUAGES for text, _ in phrases(language)])


@settings(max_examples=400)
@given(PHRASES, moments)
def test_the_written_filter_says_what_the_meaning_says(phrase: str, moment: datetime) -> None:
    when = parse_when(phrase, today=date(2026, 7, 15))
    for asked in (moment, *_edges(when)):
        assert _passes(when.to_expression(), asked) == when.contains(asked), asked


def _edges(when: When) -> list[datetime]:
    inside = [m for pair in when.intervals for m in pair if datetime.min < m < datetime.max]
    return [moment + shift for moment in inside for shift in (-SECOND, timedelta(0), SECOND)]


def _passes(expression: str, moment: datetime) -> bool:
    """A second, independent reading of the filter language, for this test only."""
    facts = {
        "time": moment.isoformat(timespec="microseconds"),
        "date": moment.date().isoformat(),
        "month": moment.month,
        "day": moment.day,
        "hour": moment.hour,
        "clock": f"{moment:%H:%M}",
        "has_time": True,
        "holiday": lambda name: any(
            start <= moment < end
            for year in (moment.year - 1, moment.year)
            for start, end in in_year(name, year)
        ),
        "weekday": ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[moment.weekday()],
    }
    assert re.fullmatch(r"[\w\s()\"'=<>,:.+'-]*", expression)
    return bool(eval(expression, {"__builtins__": {}}, facts))


@given(st.integers(1900, 2098), st.sampled_from(sorted(holidays())), dates)
def test_a_holiday_of_a_year_holds_its_days_and_steps_leave_it(
    year: int, name: str, today: date
) -> None:
    form = holidays()[name].forms[0].lstrip("~")
    if not in_year(name, year) or not form.isascii() or name == "new year":
        return
    start, end = in_year(name, year)[0]
    assert parse_when(f"{form} {year}", today=today).intervals == ((start, end),)
    every_year = parse_when(f"on {form}", today=today)
    for moment in (start, end - SECOND):
        assert every_year.contains(moment)
    low, high = cores_in_year(name, year)[0]
    before = parse_when(f"the day before {form} {year}", today=today).intervals[0]
    after = parse_when(f"the day after {form} {year}", today=today).intervals[0]
    assert (before, after) == ((low - DAY, low), (high, high + DAY))


@given(dates, st.sampled_from(WEEKDAYS), st.sampled_from(["before", "after"]), dates)
def test_a_weekday_beside_a_day_is_the_nearest_on_that_side(
    day: date, weekday: str, side: str, today: date
) -> None:
    start, end = parse_when(f"the {weekday} {side} {day}", today=today).intervals[0]
    assert WEEKDAYS[start.weekday()] == weekday
    assert end - start == DAY
    away = (start - first_moment(day)).days * (1 if side == "after" else -1)
    assert 1 <= away <= 7


@given(st.integers(1900, 2098), st.integers(1, 12), st.sampled_from(WEEKDAYS), dates)
def test_the_nth_weekdays_of_a_month_are_all_of_them(
    year: int, month: int, weekday: str, today: date
) -> None:
    days = [date(year, month, d) for d in range(1, calendar.monthrange(year, month)[1] + 1)]
    expected = [first_moment(d) for d in days if WEEKDAYS[d.weekday()] == weekday]
    name = f"{weekday} of {MONTHS[month - 1]} {year}"
    read = [
        parse_when(f"the {nth} {name}", today=today).intervals[0][0]
        for nth in ("first", "second", "third", "fourth")
    ]
    assert read == expected[:4]
    assert parse_when(f"last {name}", today=today).intervals[0][0] == expected[-1]


@given(st.integers(0, 23), st.integers(0, 59), dates, moments)
def test_before_and_after_a_clock_time_part_the_day(
    hour: int, minute: int, today: date, moment: datetime
) -> None:
    clock = f"{hour:02d}:{minute:02d}"
    before = clock == "00:00" or parse_when(f"before {clock}", today=today).contains(moment)
    after = parse_when(f"since {clock}", today=today).contains(moment)
    earlier = (moment.hour, moment.minute) < (hour, minute)
    assert (before if clock != "00:00" else False) == earlier
    assert after == (not earlier)


@given(st.sampled_from([(2021, 3, 28), (2021, 10, 31), (2020, 3, 8), (2020, 2, 29)]), dates)
def test_days_of_23_and_25_hours_and_leap_days_are_whole_on_the_wall(
    day: tuple[int, int, int], today: date
) -> None:
    midnight = datetime(*day)
    when = parse_when(f"{midnight:%Y-%m-%d}", today=today)
    minutes = [midnight + timedelta(minutes=m) for m in range(-1, 24 * 60 + 1)]
    assert [when.contains(moment) for moment in minutes] == [False, *[True] * 24 * 60, False]


@settings(max_examples=200)
@given(PHRASES, PHRASES, moments)
def test_a_not_and_an_and_hold_as_their_parts_do(one: str, other: str, moment: datetime) -> None:
    today = date(2026, 7, 15)
    left, right = parse_when(one, today=today), parse_when(other, today=today)
    assert left.negated().contains(moment) == (not left.contains(moment))
    night = ((0, 300), (1260, 1440))
    if night in (left.hours, right.hours):
        return  # a night belongs to the day on which it begins, which "and" alone does not say
    both = left & right
    assert both.contains(moment) == (left.contains(moment) and right.contains(moment))
    assert _passes(both.to_expression(), moment) == both.contains(moment)

"""What words for time mean: tables of phrases with their exact meaning, and of phrases that are
no time. Today is Wednesday, 15 July 2026."""

from __future__ import annotations

import contextlib
from datetime import date, datetime

import pytest

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import find_times, parse_bound, parse_when
from photocraft_local.timelang.lexicon import table

TODAY = date(2026, 7, 15)

MEANINGS = [
    # ISO and numeric dates
    ("2021-06-01", "1 June 2021"),
    ("2021-6-1", "1 June 2021"),
    ("2021/06/01", "1 June 2021"),
    ("20210601", "1 June 2021"),
    ("2021-06-01T10:30", "1 June 2021 10:30 to 1 June 2021 10:31"),
    ("2021-06", "June 2021"),
    ("2021", "2021"),
    ("the year 2000", "2000"),
    ("3.5.2021", "3 May 2021"),
    ("3.5.21", "3 May 2021"),
    ("13/04/2021", "13 April 2021"),
    ("04/13/2021", "13 April 2021"),
    ("03/03/2021", "3 March 2021"),
    ("06/2021", "June 2021"),
    ("6/2021", "June 2021"),
    ("06.2021", "June 2021"),
    ("2021-05-03/2021-05-09", "3 May 2021 to 9 May 2021"),
    # named days, months, years
    ("3 May 2021", "3 May 2021"),
    ("May 3rd, 2021", "3 May 2021"),
    ("May 3 2021", "3 May 2021"),
    ("the 3rd of May 2021", "3 May 2021"),
    ("first of May 2020", "1 May 2020"),
    ("29 February 2020", "29 February 2020"),
    ("5 Dec", "5 December"),
    ("on July 4th", "4 July"),
    ("29 February", "29 February"),
    ("May 2021", "May 2021"),
    ("May, 2021", "May 2021"),
    ("Sept. 2021", "September 2021"),
    ("May '21", "May 2021"),
    ("in May", "May"),
    ("the 90s", "1990 to 1999"),
    ("the 1950s", "1950 to 1959"),
    ("the nineties", "1990 to 1999"),
    # seasons
    ("summer 2021", "June 2021 to August 2021"),
    ("the summer of '69", "June 1969 to August 1969"),
    ("fall 2019", "September 2019 to November 2019"),
    ("in spring", "March, April or May"),
    (
        "winter 2021",
        "December 2021 to February 2022 (the winter that begins in December 2021)",
    ),
    ("winter 2020/21", "December 2020 to February 2021"),
    ("the winter of 2020-2021", "December 2020 to February 2021"),
    # thirds
    ("early 2021", "January 2021 to April 2021"),
    ("mid-May 2021", "11 May 2021 to 20 May 2021"),
    ("late February 2021", "21 February 2021 to 28 February 2021"),
    ("the end of June", "21 June to 30 June"),
    # ranges: both ends belong to them
    ("2019-2021", "2019 to 2021"),
    ("2019-21", "2019 to 2021"),
    ("2019/2020", "2019 to 2020"),
    ("end of 2019", "September 2019 to December 2019"),
    ("beginning of May 2021", "1 May 2021 to 10 May 2021"),
    ("2019 to 2021", "2019 to 2021"),
    ("between 2019 and 2021", "2019 to 2021"),
    ("from 2019 until May 2021", "January 2019 to May 2021"),
    ("between May and July", "May, June or July"),
    ("from November to February", "January, February, November or December"),
    ("from May to July 2021", "May 2021 to July 2021"),
    ("November to February 2021", "November 2020 to February 2021"),
    ("between 2 and 5 May", "2 May to 5 May"),
    ("3-5 May 2021", "3 May 2021 to 5 May 2021"),
    ("May 3-5, 2021", "3 May 2021 to 5 May 2021"),
    ("from 28 April to 3 May 2021", "28 April 2021 to 3 May 2021"),
    ("28 December to 3 January", "28 December to 3 January"),
    ("from 2021-05-03 to 2021-05-09", "3 May 2021 to 9 May 2021"),
    ("between May 2020 and now", "1 May 2020 to 15 July 2026"),
    ("from Monday to Friday", "Monday, Tuesday, Wednesday, Thursday or Friday"),
    ("between 8 and 10 am", "08:00 to 10:00"),
    ("from 9 am to 5 pm", "09:00 to 17:00"),
    # one-sided: since X holds X, after X does not
    ("before 2020", "before 1 January 2020"),
    ("before 3 May 2021", "before 3 May 2021"),
    ("after June 2021", "from 1 July 2021 on"),
    ("after 2020-05-03", "from 4 May 2020 on"),
    ("since 2019", "from 1 January 2019 on"),
    ("from 2019 on", "from 1 January 2019 on"),
    ("2019 onwards", "from 1 January 2019 on"),
    ("until May 2021", "before 1 June 2021"),
    ("since January", "from 1 January 2026 on"),
    ("since August", "from 1 August 2025 on"),
    ("before May", "before 1 May 2026"),
    ("since Monday", "from 13 July 2026 on"),
    ("since last summer", "from 1 June 2025 on"),
    ("before noon", "00:00 to 12:00"),
    ("after 6 pm", "18:00 to 24:00"),
    # lists
    ("2019 and 2021", "2019 or 2021"),
    ("2018, 2019 or 2021", "2018 to 2019 or 2021"),
    ("May and June 2021", "May 2021 to June 2021"),
    ("3, 5 and 7 May 2021", "3 May 2021, 5 May 2021 or 7 May 2021"),
    ("on 1 and 2 May", "1 May or 2 May"),
    ("Saturday or Sunday", "Saturday or Sunday"),
    # weekdays, parts of the day, hours
    ("on Sundays", "Sunday"),
    ("weekends in 2020", "2020, Saturday or Sunday"),
    ("in the morning", "05:00 to 12:00"),
    ("in the afternoon", "12:00 to 18:00"),
    ("in the evening", "17:00 to 22:00"),
    ("at night", "21:00 to 05:00"),
    ("at noon", "11:00 to 14:00"),
    ("at midnight", "23:00 to 01:00"),
    ("at 3 pm", "15:00 to 16:00"),
    ("at 15:30", "15:00 to 16:00 (taken as the full hour)"),
    ("at 5 in the afternoon", "17:00 to 18:00"),
    ("at 9 o'clock", "09:00 to 10:00"),
    # together
    ("Sunday mornings in summer 2019", "June 2019 to August 2019, Sunday, 05:00 to 12:00"),
    ("mornings in winter", "January, February or December, 05:00 to 12:00"),
    ("in the evening of 3 May 2021", "3 May 2021, 17:00 to 22:00"),
    ("3 May 2021 at night", "3 May 2021 21:00 to 4 May 2021 05:00"),
    ("on a Friday in May", "May, Friday"),
    ("in May last year", "2025, May"),
    # counted from today
    ("today", "15 July 2026"),
    ("yesterday", "14 July 2026"),
    ("the day before yesterday", "13 July 2026"),
    ("yesterday evening", "14 July 2026, 17:00 to 22:00"),
    ("last night", "14 July 2026 18:00 to 15 July 2026 05:00"),
    ("this morning", "15 July 2026 05:00 to 15 July 2026 12:00"),
    ("last century", "1900 to 1999"),
    ("this decade", "2020 to 2029"),
    ("the week of 1 July 2021", "28 June 2021 to 4 July 2021"),
    ("the weekend of July 4th, 2021", "3 July 2021 to 4 July 2021"),
    ("weekend of 2021-07-02", "3 July 2021 to 4 July 2021"),
    ("last week", "6 July 2026 to 12 July 2026"),
    ("this week", "13 July 2026 to 19 July 2026"),
    ("last month", "June 2026"),
    ("this month", "July 2026"),
    ("last year", "2025"),
    ("this year", "2026"),
    ("last summer", "June 2025 to August 2025"),
    ("this summer", "June 2026 to August 2026"),
    ("last winter", "December 2025 to February 2026"),
    ("last May", "May 2026"),
    ("last July", "July 2025"),
    ("last Monday", "13 July 2026"),
    ("last Wednesday", "8 July 2026"),
    ("last weekend", "11 July 2026 to 12 July 2026"),
    ("3 days ago", "12 July 2026"),
    ("a week ago", "6 July 2026 to 12 July 2026"),
    ("two months ago", "May 2026"),
    ("two years ago", "2024"),
    ("two summers ago", "June 2024 to August 2024"),
    ("the last 3 days", "13 July 2026 to 15 July 2026"),
    ("the past two weeks", "2 July 2026 to 15 July 2026"),
    ("within the last month", "16 June 2026 to 15 July 2026"),
    # German
    ("im Mai 2021", "May 2021"),
    ("3. Mai 2021", "3 May 2021"),
    ("am 1. und 2. Mai 2021", "1 May 2021 to 2 May 2021"),
    ("im März", "March"),
    ("Februar 2020", "February 2020"),
    ("Okt. 2020", "October 2020"),
    ("im Sommer 2019", "June 2019 to August 2019"),
    ("letzten Sommer", "June 2025 to August 2025"),
    ("letztes Jahr", "2025"),
    ("vorgestern", "13 July 2026"),
    ("vor 3 Jahren", "2023"),
    ("vor 2020", "before 1 January 2020"),
    ("seit 2019", "from 1 January 2019 on"),
    ("bis Mai 2021", "before 1 June 2021"),
    ("zwischen 2. und 5. Mai 2021", "2 May 2021 to 5 May 2021"),
    ("vom 1. bis 5. Mai 2021", "1 May 2021 to 5 May 2021"),
    ("in den 90er Jahren", "1990 to 1999"),
    ("Ende Juni 2020", "21 June 2020 to 30 June 2020"),
    ("sonntags im Winter", "January, February or December, Sunday"),
    ("um 8 Uhr morgens", "08:00 to 09:00"),
    ("am Abend des 3. Mai 2021", "3 May 2021, 17:00 to 22:00"),
    # French
    ("en mai 2021", "May 2021"),
    ("le 3 mai 2021", "3 May 2021"),
    ("1er janvier 2020", "1 January 2020"),
    ("août 2019", "August 2019"),
    ("février", "February"),
    ("l'été dernier", "June 2025 to August 2025"),
    ("l'année dernière", "2025"),
    ("il y a deux ans", "2024"),
    ("avant 2020", "before 1 January 2020"),
    ("depuis mai 2021", "from 1 May 2021 on"),
    ("du 3 au 5 mai 2021", "3 May 2021 to 5 May 2021"),
    ("les années 90", "1990 to 1999"),
    ("les 3 derniers mois", "16 April 2026 to 15 July 2026"),
    ("le week-end dernier", "11 July 2026 to 12 July 2026"),
    ("la nuit du 3 mai 2021", "3 May 2021 21:00 to 4 May 2021 05:00"),
    # Spanish
    ("en mayo de 2021", "May 2021"),
    ("el 3 de mayo de 2021", "3 May 2021"),
    ("enero", "January"),
    ("el verano pasado", "June 2025 to August 2025"),
    ("la semana pasada", "6 July 2026 to 12 July 2026"),
    ("hace 3 años", "2023"),
    ("antes de 2020", "before 1 January 2020"),
    ("después de mayo de 2020", "from 1 June 2020 on"),
    ("entre 2018 y 2020", "2018 to 2020"),
    ("ayer por la tarde", "14 July 2026, 12:00 to 18:00"),
    # Chinese
    ("2021年5月3日", "3 May 2021"),
    ("2021年5月", "May 2021"),
    ("二〇二一年五月", "May 2021"),
    ("五月", "May"),
    ("2021年夏天", "June 2021 to August 2021"),
    ("去年", "2025"),
    ("去年夏天", "2025, June, July or August"),
    ("三年前", "2023"),
    ("2020年以前", "before 1 January 2020"),
    ("2018年以后", "from 1 January 2019 on"),
    ("自2018年以来", "from 1 January 2018 on"),
    ("2018年到2020年", "2018 to 2020"),
    ("上个月", "June 2026"),
    ("星期天早上", "Sunday, 05:00 to 12:00"),
    ("下午3点", "15:00 to 16:00"),
]


@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_meaning(text: str, meaning: str) -> None:
    assert parse_when(text, today=TODAY).meaning == meaning


NO_TIME = [
    "may I see the dogs",
    "photos that may show a cat",
    "May wears a red dress",
    "people march in the street",
    "a march through the city",
    "a man named August",
    "April smiling",
    "June and April at the party",
    "a second look at the house",
    "the second photo",
    "a sunny day at the beach",
    "leaves fall from the tree",
    "a child may fall into the water",
    "the fall of Rome",
    "spring water in a bottle",
    "a hot spring in Iceland",
    "a metal spring",
    "jumping in the spring water",
    "a summer dress",
    "winter coats",
    "an evening dress",
    "afternoon tea",
    "good morning sign",
    "morning glory flowers",
    "the night sky",
    "night market in Taipei",
    "a midnight blue car",
    "sunset over the sea",
    "dog, cat, night",
    "winter",
    "night",
    "water from spring",
    "photos from Mars",
    "1/2000 s",
    "Good Friday procession",
    "Black Friday sale",
    "people sat on a bench in the sun",
    "the last photo of the cat",
    "my last birthday",
    "two dogs and three cats",
    "2000 people at a concert",
    "a sign that says room 2012",
    "iso 1600",
    "Nikon D3000",
    "IMG_2021.jpg",
    "a 2019 Toyota",
    "a house built in 1850",
    "he was born in 1950",
    "version 2.0.21",
    "call 2021-555-1234",
    "a 24/7 shop",
    "1/2 cup of flour",
    "3,000 meters",
    "$2019",
    "the 3rd house on the left",
    "90s music",
    "before the wedding",
    "after the rain",
    "since we met",
    "until the end",
    "between the trees",
    "from the window to the door",
    "three years before",
    "das Haus vor dem See",
    "ein Hund hier am See",
    "die Nacht der Museen",
    "j'ai été à Paris",
    "une robe de printemps",
    "sopa con mayonesa",
    "la noche estrellada",
    "一只小狗",
    "",
    "?!",
]


@pytest.mark.parametrize("text", NO_TIME)
def test_no_time_in_it(text: str) -> None:
    assert find_times(text, today=TODAY) == []


IN_QUESTIONS = [
    ("dogs on a beach in May 2021", [("in May 2021", "May 2021")]),
    ("Photos from last summer in Italy", [("from last summer", "June 2025 to August 2025")]),
    ("Summer in Lisbon", [("Summer", "June, July or August")]),
    ("people marching in march", [("in march", "March")]),
    ("I march on Sundays", [("on Sundays", "Sunday")]),
    ("a May morning at the lake", [("a May morning", "May, 05:00 to 12:00")]),
    ("dogs in 2019, cats in 2020", [("in 2019", "2019"), ("in 2020", "2020")]),
    ("from 2019 on the beach", [("from 2019", "2019")]),
    ("the 5 best photos of 2020", [("of 2020", "2020")]),
    ("winter photos", [("winter", "January, February or December")]),
    ("Summer pictures of dogs", [("Summer", "June, July or August")]),
    ("weekend photos", [("weekend", "Saturday or Sunday")]),
    (
        "evening photos from 2021",
        [("evening", "17:00 to 22:00"), ("from 2021", "2021")],
    ),
    ("Bilder, Fotos vom Mai", [("vom Mai", "May")]),
    ("photos from March", [("from March", "March")]),
    ("everything from March", [("from March", "March")]),
    ("photos from 2021 except June", [("from 2021", "2021"), ("June", "June")]),
    ("2021, but not March", [("2021", "2021"), ("March", "March")]),
    (
        "Berlin, December 2019, evening",
        [("December 2019", "December 2019"), ("evening", "17:00 to 22:00")],
    ),
    ("May", [("May", "May")]),
    ("march", [("march", "March")]),
    ("an iPhone 8 in December", [("in December", "December")]),
    ("our summer in Lisbon", [("summer", "June, July or August")]),
    ("4th of July fireworks", [("4th of July", "4 July")]),
    ("in Paris in the morning", [("in the morning", "05:00 to 12:00")]),
    ("cats in the 90s in Rome", [("in the 90s", "1990 to 1999")]),
    ("Monday morning coffee", [("Monday morning", "Monday, 05:00 to 12:00")]),
    ("Hunde am Strand im Mai 2021", [("im Mai 2021", "May 2021")]),
    ("photos d'hier soir", [("d'hier soir", "14 July 2026, 17:00 to 22:00")]),
    ("fotos de la playa en agosto", [("en agosto", "August")]),
    ("去年五月在里斯本的照片", [("去年五月", "2025, May")]),
]


@pytest.mark.parametrize(("text", "found"), IN_QUESTIONS)
def test_times_in_a_question(text: str, found: list[tuple[str, str]]) -> None:
    mentions = find_times(text, today=TODAY)
    assert [(mention.text, mention.when.meaning) for mention in mentions] == found
    for mention in mentions:
        assert text[mention.start : mention.end] == mention.text == mention.when.text


IMPOSSIBLE = [
    ("2021-02-30", "there is no 30 February 2021"),
    ("2021-13-01", "there is no month 13"),
    ("2021-13", "there is no month 13"),
    ("29 February 2021", "there is no 29 February 2021"),
    ("31 April", "there is no 31 April"),
    ("April 31, 2020", "there is no 31 April 2020"),
    ("31.04.2020", "there is no 31 April 2020"),
    ("2021年2月30日", "there is no 30 February 2021"),
    ("3-50 May 2021", "there is no 50 May 2021"),
    ("25:00", "there is no time of day '25:00'"),
    ("2021-06-01 10:75", "there is no time of day '10:75'"),
    ("from May 2021 to March 2020", "the time from 2021-05-01 to 2020-04-01 ends before it begins"),
    ("13/2021", "there is no month 13"),
    ("13/13/2021", "there is no date '13/13/2021': no month 13"),
    ("3/4/2021", "'3/4/2021' can be a day and a month in either order"),
    ("900 decades ago", "900 decades from today is outside the calendar"),
]


@pytest.mark.parametrize(("text", "message"), IMPOSSIBLE)
def test_what_does_not_exist_is_an_error_with_the_way_out(text: str, message: str) -> None:
    for read in (parse_when, find_times):
        with pytest.raises(TimeWordsError) as caught:
            read(f"{text}", today=TODAY)
        assert caught.value.message == message
        assert caught.value.hint


def test_an_ambiguous_date_offers_both_readings() -> None:
    with pytest.raises(TimeWordsError) as caught:
        parse_when("3/4/2021", today=TODAY)
    assert caught.value.hint == "write 2021-04-03 or 2021-03-04"


@pytest.mark.parametrize("text", ["", "dogs", "May dogs", "2021 or so", "x" * 10_000])
def test_words_that_are_left_over_are_an_error(text: str) -> None:
    with pytest.raises(TimeWordsError) as caught:
        parse_when(text, today=TODAY)
    assert "2021-06-14" in caught.value.hint
    assert len(caught.value.message) < 200


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
]


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

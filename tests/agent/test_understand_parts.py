"""The parts of a question: looks, times, places, cameras, facts, with the real gazetteer."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_phrases import LOOKS_TIMES_PLACES

from photocraft_local.agent.planner.conditions import (
    CameraCondition,
    PlaceCondition,
    TimeCondition,
)
from photocraft_local.agent.planner.draft import plain
from photocraft_local.agent.planner.looks import phrase
from photocraft_local.agent.planner.plan import Look, Plan, Wanted
from photocraft_local.agent.planner.understand import understand
from photocraft_local.agent.planner.understand.form import LONGEST
from photocraft_local.errors import QuestionNotUnderstood, TimeWordsError
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.timelang import parse_when

TODAY = date(2024, 5, 15)


@pytest.fixture(scope="module")
def places(shared_cache: Path) -> Iterator[Gazetteer]:
    with Gazetteer.open(shared_cache) as gazetteer:
        yield gazetteer


def asked(question: str, places: Gazetteer) -> Plan:
    return understand(question, today=TODAY, places=places)


def look_of(plan: Plan) -> str:
    return "; ".join(" or ".join(look.texts) for look in plan.wanted.looks)


def times(plan: Plan) -> list[str]:
    return [c.where for c in plan.wanted.conditions if isinstance(c, TimeCondition)]


def spots(plan: Plan) -> list[str]:
    return [c.where for c in plan.wanted.conditions if isinstance(c, PlaceCondition)]


def cameras(plan: Plan) -> list[str]:
    return [c.where for c in plan.wanted.conditions if isinstance(c, CameraCondition)]


@pytest.mark.parametrize(("question", "look", "when", "where"), LOOKS_TIMES_PLACES)
def test_looks_times_and_places(
    question: str, look: str, when: list[str], where: list[str], places: Gazetteer
) -> None:
    plan = asked(question, places)
    assert look_of(plan) == look
    assert times(plan) == when
    assert spots(plan) == where
    looks = tuple(Look(tuple(text.split(" or "))) for text in [look] if text)
    assert plan.wanted == Wanted(looks=looks, conditions=plan.wanted.conditions)
    assert (plan.ask.kind, plan.unused, plan.blocked) == ("photos", (), ())


@pytest.mark.parametrize(
    ("question", "look", "unwanted"),
    [
        ("photos without people", "", ("people",)),
        ("a beach without people", "beach", ("people",)),
        ("a beach with no people or dogs", "beach", ("people", "dogs")),
        ("beach, no dogs and no cats, sunset", "beach; sunset", ("dogs", "cats")),
        ("a street not showing any cars", "street", ("cars",)),
        ("pizza but not with mushrooms", "pizza", ("mushrooms",)),
        ("photos of animals except cats", "animals", ("cats",)),
        ("photos without people from 2019", "", ("people",)),
        ("Fotos ohne Menschen", "", ("Menschen",)),
        ("everything but cats", "", ("cats",)),
        ("all photos except dogs", "", ("dogs",)),
        ("neither dogs nor cats", "", ("dogs", "cats")),
        ("cats or dogs without birds or people", "cats or dogs", ("birds", "people")),
    ],
)
def test_what_must_not_be_seen(
    question: str, look: str, unwanted: tuple[str, ...], places: Gazetteer
) -> None:
    plan = asked(question, places)
    assert (look_of(plan), plan.wanted.not_looks) == (look, unwanted)
    assert not plan.blocked


@pytest.mark.parametrize(
    ("question", "where", "look"),
    [
        ("taken with my Nikon", ['camera == "Nikon"'], ""),
        ("dogs shot on an iPhone 4", ['camera == "iPhone" and camera == "4"'], "dogs"),
        ("iPhone photos of cats", ['camera == "iPhone"'], "cats"),
        ("pictures from my Nikon COOLPIX P6000",
         ['camera == "Nikon" and camera == "COOLPIX" and camera == "P6000"'], ""),
        ("a cat, not taken with the Canon", ['not ((camera == "Canon"))'], "cat"),
        ("before 2010 with a Nikon", ['camera == "Nikon"'], ""),
        ("Nikon or Sony photos", ['((camera == "Nikon") or (camera == "Sony"))'], ""),
        ("dogs taken with my Nikon or the Sony",
         ['((camera == "Nikon") or (camera == "Sony"))'], "dogs"),
        ("not taken with an iPhone or Nikon",
         ['not ((camera == "iPhone") or (camera == "Nikon"))'], ""),
        ("X-T4 photos", ['camera == "X-T4"'], ""),
        ("taken with the Fuji X-T4 in Tokyo", ['camera == "Fuji" and camera == "X-T4"'], ""),
        ("taken in Lisbon with an iPhone 8 in December",
         ['camera == "iPhone" and camera == "8"'], ""),
        ("nikon d750", ['camera == "nikon" and camera == "d750"'], ""),
        ("DSC-RX100M3", ['camera == "DSC-RX100M3"'], ""),
        ("a nikon", [], "nikon"),
        ("A4 photos of june2021", [], "A4 of june2021"),
        ("a man with a Nikon", [], "man with a Nikon"),
        ("a man holding a Nikon camera", [], "man holding a Nikon camera"),
        ("an apple on a table", [], "apple on a table"),
    ],
)  # fmt: skip
def test_cameras_are_told_from_looks(
    question: str, where: list[str], look: str, places: Gazetteer
) -> None:
    plan = asked(question, places)
    assert (cameras(plan), look_of(plan)) == (where, look)
    assert not plan.blocked


@pytest.mark.parametrize(
    ("question", "where", "look"),
    [
        ("photos without a date", "not has_time", ""),
        ("photos with GPS", "has_gps", ""),
        ("dogs with a location", "has_gps", "dogs"),
        ("dogs with no location", "not has_gps", "dogs"),
        ("photos with no camera information", "not has_camera", ""),
        ("fotos sin fecha", "not has_time", ""),
        ("screenshots", 'flag("screenshot")', ""),
        ("cats, no screenshots", 'not flag("screenshot")', "cats"),
    ],
)
def test_facts_that_are_known_or_not(
    question: str, where: str, look: str, places: Gazetteer
) -> None:
    plan = asked(question, places)
    (fact,) = plan.wanted.conditions
    assert (fact.where, look_of(plan), plan.wanted.not_looks) == (where, look, ())


@pytest.mark.parametrize("row", LOOKS_TIMES_PLACES, ids=lambda row: row[0])
def test_the_words_of_a_time_say_the_same_to_the_tools(
    row: tuple[str, str, list[str], list[str]], places: Gazetteer
) -> None:
    for condition in asked(row[0], places).wanted.conditions:
        if condition.when:
            assert parse_when(condition.when, today=TODAY).to_expression() == condition.where


@pytest.mark.parametrize(
    ("question", "look"),
    [
        ("how many photos of cats", "cats"),
        ("How many dogs did I photograph in 2019?", "dogs"),
        ("count the pictures of boats", "boats"),
        ("how many photos do I have", ""),
    ],
)
def test_counts(question: str, look: str, places: Gazetteer) -> None:
    plan = asked(question, places)
    assert plan.ask.kind == "count"
    assert look_of(plan) == look


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("at the same place in another year", "at the same place"),
        ("my best pictures of Lisbon", "my best"),
        ("everything from Atlantisia in 2019", "Atlantisia"),
        ("photos taken with my tablet", "taken with my tablet"),
        ("dogs not", "not"),
        ("not not dogs", "not"),
        ("don't show me Lisbon", "don't"),
        ("dogs taken by my wife", "taken by my wife"),
        ("in 5 minutes", "in 5 minutes"),
        ("photos of my daughter in Porto", "of my daughter"),
        ("photos similar to this", "photos similar to this"),
        ("the second photo in Porto", "the second"),
        ("the first photo in Porto and the last photo in Siena", "the last"),
        ("how far apart are the castles", "how far apart are the castles"),
    ],
)
def test_what_cannot_be_followed_is_named_and_blocks(
    question: str, words: str, places: Gazetteer
) -> None:
    plan = asked(question, places)
    assert words in [part.words for part in plan.blocked]
    assert all(part.reason for part in plan.blocked)


@pytest.mark.parametrize(
    ("question", "words", "look"),
    [
        ("only dogs", "only", "dogs"),
        ("a dog with me", "with me", "dog"),
    ],
)
def test_words_without_effect_are_named(
    question: str, words: str, look: str, places: Gazetteer
) -> None:
    plan = asked(question, places)
    assert [part.words for part in plan.unused] == [words]
    assert look_of(plan) == look
    assert not plan.blocked


@pytest.mark.parametrize(
    "question",
    ["everything", "show me all my photos", "all photos, please", "Alle Fotos", "所有照片"],
)
def test_the_whole_library_can_be_asked_for(question: str, places: Gazetteer) -> None:
    assert asked(question, places) == Plan(everything=True)


def test_a_look_that_is_also_a_place_is_remembered(places: Gazetteer) -> None:
    plan = asked("siena dogs", places)
    assert (look_of(plan), plan.namesakes) == ("siena dogs", ("siena",))


@pytest.mark.parametrize(
    "question",
    ["", "   ", "?!...,;", "🐕🐕🐕", "\u200f\u202e", "photos", "show me please", "- -- ---"],
)
def test_a_question_of_nothing_is_an_error_with_examples(question: str, places: Gazetteer) -> None:
    with pytest.raises(QuestionNotUnderstood) as caught:
        asked(question, places)
    assert "how many photos of cats" in caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "question",
    [
        "who is this?",
        "did we go to Scotland before or after Japan",
        "Who was in Lisbon in 2021?",
        "why is the sky blue",
        "what did we eat in Rome",
        "what is the capital of France?",
        "how old is my dog?",
        "how many weeks was I in Japan",
        "combien d'heures étais-je à Porto ?",
        "wie viele Wochenenden war ich in Lissabon",
        "wer war in Lissabon",
        "qui est sur la photo ?",
        "¿quién está en la foto?",
        "照片里是谁？",
        "on which weekday was the first photo in Tokyo taken?",
        "An welchem Wochentag war ich in Porto?",
        "第一张照片是星期几拍的？",
    ],
)
def test_another_form_of_question_is_refused_with_examples(
    question: str, places: Gazetteer
) -> None:
    with pytest.raises(QuestionNotUnderstood, match="form of question"):
        asked(question, places)


def test_a_question_of_ten_thousand_characters_is_refused(places: Gazetteer) -> None:
    with pytest.raises(QuestionNotUnderstood, match=f"9999 characters; at most {LONGEST}"):
        asked("dog " * 2500, places)


@pytest.mark.parametrize("question", ["photos of 2021-02-30", "dogs on 31 April 2020"])
def test_a_date_that_does_not_exist_is_an_error(question: str, places: Gazetteer) -> None:
    with pytest.raises(TimeWordsError) as caught:
        asked(question, places)
    assert caught.value.hint


def test_an_unknown_place_comes_with_names_that_are_near(places: Gazetteer) -> None:
    (part,) = asked("everything from Lisbonn", places).blocked
    assert "did you mean Lisbon" in part.reason
    (part,) = asked("everything from Nowhereland", places).blocked
    assert "did you mean" not in part.reason


PIECES = """
photos of dog cat in at from near not without no and or , . ? the a Lisbon Porto Tuscany 2019 June
2021-05-03 2021-02-30 morning between within 5 km before after day my me Nikon iPhone taken with
how many first latest 🐕 里斯本 <|im_end|> ' " { } north where we
"""


@given(st.lists(st.sampled_from(PIECES.split()), min_size=1, max_size=14))
@settings(max_examples=250, deadline=None)
def test_any_jumble_of_words_is_read_or_refused(places: Gazetteer, pieces: list[str]) -> None:
    with contextlib.suppress(QuestionNotUnderstood, TimeWordsError):
        plan = asked(" ".join(pieces), places)
        assert (
            plan.ask.kind != "photos" or plan.blocked or plan.everything or plan.wanted != Wanted()
        )


@pytest.mark.parametrize(
    "piece", ["in ", "not ", "of the ", "Lisbon and ", "2019, ", "a" * 3, "((", "no "]
)
def test_a_long_question_is_read_in_little_time(piece: str, places: Gazetteer) -> None:
    question = (piece * LONGEST)[: LONGEST - 4] + " dog"
    before = time.process_time()
    with contextlib.suppress(QuestionNotUnderstood):
        asked(question, places)
    assert time.process_time() - before < 30  # a pattern that runs away takes hours


def test_no_word_is_lost(places: Gazetteer) -> None:
    """Each content word ends in exactly one of: a condition, a look, a NOT, unused, blocked."""
    plan = asked(
        "three photos of a dog without people in Lisbon in June 2021 taken with my Nikon", places
    )
    said = " ".join(
        [look_of(plan), *plan.wanted.not_looks]
        + [condition.words for condition in plan.wanted.conditions]
        + [plan.wanted.pick.words if plan.wanted.pick else ""]
        + [part.words for part in (*plan.unused, *plan.blocked)]
    )
    for word in ("three", "dog", "people", "Lisbon", "June", "2021", "Nikon"):
        assert said.count(word) == 1, word


def test_conditions_check_rows_by_themselves(places: Gazetteer) -> None:
    plan = asked("Lisbon in June 2021 taken with my Nikon", places)
    row = {
        "time": {"local": "2021-06-30T23:59:59+01:00"},
        "place": {"latitude": 38.72, "longitude": -9.14, "address": "Lisbon, Lisbon, Portugal"},
        "camera": "NIKON CORPORATION NIKON D5000",
    }
    assert all(condition.holds(row) for condition in plan.wanted.conditions)
    wrong = {
        "time": [{"local": "2021-07-01T00:00:00"}, None],
        "place": [
            {"latitude": 41.15, "longitude": -8.61, "address": "Porto, Porto, Portugal"},
            None,
        ],
        "camera": ["Canon", "Nikonos", None],
    }
    for key, values in wrong.items():
        for value in values:
            verdicts = [
                condition.holds({**row, key: value}) for condition in plan.wanted.conditions
            ]
            assert verdicts.count(False) == 1, (key, value)


def test_a_negated_condition_does_not_hold_for_an_unknown_fact(places: Gazetteer) -> None:
    plan = asked("cats not in 2019, not in Lisbon", places)
    time, place = plan.wanted.conditions
    assert not time.holds({"time": None})
    assert time.holds({"time": {"local": "2018-01-01T00:00:00"}})
    assert not place.holds({"place": None})
    porto = {"latitude": 41.15, "longitude": -8.61, "address": "Porto, Porto, Portugal"}
    assert place.holds({"place": porto})


def test_countries_and_regions_are_checked_by_name(places: Gazetteer) -> None:
    (tuscany,) = asked("everything from Tuscany", places).wanted.conditions
    arezzo = {"latitude": 43.46, "longitude": 11.88, "address": "Arezzo, Tuscany, Italy"}
    assert tuscany.holds({"place": arezzo})
    assert not tuscany.holds({"place": {**arezzo, "address": "Rome, Lazio, Italy"}})
    (italy,) = asked("everything from Italy", places).wanted.conditions
    assert italy.holds({"place": arezzo})
    assert not italy.holds({"place": {**arezzo, "address": "Porto, Porto, Portugal"}})


def test_both_verdicts_agree_on_times(places: Gazetteer) -> None:
    (condition,) = asked("weekends in 2021 in the evening", places).wanted.conditions[:1]
    assert isinstance(condition, TimeCondition)
    inside = datetime(2021, 6, 5, 20)
    assert any(when.contains(inside) for when in condition.whens)


def test_plain_text_keeps_no_hidden_character() -> None:
    assert plain("a\u200b\u202eb\n\tc  “d”") == 'ab c "d"'


def test_phrases_keep_their_middle() -> None:
    assert phrase(" show me photos of the dog on the beach in ") == "dog on the beach"
    assert phrase("我的狗的照片") == "狗"
    assert phrase(", and of the ") == ""

"""Plans as text: what is written is read as the very same plan, mistakes name line and way out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from photocraft_local.agent.planner.conditions import (
    CameraCondition,
    FactCondition,
    PlaceCondition,
    Spot,
    TimeCondition,
)
from photocraft_local.agent.planner.draft import Unused
from photocraft_local.agent.planner.plan import MAX_CHAIN, Ask, Look, Pick, Plan, Relation, Wanted
from photocraft_local.agent.planner.script import Reader, from_text, in_words, to_text
from photocraft_local.agent.planner.script.headers import in_units, stretch
from photocraft_local.agent.planner.understand import understand
from photocraft_local.errors import UsageError
from photocraft_local.places.areas import Area, PlaceMention
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.timelang import parse_when
from photocraft_local.timelang.when import When

TODAY = date(2024, 5, 15)
ODD_TEXTS = ("a | b", '"quoted', "# hash", "a: b", ' "x" ', "any photo", "line\nbreak", "\u202ertl",
             'x as "y"', "猫", "🐕", "half \ud83d pair", "tab\there", "a  b", "：", "")  # fmt: skip


@pytest.fixture(scope="module")
def reader(shared_cache: Path) -> Iterator[Reader]:
    with Gazetteer.open(shared_cache) as gazetteer:
        yield Reader(TODAY, gazetteer, ("q1", "q2"))


class NoPlaces:
    """Knows no name; enough for plans whose places are written out."""

    def find_in_text(self, text: str) -> list[PlaceMention]:
        return []

    def find(self, name: str) -> list[Area]:
        return []

    def suggest(self, name: str, *, limit: int = 3) -> list[str]:
        return []


@pytest.fixture(scope="module")
def nowhere() -> Reader:
    return Reader(TODAY, NoPlaces(), ("q1", "q2"))


QUESTIONS = (
    "dog on a beach in Lisbon last summer",
    "photos not in 2021 or 2022 near Porto taken with my Canon or Nikon D5000",
    "how many days was I north of Paris the day after the wedding",
    "except in Italy and France, in the evening in June 2021, screenshots",
    "when was I here before",
    "the two northernmost photos of dogs or cats, but not in 2020",
    "dogs in Rome or cats in Paris",
    "how far apart are the dog and the cat",
    "the three best photos of mountains in siena without people or cars",
    "wo war ich im Sommer 2021 mit dem Hund",
    "quand étais-je à Paris en mai 2020",
    "every photo except the ones from Lisbon",
    "the evening of the day after the concert in Porto",
    "alle Fotos außer denen aus Lissabon",
    "photos within an hour after the birthday cake at the same place in another year",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_plan_of_a_question_comes_back_from_lines_of_words(
    question: str, reader: Reader
) -> None:
    plan = understand(question, today=TODAY, places=reader.places, pictures=reader.pictures)
    text = to_text(plan, reader)
    assert from_text(text, reader) == plan
    assert "exactly:" not in text


def found(text: str, reader: Reader) -> Wanted:
    return from_text(text, reader).wanted


def time_of(words: str, *, negated: bool = False) -> TimeCondition:
    return TimeCondition(words, (parse_when(words, today=TODAY),), negated)


texts = st.sampled_from(ODD_TEXTS[:-1]) | st.text(min_size=1, max_size=12)
words = st.just("") | texts
areas = st.builds(
    Area, texts, st.sampled_from(["city", "region", "country", "point"]), texts, texts,
    st.floats(-90, 90), st.floats(-180, 180), st.floats(0, 999), st.integers(0, 10**8), texts,
)  # fmt: skip
moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))
whens = st.builds(
    When, st.lists(st.tuples(moments, moments), max_size=2).map(tuple),
    st.sets(st.integers(1, 12)).map(tuple), text=words, notes=st.just(("a note",)),
)  # fmt: skip
read_times = st.sampled_from(["last summer", "in June 2021", "at night", "2019-2021"])
conditions = (
    read_times.map(time_of)
    | st.builds(TimeCondition, texts, st.tuples(whens), st.booleans())
    | st.builds(
        PlaceCondition,
        texts,
        st.tuples(st.builds(Spot, texts, st.tuples(areas), st.none() | st.floats(0.1, 99))),
        st.booleans(),
    )
    | st.builds(CameraCondition, texts, st.lists(texts, min_size=1, max_size=2).map(tuple))
    | st.builds(FactCondition, texts, st.sampled_from(["has_gps", 'flag("screenshot")']))
)
picks = st.builds(
    Pick, st.sampled_from(["first", "last", "north", "best"]), st.integers(1, 99), words
) | st.builds(Pick, st.sampled_from(["nearest", "farthest"]), st.integers(1, 9), words, words)


def few(strategy: st.SearchStrategy, size: int = 2) -> st.SearchStrategy:
    return st.lists(strategy, max_size=size).map(tuple)


def wanted_of(inner: st.SearchStrategy) -> st.SearchStrategy:
    relations = st.builds(
        Relation,
        st.sampled_from(
            ["day", "week", "weekend", "month", "year", "event", "trip", "place", "before",
             "after", "around"]
        ),
        inner,
        which=st.sampled_from(["first", "last", "each"]),
        shift=st.integers(-9, 9),
        within=st.none() | st.timedeltas(timedelta(0), timedelta(days=900)),
        km=st.none() | st.floats(0.001, 9999),
        apart=st.sampled_from(["", "day", "month", "year", "trip"]),
        negated=st.booleans(),
        words=words,
    )  # fmt: skip
    return st.builds(
        Wanted, few(st.builds(Look, st.lists(texts, min_size=1, max_size=3).map(tuple))),
        few(texts), few(conditions), few(relations, 1), few(inner), few(inner, 1),
        few(st.sampled_from(["q1", "q2"])), st.none() | picks,
    )  # fmt: skip


wanted = st.recursive(wanted_of(st.just(Wanted())), wanted_of, max_leaves=3)
asks = st.sampled_from(
    [("photos", ""), ("count", ""), ("count", "days"), ("when", "year"), ("where", "city"),
     ("exists", ""), ("camera", ""), ("span", ""), ("distance", "")]
)  # fmt: skip
unused = st.builds(Unused, texts, texts)
plans = st.builds(
    Plan, wanted, st.builds(lambda ask, said: Ask(*ask, said), asks, words), st.none() | wanted,
    st.booleans(), few(texts), few(texts), few(unused), few(unused),
).filter(
    lambda plan: plan != Plan()
    and plan.wanted.depth() <= 3
    and (plan.other is None or plan.other.depth() <= 3)
)  # fmt: skip


@given(plan=plans)
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
def test_any_plan_is_read_back_as_it_was_written(plan: Plan, nowhere: Reader) -> None:
    text = to_text(plan, nowhere)
    assert from_text(text, nowhere) == plan
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert in_words(plan)


def test_lines_of_every_kind(reader: Reader) -> None:
    plan = from_text(
        """
        # a comment
        ask: how many days
        look: dog | cat
        not look: people
        time: in June 2021
        not time: at night
        place: near Lisbon
        place: porto
        camera: Canon | Nikon D5000
        fact: screenshots
        first: 2 as "the first two"
        day after:
            which: last
            look: wedding
            not within 5 km of:
                look: church
        either:
            look: dog
            place: in Rome
        or:
            look: cat
        but not:
            like: q1
        """,
        reader,
    )
    inner = plan.wanted
    assert plan.ask == Ask("count", "days", "how many days")
    assert inner.looks == (Look(("dog", "cat")),)
    assert inner.not_looks == ("people",)
    assert [condition.where for condition in inner.conditions] == [
        'date >= "2021-06-01" and date < "2021-07-01"',
        *[condition.where for condition in found("not time: at night", reader).conditions],
        'near("Lisbon", 25)',
        'place("porto")',
        '((camera == "Canon") or (camera == "Nikon" and camera == "D5000"))',
        'flag("screenshot")',
    ]
    assert inner.conditions[1].where.startswith("not (")
    assert inner.pick == Pick("first", 2, "the first two")
    relation = inner.relations[0]
    assert (relation.kind, relation.shift, relation.which) == ("day", 1, "last")
    assert relation.anchor.looks == (Look(("wedding",)),)
    assert relation.anchor.relations[0].km == 5
    assert relation.anchor.relations[0].negated
    assert [len(part.looks) for part in inner.either] == [1, 1]
    assert inner.either[0].conditions[0].where == 'place("Rome")'
    assert inner.but_not == (Wanted(like=("q1",)),)


@pytest.mark.parametrize(
    ("text", "line", "cause", "way_out"),
    [
        ("look: dog\ntiem: in 2021", 2, "no such key", "did you mean 'time'"),
        ("look", 1, "no ':'", "look: dog"),
        ("look:", 1, "value is missing", "behind the colon"),
        ("look: a | ", 1, "value is missing", "'|'"),
        ('look: "a', 1, "not closed", "quotation mark"),
        ("look: a\n    look: b", 2, "indented below line 1", "start it"),
        ("day after:", 1, "block is empty", "any photo"),
        ("day after: wedding", 1, "has a block", "indented"),
        ("day after:\n    ask: photos", 2, "only at the top", "move it"),
        ("which: last", 1, "only in the block of a relation", "remove"),
        ("day after:\n    look: a\n  look: b", 3, "between two blocks", "indent"),
        ("look: a\ntime: 30 February 2021", 2, "February", ""),
        ("time: the blue car", 1, "no time", "last summer"),
        ("time: in Lisbon", 1, "no time", "last summer"),
        ("place: qwertzuiop", 1, "qwertzuiop", ""),
        ("place: in 2021", 1, "no place", "in Lisbon"),
        ("fact: blue", 1, "no fact", "screenshots"),
        ("first: 0", 1, "from 1 up", "first: 2"),
        ("first: two", 1, "from 1 up", "first: 2"),
        ("first: 2 | Lisbon", 1, "from 1 up", "first: 2"),
        ("first: 1\nlast: 1", 2, "already", "one of"),
        ("ask: why", 1, "nothing that can be asked", "how many"),
        ("like: q7", 1, "no picture q7", "--image"),
        ("everything: maybe", 1, "'maybe'", "yes"),
        ("day after:\n    which: any\n    look: a", 2, "'any'", "first"),
        ("before:\n    within: soon\n    look: a", 2, "no length of time", "2 hours"),
        ("cannot follow: words", 1, "words and a reason", "words | reason"),
        ("exactly: {}", 1, "no condition", "by hand"),
        ('exactly: {"is": "Popen", "args": "ls"}', 1, "no kind of condition", "by hand"),
    ],
)
def test_a_mistake_names_its_line_the_cause_and_the_way_out(
    text: str, line: int, cause: str, way_out: str, reader: Reader
) -> None:
    with pytest.raises(UsageError) as caught:
        from_text(text, reader)
    assert f"line {line} of the plan" in caught.value.message
    assert cause in caught.value.message
    assert way_out in caught.value.hint
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "# nothing", "\n \n", "x" * 60_000])
def test_a_plan_without_anything_is_refused(text: str, reader: Reader) -> None:
    with pytest.raises(UsageError, match="the plan"):
        from_text(text, reader)


def test_a_chain_that_is_too_long_is_refused(reader: Reader) -> None:
    levels = MAX_CHAIN + 1
    chain = "".join(f"{'    ' * level}day after:\n" for level in range(levels))
    with pytest.raises(UsageError, match=f"{levels} relations lean on each other"):
        from_text(f"{chain}{' ' * 4 * levels}look: a", reader)


def test_a_chain_that_is_refused_already_can_still_be_shown(reader: Reader) -> None:
    question = "the day after " * (MAX_CHAIN + 1) + "the fair"
    plan = understand(question, today=TODAY, places=reader.places)
    assert plan.blocked
    assert from_text(to_text(plan, reader), reader) == plan


def test_blocks_too_deep_to_follow_are_refused_before_they_are_read(reader: Reader) -> None:
    deep = "".join(f"{' ' * level}either:\n" for level in range(200))
    with pytest.raises(UsageError, match="lie in each other"):
        from_text(deep, reader)


@given(text=st.text(max_size=80) | st.from_regex(r"([a-z ]{0,12}: ?.{0,9}\n( {4}){0,2}){1,4}"))
@settings(max_examples=200, suppress_health_check=list(HealthCheck))
def test_any_text_is_a_plan_or_an_error_with_a_way_out(text: str, nowhere: Reader) -> None:
    try:
        plan = from_text(text, nowhere)
    except UsageError as error:
        told = error.hint
    else:
        told = to_text(plan, nowhere)
        assert from_text(told, nowhere) == plan
    assert told


def test_meanings_stand_beside_the_words(reader: Reader) -> None:
    plan = from_text("time: last summer\nplace: in Lisbon", reader)
    text = to_text(plan, reader)
    assert re.search(r"time: last summer\n# that is: June 2023 to August 2023", text)
    assert "# that is: in Lisbon, Portugal" in text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("look: dog", "photos that look like 'dog'"),
        ("everything: yes", "all photos"),
        (
            "look: dog | cat\nnot look: people\ntime: in June 2021\nfirst: 2",
            "the first 2 of the photos that look like 'dog' or 'cat', that do not look like"
            " 'people', in June 2021",
        ),
        (
            "look: dog\nday after:\n    which: last\n    look: wedding",
            "photos that look like 'dog', on the day after the last of (photos that look like"
            " 'wedding')",
        ),
        (
            "same place as:\n    like: q1\nbefore:\n    like: q1\nask: when",
            "when photos at the place of the picture q1, before the picture q1 were taken",
        ),
        (
            "ask: how many days\nwithin 2 hours after:\n    look: cake",
            "how many days have photos at most 2 hours after (photos that look like 'cake')",
        ),
        (
            "either:\n    look: dog\nor:\n    look: cat\nbut not:\n    camera: Canon",
            "photos either (photos that look like 'dog') or (photos that look like 'cat'), but not"
            " (photos Canon)",
        ),
        (
            "ask: how far apart\nlook: a\nother:\n    look: b",
            "how far apart are photos that look like 'a' and photos that look like 'b'",
        ),
        (
            "look: dog\ncannot follow: by Anna | who took a photo is not known",
            "photos that look like 'dog'; but this cannot be followed: 'by Anna'",
        ),
        ("cannot follow: by Anna | why", "this cannot be followed: 'by Anna'"),
        ("time: last summer", "photos last summer (June 2023 to August 2023)"),
    ],
)
def test_one_sentence_for_a_plan(text: str, sentence: str, reader: Reader) -> None:
    assert in_words(from_text(text, reader)) == sentence


@given(st.timedeltas(timedelta(0), timedelta(days=9999)))
def test_lengths_of_time_are_exact(length: timedelta) -> None:
    assert stretch(in_units(length)) == length

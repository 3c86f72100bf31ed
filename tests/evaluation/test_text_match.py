"""Answers in words: what counts as the same in five languages, and what does not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.evaluation import metrics
from photocraft_local.evaluation.text_match import normal_words

DAYS = [
    "14 June 2021", "June 14, 2021", "14th of June 2021", "on 14 June 2021", "2021-06-14",
    "14.06.2021", "14. Juni 2021", "am 14. Juni 2021", "le 14 juin 2021", "14 de junio de 2021",
    "2021年6月14日", "06/14/2021", "14/06/2021",
]  # fmt: skip


@pytest.mark.parametrize("written", DAYS)
def test_a_day_is_the_same_however_it_is_written(written: str) -> None:
    assert metrics.text_normalised(written, "2021-06-14")
    assert metrics.text_contained(f"It was taken {written}.", "14 June 2021")
    assert not metrics.text_normalised(written, "2021-06-15")


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("June 2021", "2021-06"),
        ("im Juni 2021", "juin 2021"),
        ("in 2021", "2021"),
        ("14 June 2021 at 10:31", "2021-06-14 10:31"),
        ("14 June 2021 at 10:00", "2021-06-14 10:00"),
        ("1,200", "1.200"),
        ("1 200", "1200"),
        ("3,5 km", "3.50 km"),
        ("three photos", "3 photos"),
        ("drei Fotos", "3 Fotos"),
        ("trois photos", "3 photos"),
        ("tres fotos", "3 fotos"),
        ("三张", "3张"),
        ("The Tower of Belém.", "tower of belém"),
        ("der Turm", "Turm"),
        ("l'hôtel", "hôtel"),
        ("el Prado", "Prado"),
        ("Ｌｉｓｂｏｎ", "lisbon"),
        ("Cafe\u0301", "café"),
        ("STRASSE", "straße"),
        ("twenty one", "21"),
        ("twenty-one photos", "21 photos"),
        ("einundzwanzig Fotos", "21 Fotos"),
        ("vingt et un", "21"),
        ("trente-deux", "32"),
        ("treinta y dos", "32"),
        ("5 %", "5%"),
        ("€ 3", "3€"),
        ("the plan A", "Plan A"),
        ("c++", "C++"),
        ("!!!", " !!!"),
    ],
)
def test_the_same(text: str, gold: str) -> None:
    assert metrics.text_normalised(text, gold)
    assert metrics.text_normalised(gold, text)


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("05/06/2021", "2021-06-05"),  # of two readings none is taken
        ("yesterday", "2100-03-02"),
        ("3.5", "35"),
        ("12", "1.2"),
        ("año", "ano"),
        ("Porto", "Lisbon"),
        ("13 photos", "3 photos"),
        ("", "3"),
        ("2021", "2021-06"),
        ("31 February 2021", "2021-03-03"),
        ("since 2021", "2021"),
        ("1.200 km", "1.2 km"),
        ("C++", "C"),
        ("C#", "C"),
        ("C++", "C#"),
        ("5%", "5"),
        ("$5", "5"),
        ("$5", "€5"),
        ("\N{GRINNING FACE}", "\N{SMILING FACE WITH OPEN MOUTH}"),
        ("Plan A", "Plan"),
        ("Vitamin A", "Vitamin"),
        ("", "!!!"),
        ("the", "a"),
        ("twenty one", "20"),
        ("one twenty", "21"),
    ],
)
def test_not_the_same(text: str, gold: str) -> None:
    assert not metrics.text_normalised(text, gold)


def test_held_in_a_sentence() -> None:
    assert metrics.text_contained("一共有 3 张照片", "3")
    assert metrics.text_contained("一共有三张照片。", "3")
    assert metrics.text_contained("There are twelve of them, all from 2021.", "12")
    assert metrics.text_contained("on 14 December 2003 at 12:01 (1 photo)", "2003-12-14")
    assert metrics.text_contained("That is plan A for today", "plan A")
    assert not metrics.text_contained("That is a plan for today", "plan A")
    assert metrics.text_contained("a \N{GRINNING FACE} here", "\N{GRINNING FACE}")
    assert not metrics.text_contained("", "!!!")
    assert not metrics.text_contained("There are 120 of them.", "12")
    assert not metrics.text_contained("Am 15. Juni 2021 in Porto", "14 June 2021")


@given(st.text(max_size=60))
def test_any_text_is_the_same_as_itself(text: str) -> None:
    assert metrics.text_normalised(text, text)
    assert normal_words(text) == normal_words(f"  {text}\n")


@given(st.lists(st.sampled_from(["Lisbon", "Porto", "kitchen", "17", "Turm"]), max_size=6))
def test_words_keep_their_order_and_number(words: list[str]) -> None:
    assert normal_words(" ".join(words)) == [word.casefold() for word in words]


def test_a_long_text_is_no_trap() -> None:
    start = time.process_time()
    for text in ("14 June 2021, " * 5000, "1,1" * 20000, "三" * 20000, "9 " * 20000, "-" * 30000):
        normal_words(text)
    assert time.process_time() - start < 20

"""Long and hostile text: the work grows with the length of the text and not faster."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from datetime import date

import pytest

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import find_anchored, find_times

TODAY = date(2026, 7, 15)

PIECES = [
    "in the last from since between ",
    "the day after ",
    "the first day of the last week of ",
    "before the wedding and ",
    "between the wedding and the party and ",
    "2021 ",
    "3 May 2021 and ",
    "1. ",
    "2021-05-",
    "12:30",
    "9",
    "a",
    "🎄",
    "婚礼后的第二天",
    "在婚礼和",
    "第",
    "年月日",
    "شهر ",
    "'; DROP TABLE photos; -- ",
    "around about around ",
    "not not except ",
    "early late mid ",
    "the ",
    "hier ",
    "winter, ",
    "night and day or ",
    "heute vor einem ",
    "一二三",
    "the weekend before the day after ",
    ", ",
    "vor dem nach der ",
    "le lendemain de la veille de ",
]


def calls(work: Callable[[], object]) -> int:
    """How many functions of Python and C are called: a measure of work that is no clock."""
    count = 0

    def step(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(step)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def read(text: str) -> None:
    with contextlib.suppress(TimeWordsError):
        find_times(text, today=TODAY)
    find_anchored(text)


@pytest.mark.parametrize("piece", PIECES)
def test_twice_the_text_is_at_most_about_twice_the_work(piece: str) -> None:
    read(piece)  # tables are read
    short, long = (piece * (size // len(piece) + 1) for size in (350, 700))
    small, large = calls(lambda: read(short[:350])), calls(lambda: read(long[:700]))
    assert large < 2.6 * small + 2000


@pytest.mark.parametrize("piece", ["x", "{[(", "9", "winter, ", "9.", "between the wedding and "])
def test_ten_thousand_characters_are_read(piece: str) -> None:
    read((piece * 10_000)[:10_000])

"""Passes of a model: everything once, little room left over, memory that runs out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.embeddings.qwen.packing import halved, passes


@given(st.lists(st.integers(1, 50), max_size=40), st.integers(20, 100))
def test_each_item_is_in_one_pass_and_no_pass_is_too_large(sizes: list[int], most: int) -> None:
    parted = passes(sizes, most)
    assert sorted(index for part in parted for index in part) == list(range(len(sizes)))
    for part in parted:
        assert len(part) == 1 or sum(sizes[index] for index in part) <= most


@given(st.lists(st.integers(1, 20), min_size=1, max_size=40))
def test_two_passes_never_fit_into_one(sizes: list[int]) -> None:
    totals = sorted(sum(sizes[index] for index in part) for part in passes(sizes, 20))
    assert all(first + second > 20 for first, second in pairwise(totals))


def test_an_item_beyond_the_limit_stands_alone() -> None:
    assert passes([5, 900, 5], 100) == [[1], [0, 2]]
    assert passes([], 100) == []


def test_where_memory_runs_out_halves_are_tried() -> None:
    tried: list[int] = []

    def work(items: Sequence[int]) -> int:
        tried.append(len(items))
        if len(items) > 2:
            raise MemoryError
        return sum(items)

    done = halved(range(7), work, lambda exc: isinstance(exc, MemoryError))
    assert sum(total for _, total in done) == 21
    assert [list(items) for items, _ in done] == [[0], [1, 2], [3, 4], [5, 6]]
    assert tried == [7, 3, 1, 2, 4, 2, 2]


def test_a_single_item_and_another_fault_are_not_tried_again() -> None:
    def full(items: Sequence[int]) -> int:
        raise MemoryError

    def broken(items: Sequence[int]) -> int:
        raise ZeroDivisionError

    with pytest.raises(MemoryError):
        halved(range(4), full, lambda exc: isinstance(exc, MemoryError))
    with pytest.raises(ZeroDivisionError):
        halved(range(4), broken, lambda exc: isinstance(exc, MemoryError))

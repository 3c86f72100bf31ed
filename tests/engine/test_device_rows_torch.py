"""tests/search/test_device_rows.py with torch itself: its CPU stands for the device."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "search"))

import test_device_rows as cases

vectors = cases.vectors
test_each_way = cases.test_each_way_gives_the_rows_of_the_cpu
test_too_few = cases.test_what_a_mask_leaves_too_little_of_is_gathered_there
test_growth = cases.test_the_copy_grows_with_the_store_and_stays_within_a_searchs_rows
test_beside = cases.test_searches_beside_a_growing_store
test_memory = cases.test_memory_that_runs_out_is_told_once_and_the_present_ways_go_on
test_makes_way = cases.test_the_second_copy_makes_way_for_faisss_own
test_cost = cases.test_the_cost_is_measured_once_on_the_device


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    return cases.stand(pytest.importorskip("torch"), monkeypatch)


def test_a_device_that_torch_does_not_see_is_told() -> None:
    with pytest.raises(cases.SearchError, match="number 99 is wanted"):
        cases.device_rows.torch_device(99)

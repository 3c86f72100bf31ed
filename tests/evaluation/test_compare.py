"""Two runs against each other: the tests' p-values by brute force, and what cannot be compared."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_runs import made_run, rows

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.compare import change, compare, mcnemar
from photocraft_local.evaluation.results import RunFolder


@pytest.mark.parametrize("gained", range(6))
@pytest.mark.parametrize("lost", range(6))
def test_the_exact_test_counts_all_ways_that_coins_fall(gained: int, lost: int) -> None:
    ways = list(itertools.product((0, 1), repeat=gained + lost))
    seen = abs(gained - lost)
    as_far = sum(abs(2 * sum(way) - len(way)) >= seen for way in ways)
    assert mcnemar(gained, lost) == pytest.approx(as_far / len(ways))


def test_many_changed_questions_are_no_overflow() -> None:
    assert mcnemar(1500, 1500) == 1.0
    assert mcnemar(0, 2000) < 1e-300


def test_a_better_run_is_told_from_a_lucky_one(tmp_path: Path) -> None:
    a = made_run(tmp_path / "a", 200, skill=0.3)
    b = made_run(tmp_path / "b", 200, skill=0.8)
    lucky = made_run(tmp_path / "c", 200, skill=0.3, seed=2)
    found = compare(a, b)
    assert found.all.em_p < 0.001
    assert found.all.f1_p < 0.001
    assert found.all.f1_difference[1] > 0
    assert found.all.gained == len(found.gained)
    assert found.all.em[1] - found.all.em[0] == pytest.approx(
        (found.all.gained - found.all.lost) / 200
    )
    assert sum(part.num for part in found.by_kind.values()) == 200
    assert found.differs == {"skill": (0.3, 0.8)}
    assert compare(a, lucky).all.em_p > 0.05
    assert compare(a, b).to_json() == found.to_json()  # fixed seeds
    json.dumps(found.to_json(), allow_nan=False)


def test_the_same_run_twice_differs_in_nothing(tmp_path: Path) -> None:
    run = made_run(tmp_path / "a")
    found = compare(run, run)
    assert (found.gained, found.lost, found.differs) == ([], [], {})
    assert found.all.em_p == found.all.f1_p == 1.0


def test_rows_that_one_run_lacks_are_named(tmp_path: Path) -> None:
    a, b = made_run(tmp_path / "a", 10), made_run(tmp_path / "b", 12)
    first = a.rows[("user0", "q0")]
    a.rows[first.key] = replace(first, gold=("another",))
    found = compare(a, b)
    assert found.only_a == []
    assert found.only_b == [("user1", "q10"), ("user2", "q11")]
    assert found.other_gold == [("user0", "q0")]
    assert found.all.num == 9


def test_runs_that_share_nothing(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="share no question"):
        compare(made_run(tmp_path / "a", 3), RunFolder.begin(tmp_path / "b", {}, {}))


def test_one_pair_has_a_change() -> None:
    one = rows(1)[0]
    assert change([(one, one)]).em_p == 1.0

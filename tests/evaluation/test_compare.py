"""Two runs against each other: the tests' p-values by brute force, and what cannot be compared."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from made_runs import made_run, rows

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.compare import change, compare, mcnemar
from photocraft_local.evaluation.questions import EvalQuestion, Reply
from photocraft_local.evaluation.reports.figures import Unit, figures
from photocraft_local.evaluation.results import ResultRow, RunFolder, row_of


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
    assert change([(one, one)], Unit.of([one])).em_p == 1.0


def test_two_shares_differ_by_no_more_than_one() -> None:
    before = of_libraries(3, 1, lambda at: False)
    after = of_libraries(3, 1, lambda at: at < 2)
    mean, low, high = change(list(zip(before, after, strict=True)), Unit.of(before)).f1_difference
    assert -1 <= low < mean == pytest.approx(2 / 3)
    assert high == 1  # t of three questions says 2.1


def of_libraries(num: int, each: int, right: Callable[[int], bool]) -> list[ResultRow]:
    asked = [
        EvalQuestion(f"q{at}", f"user{at // each}", "which?", frozenset({"a"}))
        for at in range(num * each)
    ]
    found = [("a",) if right(at) else ("b",) for at in range(len(asked))]
    return [row_of(one, Reply(names)) for one, names in zip(asked, found, strict=True)]


def test_questions_of_a_library_are_not_taken_for_independent() -> None:
    """One library of eight turned right: ten questions for McNemar, yet one draw of eight."""
    before = of_libraries(8, 10, lambda at: False)
    after = of_libraries(8, 10, lambda at: at < 10)
    found = change(list(zip(before, after, strict=True)), Unit.of(before))
    assert mcnemar(10, 0) < 0.01
    assert found.em_test == "sign-flip"
    assert found.em_p == found.f1_p == 1.0
    one_each = change(list(zip(before[::10], after[::10], strict=True)), Unit.of(before[::10]))
    assert one_each.em_test == "mcnemar"
    assert one_each.em_p == mcnemar(1, 0)


def test_few_libraries_are_said_to_speak_for_themselves_alone() -> None:
    for num, drawn in ((1, "question"), (5, "question"), (6, "library"), (9, "library")):
        made = of_libraries(num, 12, lambda at: at % 3 == 0)
        told = figures(made)
        assert told["unit"]["drawn"] == Unit.of(made).drawn == drawn
        assert ("only" in told["unit"]["note"]) == (drawn == "question")
        assert str(num) in told["unit"]["note"] or num == 1
        assert change([(one, one) for one in made], Unit.of(made)).em_p == 1


def test_a_set_that_is_not_known_is_not_compared(tmp_path: Path) -> None:
    asked = [
        EvalQuestion("words", "user", "when?", frozenset(), gold_text="3", has_gold=False),
        EvalQuestion("set", "user", "which?", frozenset({"a"})),
    ]
    runs = []
    for name, text in (("a", "2"), ("b", "3 ")):
        run = RunFolder.begin(tmp_path / name, {}, {})
        with run.held():
            for one in asked:
                run.add(row_of(one, Reply(("a",), text=text)))
            run.finish({})
        runs.append(RunFolder.load(tmp_path / name))
    found = compare(*runs)
    assert (found.all.num, found.all.em) == (1, (1, 1))
    assert (found.text.num, found.text.em, found.text.gained) == (1, (0, 1), 1)
    assert found.gained == [("user", "words")]
    json.dumps(found.to_json(), allow_nan=False)

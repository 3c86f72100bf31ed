"""Metrics against a second implementation, which counts in fractions from the definitions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from photocraft_local.evaluation import metrics
from photocraft_local.evaluation.bootstrap import interval, paired

NUM_SETS = 12_000
NAMES = [f"{number}.jpg" for number in range(9)]


def pairs() -> list[tuple[list[str], list[str]]]:
    """Small sets, so that equal, disjoint and empty ones are all frequent; some names twice."""
    chance = random.Random(7)
    made = []
    for _ in range(NUM_SETS):
        predicted = [chance.choice(NAMES) for _ in range(chance.choice([0, 0, 1, 2, 3, 6]))]
        gold = chance.sample(NAMES, chance.choice([0, 0, 1, 2, 3, 5]))
        made.append((predicted, gold))
    return made


def counted(predicted: list[str], gold: list[str]) -> tuple[Fraction, Fraction]:
    """EM and F1 by going through every name that there is."""
    hits = misses = extras = 0
    for name in NAMES:
        is_in, is_right = name in predicted, name in gold
        hits += is_in and is_right
        misses += is_right and not is_in
        extras += is_in and not is_right
    exact = Fraction(int(misses == 0 and extras == 0))
    if not predicted and not gold:
        return exact, Fraction(1)
    if not predicted or not gold or hits == 0:
        return exact, Fraction(0)
    precision, recall = Fraction(hits, hits + extras), Fraction(hits, hits + misses)
    return exact, 2 * precision * recall / (precision + recall)


def test_sets_are_judged_as_the_definitions_say() -> None:
    both_empty = one_empty = 0
    for predicted, gold in pairs():
        exact, f1 = counted(predicted, gold)
        assert metrics.exact_match(predicted, gold) == float(exact)
        assert metrics.f1(predicted, gold) == pytest.approx(float(f1), abs=1e-12)
        assert (metrics.f1(predicted, gold) == 1) == (exact == 1)
        both_empty += not predicted and not gold
        one_empty += bool(predicted) != bool(gold)
    assert both_empty > 300
    assert one_empty > 2000


def ranked_by_hand(predicted: list[str], gold: list[str], k: int) -> tuple[float, float]:
    order: list[str] = []
    for name in predicted:
        if name not in order:
            order.append(name)
    hits, gained = 0, 0.0
    for rank in range(1, k + 1):
        if rank <= len(order) and order[rank - 1] in gold:
            hits += 1
            gained += math.log(2) / math.log(rank + 1)
    best = 0.0
    for rank in range(1, k + 1):
        best += math.log(2) / math.log(rank + 1) if rank <= len(gold) else 0.0
    return hits / len(gold), gained / best


@pytest.mark.parametrize("k", [1, 5, 10, 20, 50, 100])
def test_ranks_are_judged_as_the_definitions_say(k: int) -> None:
    for predicted, gold in pairs():
        if not gold:
            assert metrics.recall_at(predicted, gold, k) is None
            assert metrics.ndcg_at(predicted, gold, k) is None
            continue
        recall, gain = ranked_by_hand(predicted, gold, k)
        assert metrics.recall_at(predicted, gold, k) == pytest.approx(recall)
        assert metrics.ndcg_at(predicted, gold, k) == pytest.approx(gain)


@pytest.mark.parametrize(
    ("text", "gold", "exact", "same", "held"),
    [
        ("3", "3", 1, 1, 1),
        ("3 ", "3", 1, 1, 1),
        ("The Harbour, Porto!", "harbour porto", 0, 1, 1),
        ("You were there on 3 days.", "3 days", 0, 0, 1),
        ("You were there on 13 days.", "3 days", 0, 0, 0),
        ("2021-05-03", "2021-05-04", 0, 0, 0),
        ("10.5 km", "5 km", 0, 0, 0),
        ("Cafe\N{COMBINING ACUTE ACCENT}", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", 0, 1, 1),
        ("", "Porto", 0, 0, 0),
    ],
)
def test_texts(text: str, gold: str, exact: int, same: int, held: int) -> None:
    assert metrics.text_exact(text, gold) == exact
    assert metrics.text_normalised(text, gold) == same
    assert metrics.text_contained(text, gold) == held


def test_an_interval_holds_the_true_mean_as_often_as_it_says() -> None:
    chance = random.Random(3)
    held = 0
    for seed in range(200):
        values = [float(chance.random() < 0.3) for _ in range(60)]
        found = interval(values, resamples=400, seed=seed)
        held += found.low <= 0.3 <= found.high
    assert 0.88 <= held / 200 <= 1.0


def test_values_that_hang_together_are_less_sure() -> None:
    values = [float(user % 2) for user in range(20) for _ in range(10)]
    users = [user for user in range(20) for _ in range(10)]
    alone, together = interval(values), interval(values, clusters=users)
    assert alone.mean == together.mean == 0.5
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_a_paired_difference_and_none() -> None:
    before = [0.0] * 30 + [1.0] * 10
    better = [1.0] * 15 + [0.0] * 15 + [1.0] * 10
    found = paired(before, better)
    assert found.interval.low > 0
    assert found.p_value < 0.01
    same = paired(before, before)
    assert same.interval.mean == 0
    assert same.p_value == 1
    assert math.isnan(interval([]).mean)

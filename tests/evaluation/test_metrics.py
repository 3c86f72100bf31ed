"""Metrics against a second implementation, which counts in fractions from the definitions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from photocraft_local.evaluation import metrics
from photocraft_local.evaluation.bootstrap import interval, paired, t_quantile

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
        hits = sum(name in predicted and name in gold for name in NAMES)
        for metric, of in ((metrics.precision, predicted), (metrics.recall, gold)):
            share = Fraction(hits, len(set(of))) if of else Fraction(int(not predicted + gold))
            assert metric(predicted, gold) == pytest.approx(float(share), abs=1e-12)
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
    for _ in range(200):
        values = [float(chance.random() < 0.3) for _ in range(60)]
        found = interval(values)
        held += found.low <= 0.3 <= found.high
    assert 0.88 <= held / 200 <= 1.0


def drawn_by_hand(libraries: list[list[float]], beyond: float) -> tuple[float, float]:
    """Whole libraries drawn one by one, with their own numbers of questions."""
    chance, means = random.Random(11), []
    for _ in range(20_000):
        values = [value for one in chance.choices(libraries, k=len(libraries)) for value in one]
        means.append(math.fsum(values) / len(values))
    means.sort()
    return means[round(beyond * len(means))], means[round((1 - beyond) * len(means)) - 1]


def test_ends_are_quantiles_of_resampled_means() -> None:
    """Those beyond which 0.6 % of the means of eight lie (and not 2.5 %): the normal's share beyond
    sqrt(8 / 7) times Student's t of seven degrees."""
    libraries = [
        [1.0, 0.0],
        [0.0] * 6,
        [1.0] * 3,
        [0.5, 1.0],
        [0.0, 0.25],
        [1.0],
        [0.0] * 4,
        [0.75],
    ]
    beyond = math.erfc(math.sqrt(8 / 7) * 2.3646 / math.sqrt(2)) / 2
    assert 0.005 < beyond < 0.01
    users = [at for at, one in enumerate(libraries) for _ in one]
    values = [value for one in libraries for value in one]
    found = interval(values, clusters=users, shares=True)
    low, high = drawn_by_hand(libraries, beyond)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03)
    assert found.high - found.mean > 1.1 * (found.mean - found.low)  # as skewed as the values
    assert interval(values, clusters=users, shares=True) == found


def test_values_that_hang_together_are_less_sure() -> None:
    values = [float(user % 2) for user in range(20) for _ in range(10)]
    users = [user for user in range(20) for _ in range(10)]
    alone, together = interval(values), interval(values, clusters=users)
    assert alone.mean == together.mean == 0.5
    assert together.high - together.low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize(("num", "each"), [(3, 40), (6, 20), (10, 10), (57, 2)])
def test_few_libraries_are_as_sure_as_they_say(num: int, each: int) -> None:
    """Libraries differ among themselves: 95 % of intervals hold the mean (a percentile bootstrap
    of 10 libraries: 88.7 %), and 5 % of tests find a difference where none is, or fewer."""
    chance = np.random.default_rng(num)
    held = found_one = 0
    for seed in range(600):
        own = chance.normal(0, 0.7, num)
        users = np.repeat(np.arange(num), each)
        values = list(own[users] + chance.normal(size=len(users)))
        found = interval(values, clusters=list(users))
        held += found.low <= 0 <= found.high
        none = [0.0] * len(values)
        p = paired(none, values, clusters=list(users), resamples=200, seed=seed).p_value
        found_one += p <= 0.05
    assert 0.92 <= held / 600 <= 0.98
    assert found_one / 600 <= 0.075


def test_quantiles_of_t_are_those_of_the_tables() -> None:
    table = {1: 12.7062, 2: 4.3027, 3: 3.1824, 5: 2.5706, 10: 2.2281, 30: 2.0423, 120: 1.9799}
    for degrees, value in table.items():
        assert t_quantile(0.975, degrees) == pytest.approx(value, abs=1e-4)
    assert t_quantile(0.975, 10**6) == pytest.approx(1.95996, abs=1e-4)


def test_shares_stay_shares_and_no_variance_is_no_certainty() -> None:
    all_right = interval([1.0] * 20, shares=True)
    assert (all_right.mean, all_right.high) == (1, 1)
    assert all_right.low == pytest.approx(0.8316, abs=1e-4)  # Clopper and Pearson
    none = interval([0.0] * 20, clusters=[n % 4 for n in range(20)], shares=True)
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 4))
    assert interval([0.0, 0.0, 1.0], shares=True).low == 0
    alone = interval([0.0, 1.0, 1.0], clusters=["one"] * 3)
    assert alone.mean == pytest.approx(2 / 3)
    assert math.isnan(alone.low)
    assert math.isnan(alone.high)


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

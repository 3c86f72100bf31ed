"""What an answer is worth: exact match and F1 of sets, recall@k and NDCG@k of ranks, text match.

All in 0…1. The rules of empty sets are DISBench's: both empty is right, exactly one empty is worth
nothing. Knows no question and no file.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from photocraft_local.evaluation.text_match import normal_words


def exact_match(predicted: Collection[str], gold: Collection[str]) -> float:
    return float(set(predicted) == set(gold))


def precision(predicted: Collection[str], gold: Collection[str]) -> float:
    """Of an empty answer: 1 if nothing was to be found, else 0."""
    found = set(predicted)
    return len(found & set(gold)) / len(found) if found else float(not gold)


def recall(predicted: Collection[str], gold: Collection[str]) -> float:
    """Of an empty gold set: 1 if nothing was returned, else 0."""
    wanted = set(gold)
    return len(set(predicted) & wanted) / len(wanted) if wanted else float(not predicted)


def f1(predicted: Collection[str], gold: Collection[str]) -> float:
    """Harmonic mean of precision and recall; a repeated name counts once."""
    found, wanted = set(predicted), set(gold)
    if not found and not wanted:
        return 1.0
    return 2 * len(found & wanted) / (len(found) + len(wanted))


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Share of the gold set among the first ``k`` distinct names; None where gold is empty, since
    no rank is right or wrong then."""
    wanted = set(gold)
    if not wanted:
        return None
    return len(wanted & set(_distinct(ranked)[:k])) / len(wanted)


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Gain 1 for each gold name among the first ``k`` distinct ones, discounted by log2(rank + 1),
    over that of the best order; None where gold is empty."""
    wanted = set(gold)
    if not wanted:
        return None
    gained = sum(_discount(at) for at, name in enumerate(_distinct(ranked)[:k]) if name in wanted)
    return gained / sum(map(_discount, range(min(k, len(wanted)))))


def text_exact(text: str, gold: str) -> float:
    """The same characters, blanks at the ends aside."""
    return float(text.strip() == gold.strip())


def text_normalised(text: str, gold: str) -> float:
    """The same words, numbers and dates, as ``text_match`` spells them; where one of them has
    none, the same characters."""
    words, wanted = normal_words(text), normal_words(gold)
    return float(words == wanted) if words and wanted else text_exact(text, gold)


def text_contained(text: str, gold: str) -> float:
    """The gold's words stand together somewhere in the text: for answers in whole sentences. One
    that lists many things may hold them by chance."""
    if not normal_words(gold):
        return float(gold.strip() in text) if gold.strip() else text_exact(text, gold)
    return float(any(_holds(text, gold, articles=articles) for articles in (False, True)))


def _holds(text: str, gold: str, *, articles: bool) -> bool:
    """With articles "plan A" is found in the midst of a sentence, too."""
    words, wanted = (normal_words(one, articles=articles) for one in (text, gold))
    starts = range(len(words) - len(wanted) + 1)
    return any(words[at : at + len(wanted)] == wanted for at in starts)


def _discount(at: int) -> float:
    return 1 / math.log2(at + 2)


def _distinct(ranked: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked))

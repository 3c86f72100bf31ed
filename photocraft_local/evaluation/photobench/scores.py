"""PhotoBench's figures: recall@k and NDCG@k of the answer's order, set metrics, abstention.

An answer is not padded: what it does not hold is not found at any rank. Knows no file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from photocraft_local.evaluation import metrics
from photocraft_local.evaluation.results import ResultRow
from photocraft_local.records import Json

RANKS = (1, 5, 10, 20, 50, 100)


def scores(rows: Sequence[ResultRow]) -> dict[str, Json]:
    kinds = sorted({row.kind for row in rows if row.kind})
    return {
        "ranked": ranked(rows),
        "ranked_by_source": {
            kind: ranked([row for row in rows if row.kind == kind]) for kind in kinds
        },
        "sets": sets(rows),
        "abstention": abstention(rows),
    }


def ranked(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """Means over the questions that have an answer; ``num`` of them."""
    asked = [row for row in rows if row.gold]
    told: dict[str, Json] = {"num": len(asked)}
    for name, metric in (("recall", metrics.recall_at), ("ndcg", metrics.ndcg_at)):
        for k in RANKS:
            values = [metric(row.predicted, row.gold, k) for row in asked]
            told[f"{name}@{k}"] = _mean([value for value in values if value is not None])
    return told


def sets(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """Of the questions that have an answer: the others are under ``abstention``."""
    asked = [row for row in rows if row.gold]
    return {
        "num": len(asked),
        "precision": _of(asked, lambda row: metrics.precision(row.predicted, row.gold)),
        "recall": _of(asked, lambda row: metrics.recall(row.predicted, row.gold)),
        "f1": _of(asked, lambda row: row.f1),
        "em": _of(asked, lambda row: row.em),
    }


def abstention(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """``rejected``: share of the questions without an answer that got none; ``wrongly``: share of
    the others that got none; precision, recall and F1 of answering with nothing. An error or a
    refusal to try is no abstention."""
    impossible = [row for row in rows if not row.gold]
    possible = [row for row in rows if row.gold]
    right, wrong = sum(map(_abstains, impossible)), sum(map(_abstains, possible))
    exact = right / (right + wrong) if right + wrong else None
    found = right / len(impossible) if impossible else None
    both = 2 * right / (right + wrong + len(impossible)) if impossible else None
    return {
        "num": len(impossible),
        "rejected": found,
        "wrongly": wrong / len(possible) if possible else None,
        "precision": exact,
        "recall": found,
        "f1": both,
    }


def submission_rows(rows: Sequence[ResultRow], language: str = "en") -> list[Json]:
    """``album_id``, ``query_en`` (the words as they were asked: ``query_cn`` in Chinese), ``pred``
    in order, and the query's id beside them."""
    return [
        {
            "album_id": row.library,
            "query_id": row.question,
            f"query_{language}": row.asked,
            "pred": list(row.predicted),
        }
        for row in rows
    ]


def _abstains(row: ResultRow) -> bool:
    return row.status == "answered" and not row.predicted


def _of(rows: Sequence[ResultRow], value: Callable[[ResultRow], float]) -> float | None:
    return _mean([value(row) for row in rows])


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None

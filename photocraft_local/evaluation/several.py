"""What choosing is worth where a question was answered several times: F1 of one run, of the
majority, of the answer that was chosen, and of the best that was there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from photocraft_local.evaluation.metrics import f1
from photocraft_local.evaluation.results import ResultRow
from photocraft_local.records import Json


def of_runs(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """Means over the questions that have several runs; empty without any. ``best`` knows the gold:
    a bound, no result."""
    asked = [row for row in rows if len(row.runs) > 1]
    if not asked:
        return {}
    return {
        "num": len(asked),
        "runs": max(len(row.runs) for row in asked),
        "one": fmean(fmean(f1(found, row.gold) for found in row.runs) for row in asked),
        "majority": fmean(f1(majority(row.runs), row.gold) for row in asked),
        "chosen": fmean(row.f1 for row in asked),
        "best": fmean(max(f1(found, row.gold) for found in row.runs) for row in asked),
    }


def majority(runs: Sequence[Sequence[str]]) -> set[str]:
    """Photos that more than half of the runs gave."""
    votes = Counter(name for found in runs for name in set(found))
    return {name for name, number in votes.items() if 2 * number > len(runs)}

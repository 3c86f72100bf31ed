"""The export of a run for a leaderboard: ``meta`` and predictions by query id.

The exact layout that DISBench's leaderboard takes is not published; what stands here is described
in docs/evaluation.md and is not claimed to be accepted anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation import targets
from photocraft_local.evaluation.results import ResultRow
from photocraft_local.records import Json
from photocraft_local.storage.atomic import write_atomically
from photocraft_local.storage.faults import mapped


def submission(rows: Sequence[ResultRow], meta: Mapping[str, Json]) -> dict[str, Json]:
    """Raises EvaluationError where two libraries have a query of one id."""
    predictions: dict[str, Json] = {}
    for row in rows:
        if row.question in predictions:
            raise EvaluationError(
                f"query {row.question!r} stands in two libraries",
                hint="predictions are told apart by the id of the query alone",
            )
        predictions[row.question] = list(row.predicted)
    return {"meta": dict(meta), "predictions": predictions}


def check_target(path: Path) -> None:
    """Raises EvaluationError as ``targets.check_target``."""
    targets.check_target(path, "export", _is_ours)


def _is_ours(path: Path) -> bool:
    try:
        told = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    if isinstance(told, dict):
        return told.keys() == {"meta", "predictions"}
    return isinstance(told, list) and all(isinstance(row, dict) and "pred" in row for row in told)


def write(path: Path, content: Json) -> None:
    text = json.dumps(content, indent=1, sort_keys=True) + "\n"
    with mapped(path):
        write_atomically(path, text.encode())

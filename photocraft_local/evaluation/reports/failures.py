"""The worst answers of a run, each with what the model did on the way.

Reads traces; what is broken in one is said in its place and costs nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.agent import trajectory
from photocraft_local.errors import AgentError
from photocraft_local.evaluation.pictures import fault_of
from photocraft_local.evaluation.results import ResultRow
from photocraft_local.records import Json, Step

MOST_STEPS = 30  # of one trajectory; the middle of a longer one is left out
_LONGEST = 400  # characters of one text
_ORDER = {"failed": 0, "cut": 1, "declined": 2, "answered": 3}


@dataclass(frozen=True, slots=True)
class Failure:
    """``steps``: turn, what was thought, what was called, what came back; ``problem``: why there
    are none."""

    row: ResultRow
    steps: tuple[tuple[str, str, str, str], ...] = ()
    problem: str = ""

    def to_json(self) -> dict[str, Json]:
        names = ("turn", "thought", "call", "result")
        return {
            **self.row.to_json(),
            "missed": [name for name in self.row.gold if name not in self.row.predicted],
            "wrong": [name for name in self.row.predicted if name not in self.row.gold],
            "steps": [dict(zip(names, step, strict=True)) for step in self.steps],
            "problem": self.problem,
        }


def worst(rows: Sequence[ResultRow], folder: Path, most: int) -> list[Failure]:
    """Of the rows that are not right: lowest F1 first, then what ended without an answer,
    then the longest; ``folder`` is the run's."""
    wrong = [row for row in rows if row.right < 1]
    wrong.sort(key=lambda row: (row.f1, _ORDER[row.status], -row.turns, row.key))
    return [_failure(row, folder) for row in wrong[:most]]


def _failure(row: ResultRow, folder: Path) -> Failure:
    if not row.trace:
        return Failure(row, problem="no trajectory was written")
    fault, why = fault_of(folder, row.trace)
    if fault:
        return Failure(row, problem=f"no trace lies in the run's folder: {why}")
    try:
        record = trajectory.load(folder / row.trace)
    except AgentError as exc:
        return Failure(row, problem=exc.message)
    steps = [_told(step) for step in record.all_steps]
    left_out = len(steps) - MOST_STEPS
    if left_out > 0:
        half = MOST_STEPS // 2
        gap = ("…", "", f"{left_out} turns are left out", "")
        steps = [*steps[:half], gap, *steps[-half:]]
    return Failure(row, tuple(steps))


def _told(step: Step) -> tuple[str, str, str, str]:
    seen = step.observation
    arguments = json.dumps(step.call.arguments, ensure_ascii=False)
    result = f"error: {seen.error}" if seen.error else seen.brief
    call = f"{step.call.name} {arguments}"
    return str(step.index), _cut(step.thought), _cut(call), _cut(result)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

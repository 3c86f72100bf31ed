"""What choosing is worth where a question was answered several times: F1 of one run, of the
majority, of the answer that was chosen, and of the best that was there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from photocraft_local.evaluation.metrics import f1
from photocraft_local.evaluation.questions import Reply
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


def voted(replies: Sequence[Reply]) -> Reply:
    """One reply of several runs: the photos of ``majority``, most votes first, the calls, turns and
    tokens of all. Answered if one of them was, else as the first one ended."""
    votes = Counter(name for reply in replies for name in dict.fromkeys(reply.predicted))
    wanted = majority([reply.predicted for reply in replies])
    told = next((one for one in replies if one.status == "answered"), replies[0])
    return replace(
        told,
        predicted=tuple(name for name, _ in votes.most_common() if name in wanted),
        turns=sum(one.turns for one in replies),
        finished_by_itself=all(one.finished_by_itself for one in replies),
        tools=dict(sum((Counter(one.tools) for one in replies), Counter[str]())),
        runs=tuple(one.predicted for one in replies),
        has_trace=replies[0].has_trace,
        prompt_tokens=sum(one.prompt_tokens for one in replies),
        cached_tokens=sum(one.cached_tokens for one in replies),
        generated_tokens=sum(one.generated_tokens for one in replies),
        seconds=round(sum(one.seconds for one in replies), 3),
    )

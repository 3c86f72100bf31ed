"""What agents reach on a history, by kind, by hops, and apart for questions with an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from photocraft_local.evaluation.results import ResultRow
from photocraft_local.records import Json

_COLUMNS = ("EM", "F1", "answerable EM", "unanswerable EM")


def scores(rows: Sequence[ResultRow]) -> dict[str, Json]:
    """Each × 100."""
    answerable = [row for row in rows if row.gold]
    told = {
        **_means(rows),
        "seconds": round(sum(row.seconds for row in rows), 2),
        "answerable": _means(answerable),
        "unanswerable": _means([row for row in rows if not row.gold]),
        "by_kind": _by(rows, lambda row: row.kind),
        "by_hops": _by(rows, lambda row: str(row.hops)),
        "answerable_by_kind": _by(answerable, lambda row: row.kind),
        "answerable_by_hops": _by(answerable, lambda row: str(row.hops)),
        "by_status": _by(rows, lambda row: row.status),
    }
    if asked := [row for row in rows if row.text_contained is not None]:
        told["text_contained"] = round(100 * fmean(row.text_contained or 0 for row in asked), 1)
    return told


def table(told: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Lines: one an agent, then by kind and by hops."""
    yield f"{'agent':<12}{'n':>6}" + "".join(f"{name:>17}" for name in _COLUMNS)
    for agent, one in told.items():
        values = (one["em"], one["f1"], one["answerable"]["em"], one["unanswerable"]["em"])
        yield f"{agent:<12}{one['n']:>6}" + "".join(_cell(value) for value in values)
    for part in ("by_kind", "by_hops"):
        for agent, one in told.items():
            cells = [
                f"{name} {means['em']:.1f} ({means['n']})" for name, means in one[part].items()
            ]
            yield f"{agent:<12}{part.replace('_', ' ')}, EM (n): " + ", ".join(cells)


def _cell(value: float | None) -> str:
    return f"{'-' if value is None else f'{value:.1f}':>17}"


def _means(rows: Sequence[ResultRow]) -> dict[str, Json]:
    if not rows:
        return {"n": 0, "em": None, "f1": None}
    return {
        "n": len(rows),
        "em": round(100 * fmean(row.em for row in rows), 1),
        "f1": round(100 * fmean(row.f1 for row in rows), 1),
    }


def _by(rows: Sequence[ResultRow], key: Callable[[ResultRow], str]) -> dict[str, Json]:
    names = sorted({key(row) for row in rows})
    return {name: _means([row for row in rows if key(row) == name]) for name in names}

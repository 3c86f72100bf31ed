"""What a benchmark of this machine says: a rate and the most that the machine would allow, or why
there is none. Knows no stage.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from photocraft_local.errors import PhotocraftError

STAGES = ("machine", "decode", "crops", "embed", "search", "agent", "gpu")


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` is None where nothing was measured, and ``why`` then says why.

    ``ceiling``: the same rate if only what ``bound`` names took time, measured in the same run.
    """

    stage: str
    name: str
    value: float | None = None
    unit: str = ""
    ceiling: float | None = None
    bound: str = ""
    note: str = ""
    why: str = ""

    @property
    def share(self) -> float | None:
        """Of the ceiling. Above 1 where the bound was not what bounds, as in a cache."""
        return self.value / self.ceiling if self.value and self.ceiling else None


def not_measured(stage: str, name: str, error: PhotocraftError) -> Figure:
    """With the error's reason and its way out."""
    return Figure(stage, name, why="; ".join(filter(None, (error.message, error.hint))))


def side_by_side(
    run: Callable[[], object],
    floor: Callable[[], object],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float]:
    """Median seconds of both, in turns, so that a busy neighbour hits both alike."""
    spent: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(-1, rounds):
        for is_floor in (True, False) if turn % 2 else (False, True):
            start = clock()
            (floor if is_floor else run)()
            if turn >= 0:
                spent[is_floor].append(clock() - start)
    return statistics.median(spent[False]), max(statistics.median(spent[True]), 1e-9)


def seconds(
    run: Callable[[], object], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Median of the rounds, after one to warm up."""
    return statistics.median(_spent(run, rounds, clock))


def quickest(
    run: Callable[[], object], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The least of the rounds: what the machine can do, whoever else was busy."""
    return min(_spent(run, rounds, clock))


def _spent(run: Callable[[], object], rounds: int, clock: Callable[[], float]) -> list[float]:
    run()
    spent = []
    for _ in range(rounds):
        start = clock()
        run()
        spent.append(max(clock() - start, 1e-9))
    return spent

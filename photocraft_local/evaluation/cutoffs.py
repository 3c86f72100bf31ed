"""Which cut-off returns the right sets: figures at many, and a recommended one.

Chosen on every second query and shown on the others, which it did not see. Worth is the mean of
two shares: F1 of the sets, and queries without a right photo that return nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from photocraft_local.evaluation.retrieval import ScoredQuery, absent_figures, set_figures
from photocraft_local.records import Json

_SHIFTS = tuple(round(float(shift), 1) for shift in np.arange(-2.5, 2.51, 0.1))
_LEAST_QUERIES = 4  # of each half; fewer say nothing


@dataclass(frozen=True, slots=True)
class CutOff:
    """``shift``: what is added to the encoder's own cut-off, which is a z-score."""

    shift: float
    figures: dict[str, float]

    def to_json(self) -> dict[str, Json]:
        plain = {name: None if v != v else v for name, v in self.figures.items()}
        return {"shift": self.shift, **plain}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """``curve``: over all queries. ``recommended`` and ``shipped``: on the half that was not chosen
    on; None where there are too few queries. ``cutoff``: the encoder's own."""

    cutoff: float
    curve: tuple[CutOff, ...]
    shipped: CutOff | None = None
    recommended: CutOff | None = None

    def to_json(self) -> dict[str, Json]:
        best = self.recommended
        return {
            "cutoff": self.cutoff,
            "recommended_cutoff": None if best is None else round(self.cutoff + best.shift, 3),
            "shipped": None if self.shipped is None else self.shipped.to_json(),
            "recommended": None if best is None else best.to_json(),
            "curve": [one.to_json() for one in self.curve],
        }


def calibrated(
    present: Sequence[ScoredQuery], absent: Sequence[ScoredQuery], cutoff: float
) -> Calibrated:
    """``present`` have a right photo, ``absent`` none; without absent ones, what the present ones
    return wrongly takes their place."""
    curve = tuple(at(shift, present, absent) for shift in _SHIFTS)
    if len(present) < 2 * _LEAST_QUERIES:
        return Calibrated(cutoff, curve)
    seen = [at(shift, present[::2], absent[::2]) for shift in _SHIFTS]
    best = max(seen, key=lambda one: (round(worth(one), 6), -abs(one.shift)))
    apart = present[1::2], absent[1::2]
    return Calibrated(cutoff, curve, at(0.0, *apart), at(best.shift, *apart))


def at(shift: float, present: Sequence[ScoredQuery], absent: Sequence[ScoredQuery]) -> CutOff:
    figures = set_figures(present, shift)
    if absent:
        figures |= absent_figures(absent, shift)
    return CutOff(shift, figures)


def worth(one: CutOff) -> float:
    return (one.figures["f1"] + one.figures.get("absent_empty", one.figures["nothing_wrong"])) / 2

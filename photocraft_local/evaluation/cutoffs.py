"""Which cut-off returns the right sets: figures at many, and a recommended one.

Chosen on one half and shown on the other, which it did not see: the halves share no photo and no
query. Worth is F1 of the sets or, where queries without a right photo are given, the mean of that
and of how many of those return nothing. Each query put to the photos that are not right for it
(``left_out``) is told apart and recommends nothing: others may show the same, unlabelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from photocraft_local.evaluation.retrieval import ScoredQuery, absent_figures, plain, set_figures
from photocraft_local.records import Json

_SHIFTS = tuple(round(float(shift), 1) for shift in np.arange(-2.5, 2.51, 0.1))
_LEAST_QUERIES = 4  # of each half; fewer say nothing


@dataclass(frozen=True, slots=True)
class CutOff:
    """``shift``: what is added to the encoder's own cut-off, which is a z-score."""

    shift: float
    figures: dict[str, float]

    def to_json(self) -> dict[str, Json]:
        return {"shift": self.shift, **plain(self.figures)}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """``curve``: over all queries. ``recommended`` and ``shipped``: on the half that was not chosen
    on; None where there are too few queries, as ``too_few`` says. ``cutoff``: the encoder's own,
    moved by ``offset``, the ``cutoff_shift`` of the settings; shifts are added to that."""

    cutoff: float
    curve: tuple[CutOff, ...]
    shipped: CutOff | None = None
    recommended: CutOff | None = None
    offset: float = 0.0
    chosen_by: str = ""
    too_few: str = ""

    @property
    def cutoff_shift(self) -> float | None:
        """What the settings file should say."""
        best = self.recommended
        return None if best is None else round(self.offset + best.shift, 3)

    def to_json(self) -> dict[str, Json]:
        best = self.recommended
        return {
            "cutoff": self.cutoff,
            "cutoff_shift": self.offset,
            "recommended_cutoff_shift": self.cutoff_shift,
            "chosen_by": self.chosen_by or None,
            "too_few": self.too_few or None,
            "recommended_cutoff": None if best is None else round(self.cutoff + best.shift, 3),
            "shipped": None if self.shipped is None else self.shipped.to_json(),
            "recommended": None if best is None else best.to_json(),
            "curve": [one.to_json() for one in self.curve],
        }


def calibrated(
    present: Sequence[ScoredQuery],
    absent: Sequence[ScoredQuery],
    cutoff: float,
    offset: float = 0.0,
) -> Calibrated:
    """``present`` have a right photo, ``absent`` none; all are scored against the same photos.
    ``cutoff`` and ``offset``: as in ``Calibrated``."""
    curve = tuple(at(shift, present, absent) for shift in _SHIFTS)
    seen, apart = _halves(present, absent)
    for name, least, parts in (
        ("queries with a right photo", 1, (seen[0], apart[0])),
        ("queries without a right photo", 0, (seen[1], apart[1])),
    ):
        num = min(map(len, parts))
        if num < _LEAST_QUERIES and (least or absent):
            few = f"{num} {name} in one half, and {_LEAST_QUERIES} are needed"
            return Calibrated(cutoff, curve, offset=offset, too_few=few)
    tried = [at(shift, *seen) for shift in _SHIFTS]
    best = max(tried, key=lambda one: (round(worth(one), 6), -abs(one.shift)))
    by = "f1 and absent_empty" if absent else "f1"
    shown = at(0.0, *apart), at(best.shift, *apart)
    return Calibrated(cutoff, curve, *shown, offset=offset, chosen_by=by)


Half = tuple[list[ScoredQuery], list[ScoredQuery]]


def _halves(present: Sequence[ScoredQuery], absent: Sequence[ScoredQuery]) -> tuple[Half, Half]:
    """Every second photo is one half's. A query goes to the half of its only right photo, of
    several to either by turns, and is judged among that half's photos. Queries without one go by
    turns and are put to all photos, since none is right for them."""
    halves: tuple[Half, Half] = ([], list(absent[::2])), ([], list(absent[1::2]))
    turn = 0
    for query in present:
        places = np.flatnonzero(query.relevant)
        if len(places) == 1:
            half = int(places[0]) % 2
        else:
            half, turn = turn, 1 - turn
        mine = np.arange(len(query.relevant)) % 2 == half
        if query.relevant[mine].any():
            halves[half][0].append(query.among(mine))
    return halves


def at(shift: float, present: Sequence[ScoredQuery], absent: Sequence[ScoredQuery]) -> CutOff:
    figures = set_figures(present, shift)
    if absent:
        figures |= absent_figures(absent, shift)
    return CutOff(shift, figures)


def worth(one: CutOff) -> float:
    f1 = one.figures["f1"]
    return (f1 + one.figures["absent_empty"]) / 2 if "absent_empty" in one.figures else f1

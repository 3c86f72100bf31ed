"""Two runs over the same questions, question by question: what changed, and whether by chance.

EM by McNemar's exact test, F1 by resampling the questions' differences (``bootstrap.paired``,
fixed seed). A question that stands in one run only, or with another gold, is named and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, isnan
from statistics import fmean

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.bootstrap import paired
from photocraft_local.evaluation.reports.figures import clusters_of
from photocraft_local.evaluation.results import ResultRow, RunFolder
from photocraft_local.records import Json

Key = tuple[str, str]  # library, question
Pair = tuple[ResultRow, ResultRow]  # of A and B


@dataclass(frozen=True, slots=True)
class Change:
    """Of some questions. ``gained``: wrong in A and right in B; ``lost``: the other way about;
    the p-values say how often chance alone gives at least such a difference."""

    num: int
    em: tuple[float, float]  # of A and B
    f1: tuple[float, float]
    gained: int
    lost: int
    em_p: float
    f1_difference: tuple[float, float, float]  # mean, and where it lies with 95 %
    f1_p: float

    def to_json(self) -> dict[str, Json]:
        return {
            "num": self.num,
            "em": _rounded(self.em),
            "f1": _rounded(self.f1),
            "gained": self.gained,
            "lost": self.lost,
            "em_p": round(self.em_p, 5),
            "f1_difference": _rounded(self.f1_difference),
            "f1_p": None if isnan(self.f1_p) else round(self.f1_p, 5),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """``differs``: what the two configurations do not share; the lists name questions."""

    all: Change
    by_kind: dict[str, Change]
    gained: list[Key]
    lost: list[Key]
    only_a: list[Key]
    only_b: list[Key]
    other_gold: list[Key]
    differs: dict[str, tuple[Json, Json]]

    def to_json(self) -> dict[str, Json]:
        lists = ("gained", "lost", "only_a", "only_b", "other_gold")
        return {
            "all": self.all.to_json(),
            "by_kind": {kind: change.to_json() for kind, change in self.by_kind.items()},
            **{f"{name}_questions": [list(key) for key in getattr(self, name)] for name in lists},
            "differs": {name: list(values) for name, values in self.differs.items()},
        }


def compare(a: RunFolder, b: RunFolder) -> Comparison:
    """Raises EvaluationError if no question stands in both."""
    both = sorted(set(a.rows) & set(b.rows))
    pairs = [(a.rows[key], b.rows[key]) for key in both if _same_gold(a.rows[key], b.rows[key])]
    if not pairs:
        raise EvaluationError(
            f"the runs in {a.path} and {b.path} share no question with the same gold",
            hint="compare runs over the same data set",
        )
    kinds = sorted({one.kind for one, _ in pairs})
    return Comparison(
        all=change(pairs),
        by_kind={kind: change([p for p in pairs if p[0].kind == kind]) for kind in kinds},
        gained=_where(pairs, lambda one, other: one.em < other.em),
        lost=_where(pairs, lambda one, other: one.em > other.em),
        only_a=sorted(set(a.rows) - set(b.rows)),
        only_b=sorted(set(b.rows) - set(a.rows)),
        other_gold=[key for key in both if not _same_gold(a.rows[key], b.rows[key])],
        differs=_differs(a, b),
    )


def change(pairs: Sequence[Pair]) -> Change:
    gained = sum(one.em < other.em for one, other in pairs)
    lost = sum(one.em > other.em for one, other in pairs)
    f1 = [one.f1 for one, _ in pairs], [other.f1 for _, other in pairs]
    found = paired(*f1, clusters=clusters_of([one for one, _ in pairs]))
    return Change(
        len(pairs),
        (fmean(one.em for one, _ in pairs), fmean(other.em for _, other in pairs)),
        (fmean(f1[0]), fmean(f1[1])),
        gained,
        lost,
        mcnemar(gained, lost),
        (found.interval.mean, found.interval.low, found.interval.high),
        found.p_value,
    )


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided exact p-value: of the questions that changed, as many went either way as heads and
    tails of a coin would. 1 where none changed."""
    changed = gained + lost
    tail = sum(comb(changed, at) for at in range(min(gained, lost) + 1))
    return min(1.0, float(2 * tail / 2**changed))


def _same_gold(one: ResultRow, other: ResultRow) -> bool:
    return set(one.gold) == set(other.gold) and one.gold_text == other.gold_text


def _where(pairs: Sequence[Pair], is_so: Callable[[ResultRow, ResultRow], bool]) -> list[Key]:
    return [one.key for one, other in pairs if is_so(one, other)]


def _differs(a: RunFolder, b: RunFolder) -> dict[str, tuple[Json, Json]]:
    """Names of the identity, one level down where both values are objects."""
    mine, theirs = (_flat(run.head["identity"]) for run in (a, b))
    names = sorted({*mine, *theirs})
    return {
        name: (mine.get(name), theirs.get(name))
        for name in names
        if mine.get(name) != theirs.get(name)
    }


def _flat(identity: dict[str, Json]) -> dict[str, Json]:
    flat: dict[str, Json] = {}
    for name, value in identity.items():
        flat |= (
            {f"{name}.{inner}": v for inner, v in value.items()}
            if isinstance(value, dict)
            else {name: value}
        )
    return flat


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]

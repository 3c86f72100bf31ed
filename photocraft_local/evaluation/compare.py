"""Two runs over the same questions, question by question: what changed, and whether by chance.

F1 and EM by flips of sign (``bootstrap.paired``, fixed seed), of whole libraries where there are
enough of them (``Unit``); EM by McNemar's exact test, which takes questions for independent, only
where each is drawn alone. A question that stands in one run only, or with another gold, is named
and left out; where no set is known, the words are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, isnan
from statistics import fmean

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.bootstrap import paired
from photocraft_local.evaluation.reports.figures import Unit
from photocraft_local.evaluation.results import ResultRow, RunFolder
from photocraft_local.records import Json

Key = tuple[str, str]  # library, question
Pair = tuple[ResultRow, ResultRow]  # of A and B
_Both = tuple[Sequence[float], Sequence[float]]  # of A and B, a value a question


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
    em_test: str = "mcnemar"

    def to_json(self) -> dict[str, Json]:
        return {
            "num": self.num,
            "em": _rounded(self.em),
            "f1": _rounded(self.f1),
            "gained": self.gained,
            "lost": self.lost,
            "em_p": round(self.em_p, 5),
            "em_test": self.em_test,
            "f1_difference": _rounded(self.f1_difference),
            "f1_p": None if isnan(self.f1_p) else round(self.f1_p, 5),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """``all`` and ``by_kind``: of the questions whose set is known; ``text``: of those with an
    answer in words, by normalised match (``em`` and ``f1`` are both of that); None where there are
    none. ``differs``: what the two configurations do not share; the lists name questions."""

    unit: Unit
    all: Change | None
    text: Change | None
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
            "unit": self.unit.to_json(),
            "all": self.all.to_json() if self.all else None,
            "text": self.text.to_json() if self.text else None,
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
    unit = Unit.of(one for one, _ in pairs)
    judged = [pair for pair in pairs if pair[0].has_gold]
    worded = [pair for pair in pairs if pair[0].gold_text]
    kinds = sorted({one.kind for one, _ in judged})
    return Comparison(
        unit=unit,
        all=change(judged, unit) if judged else None,
        text=_text_change(worded, unit) if worded else None,
        by_kind={kind: change([p for p in judged if p[0].kind == kind], unit) for kind in kinds},
        gained=_where(pairs, lambda one, other: one.right < other.right),
        lost=_where(pairs, lambda one, other: one.right > other.right),
        only_a=sorted(set(a.rows) - set(b.rows)),
        only_b=sorted(set(b.rows) - set(a.rows)),
        other_gold=[key for key in both if not _same_gold(a.rows[key], b.rows[key])],
        differs=_differs(a, b),
    )


def change(pairs: Sequence[Pair], unit: Unit) -> Change:
    em = [one.em for one, _ in pairs], [other.em for _, other in pairs]
    f1 = [one.f1 for one, _ in pairs], [other.f1 for _, other in pairs]
    return _change(em, f1, unit.clusters(one for one, _ in pairs))


def _text_change(pairs: Sequence[Pair], unit: Unit) -> Change:
    right = [_said(one) for one, _ in pairs], [_said(other) for _, other in pairs]
    return _change(right, right, unit.clusters(one for one, _ in pairs))


def _said(row: ResultRow) -> float:
    return row.text_normalised or 0.0


def _change(em: _Both, f1: _Both, clusters: Sequence[str] | None) -> Change:
    gained = sum(one < other for one, other in zip(*em, strict=True))
    lost = sum(one > other for one, other in zip(*em, strict=True))
    found = paired(*f1, clusters=clusters)
    alone = clusters is None or len(set(clusters)) == len(clusters)
    return Change(
        len(em[0]),
        (fmean(em[0]), fmean(em[1])),
        (fmean(f1[0]), fmean(f1[1])),
        gained,
        lost,
        mcnemar(gained, lost) if alone else paired(*em, clusters=clusters).p_value,
        (found.interval.mean, _share(found.interval.low), _share(found.interval.high)),
        found.p_value,
        "mcnemar" if alone else "sign-flip",
    )


def _share(value: float) -> float:
    """Two shares never differ by more than 1."""
    return value if isnan(value) else min(1.0, max(-1.0, value))


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided exact p-value: of the questions that changed, as many went either way as heads and
    tails of a coin would. 1 where none changed."""
    changed = gained + lost
    tail = sum(comb(changed, at) for at in range(min(gained, lost) + 1))
    return min(1.0, float(2 * tail / 2**changed))


def _same_gold(one: ResultRow, other: ResultRow) -> bool:
    return (set(one.gold), one.has_gold, one.gold_text) == (
        set(other.gold),
        other.has_gold,
        other.gold_text,
    )


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


def _rounded(values: Sequence[float]) -> list[float | None]:
    return [None if isnan(value) else round(value, 4) for value in values]

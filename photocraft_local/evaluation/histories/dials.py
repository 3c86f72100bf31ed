"""What can be turned to make a history easier or harder, checked. Knows nothing of photos."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from photocraft_local.errors import EvaluationError
from photocraft_local.records import Json

LEAST_PHOTOS, MOST_PHOTOS, MOST_HOPS = 200, 20_000, 5
VERSION = 3  # of generator and templates: the same dials give the same bytes within a version


@dataclass(frozen=True, slots=True)
class Dials:
    """``missing``: share of photos whose file lacks time or position; ``wrong``: share that state
    a wrong one; ``lookalikes``: share of sights beside which stands the photo most like them that
    does not show them; ``unanswerable``: share of questions that no photo answers; ``hops``: the
    most of a question."""

    size: int = 2000
    questions: int = 300
    seed: int = 1
    hops: int = MOST_HOPS
    missing: float = 0.1
    wrong: float = 0.02
    lookalikes: float = 0.3
    unanswerable: float = 0.15

    def __post_init__(self) -> None:
        """Raises EvaluationError for what no history can be made of."""
        bounds = {"size": (LEAST_PHOTOS, MOST_PHOTOS), "hops": (1, MOST_HOPS)}
        bounds |= {"questions": (1, 10_000), "seed": (0, 2**32 - 1)}
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise EvaluationError(
                    f"{name} is {getattr(self, name)}", hint=f"{low} to {high} are possible"
                )
        most = {"missing": 0.6, "wrong": 0.2, "lookalikes": 1.0, "unanswerable": 1.0}
        for name, high_share in most.items():
            if not 0 <= getattr(self, name) <= high_share:
                raise EvaluationError(
                    f"{name} is {getattr(self, name)}",
                    hint=f"a share from 0 to {high_share} is possible",
                )

    def to_json(self) -> dict[str, Json]:
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def names(cls) -> list[str]:
        return [field.name for field in fields(cls)]

"""Photos that the model was told to doubt in this episode. Knows nothing of why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Doubts:
    """``told``: UIDs of photos that kept an answer from being accepted; ``refusals``: how often."""

    told: set[str] = field(default_factory=set)
    refusals: int = 0

    def note(self, uids: Iterable[str]) -> None:
        self.told.update(uids)
        self.refusals += 1

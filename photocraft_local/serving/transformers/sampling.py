"""Which token comes next: the best, or one by chance of a temperature; never a forbidden one.

All in 32-bit numbers on the CPU, whatever the model computes in. A thinking variant reasons first;
what a schema holds is what follows the reasoning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from photocraft_local.serving.transformers.grammar import Held


@dataclass(slots=True)
class Thought:
    """Reasoning that goes on until the token ``end``, at most ``budget`` tokens long."""

    end: int
    budget: int
    over: bool = False


class Sampler:
    """Of one reply. The same ``seed`` and scores give the same tokens; None draws anew."""

    def __init__(
        self,
        temperature: float,
        seed: int | None,
        held: Held | None,
        thought: Thought | None = None,
    ) -> None:
        import torch

        self._temperature, self._held = temperature, held
        self._thought = thought or Thought(-1, 0, over=True)
        self._generator = torch.Generator()
        if seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(seed)

    def choose(self, scores: Any, ends: frozenset[int] = frozenset()) -> int:
        """``scores``: (vocabulary,) float32. ``ends`` end a reply; where a schema waits for its
        part they end the reasoning."""
        if self._thought.over:
            return self._drawn(scores, self._held)
        if self._thought.budget <= 0:
            return self._thought.end
        token = self._drawn(scores, None)
        return self._thought.end if token in ends and self._held else token

    def take(self, token: int) -> None:
        """``token`` was written."""
        if not self._thought.over:
            self._thought.budget -= 1
            self._thought.over = token == self._thought.end
        elif self._held is not None:
            self._held.take(token)

    def _drawn(self, scores: Any, held: Held | None) -> int:
        import torch

        if held is not None:
            forbidden = torch.from_numpy(held.forbidden(len(scores)))
            scores = scores.masked_fill(forbidden, float("-inf"))
        if self._temperature <= 0:
            return int(scores.argmax())
        shares = torch.softmax(scores / self._temperature, dim=-1)
        return int(torch.multinomial(shares, 1, generator=self._generator))

"""Which token comes next: the best, or one by chance of a temperature; never a forbidden one.

All in 32-bit numbers on the CPU, whatever the model computes in.
"""

from __future__ import annotations

from typing import Any

from photocraft_local.serving.transformers.grammar import Held


class Sampler:
    """Of one reply. The same ``seed`` and scores give the same tokens; None draws anew."""

    def __init__(self, temperature: float, seed: int | None, held: Held | None) -> None:
        import torch

        self._temperature, self._held = temperature, held
        self._generator = torch.Generator()
        if seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(seed)

    def choose(self, scores: Any) -> int:
        """``scores``: (vocabulary,) float32."""
        import torch

        if self._held is not None:
            forbidden = torch.from_numpy(self._held.forbidden(len(scores)))
            scores = scores.masked_fill(forbidden, float("-inf"))
        if self._temperature <= 0:
            return int(scores.argmax())
        shares = torch.softmax(scores / self._temperature, dim=-1)
        return int(torch.multinomial(shares, 1, generator=self._generator))

    def take(self, token: int) -> None:
        """``token`` was written."""
        if self._held is not None:
            self._held.take(token)

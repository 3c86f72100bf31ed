"""What is left of a question's budget, spent on the prompts of one check before they are sent.

By their counted tokens where the tokenizer is at hand, else by what those before them took. Knows
neither photos nor verdicts; sends nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from photocraft_local.records import Usage
from photocraft_local.serving.judging import Left
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.conversation import Conversation

_LEAST_SECONDS = 0.001  # that a request is given; 0 would take its limit away


@dataclass(slots=True)
class Purse:
    brain: Brain
    left: Left
    _spent: int = 0
    _dearest: int = 0  # of the requests so far, in tokens that no cache held
    _cached: int = 0  # that each of the newest requests found

    @property
    def is_limited(self) -> bool:
        return self.left.tokens is not None or self.left.seconds() < math.inf

    @property
    def seconds(self) -> float:
        """Of a request; 0 is no limit."""
        seconds = self.left.seconds()
        return 0.0 if math.isinf(seconds) else max(_LEAST_SECONDS, seconds)

    @property
    def why(self) -> str:
        """That no more is asked."""
        what = "time" if self.left.seconds() <= 0 else "tokens"
        return f"not looked at: what is left of the {what} for this question does not pay for it"

    def paid(self, usages: Sequence[Usage]) -> None:
        fresh = [usage.fresh for usage in usages]
        self._spent += sum(fresh)
        self._dearest = max([self._dearest, *fresh])
        self._cached = min((usage.cached for usage in usages), default=self._cached)

    def pays_for(self, talks: Sequence[Conversation], reply: int = 1) -> int:
        """How many of them, from the first, with a reply of so many tokens to each."""
        if self.left.seconds() <= 0:
            return 0
        if self.left.tokens is None:
            return len(talks)
        room = self.left.tokens - self._spent
        for num, talk in enumerate(talks):
            room -= self._cost(talk) + reply
            if room < 0:
                return num
        return len(talks)

    def _cost(self, talk: Conversation) -> int:
        if self.brain.counter is None:
            return self._dearest
        sizes = {name: (one.width, one.height) for name, one in talk.pictures.items()}
        return max(0, self.brain.counter.prompt(talk.messages, sizes) - self._cached)

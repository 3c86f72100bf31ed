"""What a question may take in turns, tokens and seconds, over all of its attempts.

A fifth of the seconds, and the tokens of one more reply, are kept for the turn that gives the
answer. Knows no prompt beyond its size, and no tool.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from photocraft_local.agent.attempts import Limit
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.records import Usage
from photocraft_local.serving.chat_model import (
    ChatModel,
    Limited,
    Load,
    Measuring,
    Message,
    ToolSchema,
)
from photocraft_local.serving.judging import Left
from photocraft_local.settings import Settings

SHARE_OF_S = 6  # a summary takes at most a sixth of the window
_LAST_SHARE = 5  # the last turn has a fifth of the seconds
_LEAST_SECONDS = 0.001  # that a backbone is given; 0 would take its limit away


class Budget:
    """Of one episode. ``clock`` gives seconds; those before a cut stand in the record."""

    def __init__(self, settings: Settings, record: Trajectory, clock: Callable[[], float]) -> None:
        self._settings, self._record, self._clock = settings, record, clock
        self._began = clock() - record.seconds

    def tick(self) -> None:
        """Writes down how long the episode has run."""
        self._record.seconds = round(self._clock() - self._began, 3)

    @property
    def spent(self) -> int:
        """Tokens through prefill and decode; those from a cache are not counted."""
        return self._record.total_usage().fresh

    @property
    def caches(self) -> bool:
        """Whether the backbone has reported that a cache held something."""
        return self._record.total_usage().cached > 0

    @property
    def tokens_left(self) -> int | None:
        """None: any number."""
        most = self._settings.max_tokens
        return max(0, most - self.spent) if most else None

    def left_after(self, reply: Usage, kept: int, *, last: bool) -> Left:
        """What the call of a reply that is not written down yet may take, so that ``kept`` tokens
        stay, and the time of the last turn."""
        most = self.tokens_left
        tokens = None if most is None else max(0, most - reply.fresh - kept)
        return Left(tokens, lambda: self.seconds_left(last=last))

    def seconds_left(self, *, last: bool) -> float:
        """Until the last turn has to begin, or to end; infinite without a limit."""
        most = self._settings.max_seconds
        if not most:
            return math.inf
        end = most if last else most - most / _LAST_SHARE
        return end - (self._clock() - self._began)

    def reached(self) -> tuple[Limit, str] | None:
        """The limit that leaves only the last turn, and words for it."""
        settings = self._settings
        if len(self._record.all_steps) >= settings.max_turns:
            return "turns", f"all {settings.max_turns} turns are used"
        if self.tokens_left == 0:
            return "tokens", self.no_tokens()
        if self.seconds_left(last=False) <= 0:
            return "seconds", self.no_time()
        return None

    def no_tokens(self) -> str:
        return f"the {self._settings.max_tokens} tokens for this question are used"

    def no_time(self) -> str:
        return f"the {self._settings.max_seconds:g} seconds for this question are over"


class Meter:
    """Weighs the calls of one attempt before they are made, and limits their replies. A backbone
    that measures nothing is held to its limits by what it reports after each call."""

    def __init__(self, model: ChatModel, tools: Sequence[ToolSchema], budget: Budget) -> None:
        self._model, self._tools, self._budget = model, tools, budget
        self._sent: Sequence[Message] = ()

    def pays(self, messages: Sequence[Message], reply: int, *, kept: int, last: bool) -> bool:
        """Whether the tokens that are left pay for this prompt and ``reply``, and ``kept`` of them
        then stay. Limits the reply to what it may take."""
        left, load = self._budget.tokens_left, self._load(messages)
        if left is None or load is None:
            self._limit(0, last=last)
            return True
        room = left - self._fresh(messages, load) - kept
        self._limit(max(1, room), last=last)
        return room >= reply

    def kept(self, messages: Sequence[Message], words: Message) -> int:
        """Tokens to be kept for the last turn: its words, its reply, and what will be new to the
        cache by then: this turn's reply, a summary if it comes to one, or without a cache all. The
        result of this turn is not known; it gives way if it has to."""
        if self._budget.tokens_left is None:
            return 0
        alone, asked = self._load(messages), self._load([*messages, words])
        if alone is None or asked is None:
            return 0
        new = asked.window // SHARE_OF_S if self._budget.caches else alone.prompt
        return asked.prompt - alone.prompt + 2 * asked.reply + new

    def has_sent(self, messages: Sequence[Message]) -> None:
        self._sent = tuple(messages)

    def affordable(self, messages: Sequence[Message], reply: int) -> int:
        """The tokens that this prompt may have if ``reply`` is to be paid for, too."""
        left, load = self._budget.tokens_left, self._load(messages)
        if left is None or load is None:
            return 0
        return load.prompt - (self._fresh(messages, load) + reply - left)

    def _load(self, messages: Sequence[Message]) -> Load | None:
        model = self._model
        return model.load(messages, self._tools) if isinstance(model, Measuring) else None

    def _fresh(self, messages: Sequence[Message], load: Load) -> int:
        """Tokens that no cache holds: all of them, unless the backbone reported that it caches;
        then those behind what was sent last."""
        if not self._budget.caches:
            return load.prompt
        pairs = zip(messages, self._sent, strict=False)
        same = next((at for at, (one, other) in enumerate(pairs) if one != other), None)
        same = min(len(messages), len(self._sent)) if same is None else same
        known = self._load(messages[:same]) if same else None
        return load.prompt - (known.prompt if known else 0)

    def _limit(self, tokens: int, *, last: bool) -> None:
        if isinstance(self._model, Limited):
            seconds = self._budget.seconds_left(last=last)
            told = 0.0 if math.isinf(seconds) else max(_LEAST_SECONDS, seconds)
            self._model.limit(tokens=tokens, seconds=told)

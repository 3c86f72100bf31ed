"""What of a prompt is new, and what of the last one came from the cache. Token ids in, counts out.

Nothing is asked of an engine here. A result or a picture is new when it is first shown, whatever
it repeats. Of all other text (system, summaries, requests) a token is held if it lies in a run of
``RUN`` tokens that an earlier text has, wherever it stood: moving text makes none of it new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

RUN = 32  # tokens, one block; shorter repeats (a UID, the name of a set) are no held text
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_PICTURE = 1 << 32  # numbers from here on stand for a picture's tokens
Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class Marks:
    """Token ids: what begins a message, and all that a message with a tool's result begins with."""

    message: int
    result: tuple[int, ...]


class Texts:
    """Prompts and replies that were seen, as their messages and the hashes of all their runs."""

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self._messages: set[bytes] = set()
        self._runs: set[int] = set()

    def add(self, ids: Tokens) -> None:
        self._messages.update(one.tobytes() for one in self._split(ids))
        self._runs.update(_hashes(ids).tolist())

    def held(self, ids: Tokens) -> int:
        """How many of the prompt's tokens were seen before."""
        covered, total, start = self._covered(ids), 0, 0
        for message in self._split(ids):
            end = start + len(message)
            if message.tobytes() in self._messages:
                total += len(message)
            elif not self._is_shown(message):
                total += int(covered[start:end].sum())
            start = end
        return total

    def _split(self, ids: Tokens) -> Iterator[Tokens]:
        starts = np.flatnonzero(ids == self.marks.message)
        return (part for part in np.split(ids, starts) if len(part))

    def _is_shown(self, message: Tokens) -> bool:
        start = tuple(message[: len(self.marks.result)].tolist())
        return start == self.marks.result or bool(np.any(message >= _PICTURE))

    def _covered(self, ids: Tokens) -> NDArray[np.bool_]:
        known = [index for index, one in enumerate(_hashes(ids).tolist()) if one in self._runs]
        edges = np.zeros(len(ids) + 1, dtype=np.int64)
        np.add.at(edges, known, 1)
        np.add.at(edges, [index + RUN for index in known], -1)
        return np.cumsum(edges[:-1]) > 0


def _hashes(ids: Tokens) -> NDArray[np.uint64]:
    if len(ids) < RUN:
        return np.empty(0, dtype=np.uint64)
    powers = np.cumprod(np.full(RUN, _FACTOR, dtype=np.uint64))
    runs = np.lib.stride_tricks.sliding_window_view(ids.astype(np.uint64), RUN)
    return runs @ powers


def told_apart(
    ids: Sequence[int], pad: int, pictures: Iterable[str], names: dict[str, int]
) -> Tokens:
    """The prompt with the placeholders of each picture replaced by numbers of its own.

    ``pictures`` are the names in the order in which they stand in the prompt, ``names`` gives
    each its number and grows. ValueError if there are more or fewer than in the prompt.
    """
    made = np.array(ids, dtype=np.int64)
    places = made == pad
    starts = np.flatnonzero(places & ~np.concatenate(([False], places[:-1])))
    ends = np.flatnonzero(places & ~np.concatenate((places[1:], [False]))) + 1
    for start, end, name in zip(starts, ends, pictures, strict=True):
        number = names.setdefault(name, len(names) + 1)
        made[start:end] = number * _PICTURE + np.arange(end - start)
    return made


def common_prefix(one: Tokens, other: Tokens) -> int:
    length = min(len(one), len(other))
    differs = np.flatnonzero(one[:length] != other[:length])
    return int(differs[0]) if len(differs) else length


@dataclass
class Tally:
    """What one policy's episode cost; requests are added in their order."""

    block: int
    texts: Texts  # what is no news
    prompt_tokens: int = 0
    cached_tokens: int = 0
    new_tokens: int = 0
    generated_tokens: int = 0
    wall_s: float = 0.0
    requests: int = 0
    summaries: int = 0  # of the requests
    longest: int = 0  # tokens of a prompt with its reply
    held_before: int = 0  # tokens that the episode's previous prompt already held
    held_cached: int = 0  # of these, from the cache
    blocks_before: int = 0  # those in whole blocks of a common beginning
    blocks_cached: int = 0  # of these, from the cache
    _last: Tokens = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def prefill_tokens(self) -> int:
        return self.prompt_tokens - self.cached_tokens

    @property
    def share(self) -> float:
        """Of the tokens that the previous prompt held, those that came from the cache."""
        return self.held_cached / self.held_before if self.held_before else 0.0

    @property
    def share_rounded(self) -> float:
        """The same of whole blocks that both prompts begin with: all that a cache can keep."""
        return self.blocks_cached / self.blocks_before if self.blocks_before else 0.0

    def add(self, prompt: Tokens, cached: int, reply: Tokens, seconds: float) -> None:
        self.requests += 1
        self.prompt_tokens += len(prompt)
        self.cached_tokens += cached
        self.generated_tokens += len(reply)
        self.wall_s += seconds
        self.longest = max(self.longest, len(prompt) + len(reply))
        self.new_tokens += len(prompt) - self.texts.held(prompt)
        previous = Texts(self.texts.marks)
        previous.add(self._last)
        before = previous.held(prompt)
        common = min(common_prefix(self._last, prompt), len(prompt) - 1)
        self.held_before += before
        self.held_cached += min(cached, before)
        blocks = common // self.block * self.block
        self.blocks_before += blocks
        self.blocks_cached += min(cached, blocks)
        self.texts.add(np.concatenate((prompt, reply)))
        self._last = prompt

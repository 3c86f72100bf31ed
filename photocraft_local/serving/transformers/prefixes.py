"""Keys and values of prompts that were seen, kept as a tree of shared prefixes.

Episodes that begin alike share what they have in common; each turn adds what is new. Kept tensors
are never changed, and the tree changes by one assignment at a time, so that an interrupt anywhere
leaves nothing wrong behind. Knows no model; not safe to share between threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]  # one a token: its id, or for a picture's tokens a number of its content
Layers = list[tuple[Any, Any]]  # keys and values of each layer, (1, heads, tokens, size)


@dataclass(slots=True, eq=False)
class _Piece:
    """A run of tokens that follows ``parent``; its first key tells it from its siblings."""

    keys: Keys
    layers: Layers
    parent: _Piece | None
    used: int = 0
    next: dict[int, _Piece] = field(default_factory=dict)

    @property
    def num_bytes(self) -> int:
        return sum(part.numel() * part.element_size() for pair in self.layers for part in pair)


class Prefixes:
    """At most ``budget`` bytes; what was not used for longest goes first, from the ends."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._root = _Piece(np.empty(0, np.int64), [], None)
        self._clock = 0

    @property
    def num_bytes(self) -> int:
        return sum(piece.num_bytes for piece in self._pieces())

    def longest(self, keys: Keys) -> int:
        """How many of the first ``keys`` are kept."""
        return sum(length for _, length in self._path(keys))

    def layers(self, keys: Keys) -> Layers:
        """Of all ``keys``, which must be kept."""
        self._clock += 1
        pieces = []
        for piece, length in self._path(keys):
            piece.used = self._clock
            pieces.append(piece.layers if length == len(piece.keys) else _cut(piece, 0, length))
        return _joined(pieces)

    def keep(self, keys: Keys, layers: Layers) -> None:
        """The first ``len(keys)`` tokens of ``layers``; what is kept of them stays as it is."""
        self._clock += 1
        at, parent = 0, self._root
        for piece, length in self._path(keys):
            if length < len(piece.keys):
                piece = self._split(piece, length)
            piece.used = self._clock
            at, parent = at + length, piece
        if at < len(keys):
            own = [
                (key[..., at : len(keys), :].clone(), value[..., at : len(keys), :].clone())
                for key, value in layers
            ]
            new = _Piece(keys[at:].copy(), own, parent, self._clock)
            parent.next[int(keys[at])] = new
        self._shrink()

    def clear(self) -> None:
        self._root.next.clear()

    def _path(self, keys: Keys) -> Iterator[tuple[_Piece, int]]:
        """The pieces that ``keys`` begins with, and how much of each; only the last may be cut."""
        at, piece = 0, self._root
        while at < len(keys) and (found := piece.next.get(int(keys[at]))):
            length = common(found.keys, keys[at:])
            whole = length == len(found.keys)  # before whoever takes it splits it
            yield found, length
            if not whole:
                return
            at, piece = at + length, found

    def _split(self, piece: _Piece, at: int) -> _Piece:
        """Two pieces in the place of one; returns the first."""
        assert piece.parent is not None
        head = _Piece(piece.keys[:at], _copied(_cut(piece, 0, at)), piece.parent, piece.used)
        rest = _copied(_cut(piece, at, len(piece.keys)))
        tail = _Piece(piece.keys[at:], rest, head, piece.used, piece.next)
        for one in tail.next.values():
            one.parent = tail
        head.next[int(tail.keys[0])] = tail
        piece.parent.next[int(head.keys[0])] = head
        return head

    def _shrink(self) -> None:
        over = self.num_bytes - self._budget
        while over > 0:
            ends = (piece for piece in self._pieces() if not piece.next)
            oldest = min(ends, key=lambda piece: piece.used)
            assert oldest.parent is not None
            over -= oldest.num_bytes
            oldest.parent.next.pop(int(oldest.keys[0]), None)

    def _pieces(self) -> Iterator[_Piece]:
        waiting = list(self._root.next.values())
        while waiting:
            piece = waiting.pop()
            waiting += piece.next.values()
            yield piece


def common(first: Keys, second: Keys) -> int:
    """Length of the longest common beginning."""
    num = min(len(first), len(second))
    different = np.flatnonzero(first[:num] != second[:num])
    return int(different[0]) if len(different) else num


def _cut(piece: _Piece, start: int, end: int) -> Layers:
    return [(key[..., start:end, :], value[..., start:end, :]) for key, value in piece.layers]


def _copied(layers: Layers) -> Layers:
    """Without the storage that the cut ones hold."""
    return [(key.clone(), value.clone()) for key, value in layers]


def _joined(pieces: Sequence[Layers]) -> Layers:
    if len(pieces) < 2:
        return list(pieces[0]) if pieces else []
    import torch

    return [
        (torch.cat([key for key, _ in layer], dim=-2), torch.cat([v for _, v in layer], dim=-2))
        for layer in zip(*pieces, strict=True)
    ]

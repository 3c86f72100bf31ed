"""How alike two shapes of questions are: by their symbols, or by the meaning of their words.

Symbols that nearly every question has count little. An encoder's likeness is brought to a scale
on which a shape and itself have 1, and two shapes that have nothing to do with each other 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from photocraft_local.memory.skills.vocabulary import NUMBER, PICTURE, PLACE, THING, TIME

Vector = NDArray[np.float32]
Embed = Callable[[str], Vector | None]
"""Words → unit vector; None where the encoder can do nothing with them."""

_UNITS = ("hour", "day", "week", "weekend", "month", "year")  # one way serves all of them
_WEIGHTS = {THING: 0.25, **dict.fromkeys((NUMBER, TIME, PLACE, "with", *_UNITS), 0.5)}
_SAID = {
    THING: "something",
    TIME: "at some time",
    PLACE: "in some place",
    NUMBER: "a number",
    PICTURE: "a given picture",
}
# Shapes that have nothing to do with each other: their likeness is what an encoder calls 0.
_UNLIKE = (
    "how-many [thing] [time]",
    "day after [thing]",
    "where [thing]",
    "first trip [place]",
    "[thing] not [thing]",
    "what-says [thing]",
    "same place other year",
    "like-this",
)


def by_symbols(one: str, other: str) -> float:
    """Weight of the symbols that both have, over that of all, 0…1."""
    first, second = Counter(one.split()), Counter(other.split())
    every = _weight(first | second)
    return _weight(first & second) / every if every else 0.0


def _weight(symbols: Counter[str]) -> float:
    return sum(_WEIGHTS.get(symbol, 1.0) * number for symbol, number in symbols.items())


def in_words(shape: str) -> str:
    """For an encoder of sentences: "day after something in some place"."""
    said = (_SAID.get(symbol, symbol.replace("-", " ")) for symbol in shape.split())
    return " ".join(said)


class ByMeaning:
    """Likeness by an encoder's text vectors, each shape embedded once."""

    def __init__(self, embed: Embed) -> None:
        self._embed = lru_cache(maxsize=512)(embed)

    def of(self, one: str, other: str) -> float | None:
        """About 0…1; None where the encoder cannot say."""
        first, second = self._embed(in_words(one)), self._embed(in_words(other))
        unlike = self._unlike()
        if first is None or second is None or unlike is None or unlike > 0.99:
            return None
        return (float(first @ second) - unlike) / (1.0 - unlike)

    def _unlike(self) -> float | None:
        """Mean likeness of shapes that have nothing to do with each other."""
        vectors = self._vectors(_UNLIKE)
        if vectors is None:
            return None
        products = vectors @ vectors.T
        return float(products[~np.eye(len(vectors), dtype=bool)].mean())

    def _vectors(self, shapes: Sequence[str]) -> Vector | None:
        vectors = [self._embed(in_words(shape)) for shape in shapes]
        known = [vector for vector in vectors if vector is not None]
        return np.stack(known) if len(known) == len(shapes) else None

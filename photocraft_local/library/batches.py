"""Any iterable in lists of bounded length: ``itertools.batched``, which Python 3.11 lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in order, ``size`` at a time; the last list may be shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch

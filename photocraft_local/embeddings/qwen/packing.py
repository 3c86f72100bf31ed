"""Which items go through a model together: passes of much the same work, nothing padded.

Arithmetic on sizes only; knows no model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Result = TypeVar("Result")


def passes(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Indices of the items, parted so that no pass has more than ``most`` unless one item has.

    Each item goes into the fullest pass that still has room for it, largest items first.
    """
    order = sorted(range(len(sizes)), key=lambda index: -sizes[index])
    parted: list[list[int]] = []
    rooms: list[int] = []
    for index in order:
        fitting = [at for at, room in enumerate(rooms) if room >= sizes[index]]
        if fitting:
            best = min(fitting, key=lambda at: rooms[at])
        else:
            best = len(rooms)
            rooms.append(most)
            parted.append([])
        parted[best].append(index)
        rooms[best] -= sizes[index]
    return [sorted(part) for part in parted]


def halved(
    items: Sequence[int],
    work: Callable[[Sequence[int]], Result],
    is_full: Callable[[BaseException], bool],
) -> list[tuple[Sequence[int], Result]]:
    """``work`` on all items at once; where memory runs out, on halves, down to single ones.

    Raises what a single item raises.
    """
    try:
        return [(items, work(items))]
    except Exception as exc:
        if len(items) < 2 or not is_full(exc):
            raise
    middle = len(items) // 2  # outside of the handler: the traceback holds the pass's tensors
    parts = (items[:middle], items[middle:])
    return [done for part in parts for done in halved(part, work, is_full)]

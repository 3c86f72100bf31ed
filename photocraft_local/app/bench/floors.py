"""What the machine itself allows: bytes a second of its memory, read and copied."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from photocraft_local.app.bench.figures import Figure, quickest

_BYTES = 1 << 28  # more than a processor's caches hold


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes a second of one thread; a copy's count twice, read and written."""

    read: float
    copied: float


def memory_speed(*, quick: bool) -> Memory:
    """By the thread's own time: what it waits for a core is not the memory's."""
    rounds = 5 if quick else 15
    block = np.ones(_BYTES // 8, np.int64)
    other = np.empty_like(block)
    read = _BYTES / quickest(block.max, rounds, time.thread_time)
    copied = quickest(lambda: np.copyto(other, block), rounds, time.thread_time)
    return Memory(read, 2 * _BYTES / copied)


def memory_figures(memory: Memory) -> Iterator[Figure]:
    note = "one thread; the floor of what follows"
    yield Figure("machine", "memory read", memory.read / 1e9, "GB/s", note=note)
    yield Figure("machine", "memory copied", memory.copied / 1e9, "GB/s", note=note)

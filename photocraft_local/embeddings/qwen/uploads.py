"""Patch rows as bytes → the numbers of the processor, on the model's device.

Bytes cross the bus, an eighth of what the processor hands over; on CUDA from pinned memory in a
stream of their own, so that the next pass is on its way while the model works on this one. Rows
that were made on the device do not cross it at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.imaging.model_values import CHANNELS, HALF, ModelValues

Sent = Callable[[], Any]  # waits, in the device's own order of work, and gives the tensor there
VALUES = ModelValues(mean=HALF, std=HALF)


class Uploads:
    """``copies`` is how often a still picture stands for a frame."""

    def __init__(self, device: str, copies: int) -> None:
        import torch

        self._device, self._copies = device, copies
        self._table = torch.tensor(VALUES.table()).to(device)
        self._stream = torch.cuda.Stream() if device == "cuda" else None
        self._sent: dict[int, Sent] = {}

    def send(self, rows: NDArray[np.uint8] | Any, begun: Sent | None = None) -> None:
        """Begin to copy (patches, bytes); ``take`` of the same array ends it. ``begun`` is what
        ``begin`` gave for it."""
        if id(rows) not in self._sent:
            self._sent[id(rows)] = begun or self.begin(rows)

    def take(self, rows: NDArray[np.uint8] | Any) -> Any:
        """(patches, channel · copy · pixel) float32 on the device, bit by bit the processor's."""
        import torch

        self.send(rows)
        there = self._sent[id(rows)]().view(len(rows), CHANNELS, -1)
        levels = [self._table[at][there[:, at].int()] for at in range(CHANNELS)]
        single = torch.stack(levels, dim=1)[:, :, None]
        return single.expand(-1, -1, self._copies, -1).reshape(len(rows), -1)

    def forget(self, rows: NDArray[np.uint8]) -> None:
        """Let go of what was sent of it."""
        self._sent.pop(id(rows), None)

    def begin(self, rows: NDArray[np.uint8] | Any) -> Sent:
        """The copy, on its way; from any thread. Whoever drops it drops what was copied."""
        import torch

        if isinstance(rows, torch.Tensor):  # made on a GPU, in its own order of work
            return lambda: rows.to(self._device)
        here = torch.from_numpy(rows)
        if self._stream is None:
            return lambda: here
        pinned = torch.empty(here.shape, dtype=here.dtype, pin_memory=True)
        pinned.copy_(here)
        with torch.cuda.stream(self._stream):
            there = pinned.to(self._device, non_blocking=True)
        arrived = self._stream.record_event()

        def ready() -> Any:
            now = torch.cuda.current_stream()
            now.wait_event(arrived)
            there.record_stream(now)
            return there

        return ready

"""A copy of the rows in torch's memory on a device, so that filtered rows are gathered there.

FAISS keeps its own copy to itself and has no call that searches chosen rows of it. This second one,
in fp16 like the first, is gathered from by library calls (index_select, product, topk) in chunks of
bounded memory. Products are summed in single precision: a score is off by hardly more than the
query's rounding to fp16. Knows nothing of filters and other ways; one thread at a time.

No GPU has run this yet: tests drive it by torch on the CPU, or by a stand-in for torch.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from photocraft_local.errors import SearchError
from photocraft_local.search.halves import Halves, Rows, Singles
from photocraft_local.search.stores.store import Found

_CHUNK_BYTES = 1 << 28  # of gathered rows and scores that lie on the device at once
_UPLOAD_ELEMENTS = 1 << 25  # halves sent at once: 64 MiB
_SPARE_SHARE = 8  # one part in so many is room to grow into
_SAMPLE = 1 << 16  # rows by which the cost of a row is measured
_HINT = "free GPU memory, or leave it: filtered searches go on without a second copy"


class DeviceRows:
    """Rows (n, dim) fp16 on a device of torch's, filled by ``follow``."""

    def __init__(self, torch: Any, device: Any, dim: int) -> None:
        self._torch = torch
        self._device = device
        self._dim = dim
        self._held: Any = None  # (capacity, dim), the first ``_filled`` of them written
        self._filled = 0
        self._costs: tuple[float, float] | None = None
        self._sums_wide = self._can_sum_wide()

    def follow(self, store: Halves) -> None:
        """Send the rows that ``store`` has more. Room that is too small is given back and made
        anew, so that there are never two copies here. Raises SearchError where there is no room,
        RuntimeError as torch does."""
        if self._held is None or len(store) > len(self._held):
            self._make_room(len(store))
        step = max(1, _UPLOAD_ELEMENTS // self._dim)
        for at in range(self._filled, len(store), step):
            block = np.array(store[at : at + step])
            self._held[at : at + len(block)] = self._sent(block)
            self._filled = at + len(block)

    def release(self) -> None:
        """Give the memory back to the device, for others too."""
        self._held, self._filled = None, 0
        self._torch.cuda.empty_cache()

    def best(self, queries: Singles, k: int, rows: Rows) -> Found:
        """Scores and rows (b, k), best first, ties in any order, of ``rows`` (m,), which ``follow``
        has sent; m >= k. queries: (b, dim). Raises RuntimeError as torch does."""
        torch = self._torch
        asked, chosen = self._sent(queries.astype(np.float16)), self._sent(np.asarray(rows))
        # Gathered halves, the same widened where the product needs it, and the scores.
        step = max(k, _CHUNK_BYTES // (6 * self._dim + 4 * len(queries)))
        kept: tuple[Any, Any] | None = None
        for at in range(0, len(rows), step):
            some = chosen[at : at + step]
            scores = self._products(asked, torch.index_select(self._held, 0, some))
            values, places = torch.topk(scores, min(k, len(some)), dim=1)
            found = some[places]
            if kept is not None:
                both = torch.cat([kept[0], values], 1), torch.cat([kept[1], found], 1)
                values, places = torch.topk(both[0], k, dim=1)
                found = torch.gather(both[1], 1, places)
            kept = values, found
        assert kept is not None  # m >= k >= 1
        return kept[0].cpu().numpy(), kept[1].cpu().numpy()

    def seconds(self, number: int) -> float:
        """What ``best`` of ``number`` rows takes for a query, as first measured on this device."""
        if self._costs is None:
            most = min(_SAMPLE, self._filled)
            rows = np.sort(np.random.default_rng(0).choice(self._filled, most, replace=False))
            query = np.zeros((1, self._dim), np.float32)
            one = quickest(lambda: self.best(query, 1, rows[:1]))
            more = quickest(lambda: self.best(query, 1, rows)) - one
            self._costs = one, max(0.0, more) / max(1, most - 1)
        launches, each = self._costs
        return launches + each * number

    def _make_room(self, number: int) -> None:
        self.release()
        number += number // _SPARE_SHARE
        wanted = 2 * number * self._dim + 2 * _CHUNK_BYTES
        free = free_bytes(self._torch, self._device)
        if wanted > free:
            raise SearchError(
                f"a second copy of the vectors wants {wanted >> 20:,} MiB of {self._device}, where"
                f" {free >> 20:,} are free",
                hint=_HINT,
            )
        self._held = self._torch.empty(
            (number, self._dim), dtype=self._torch.float16, device=self._device
        )

    def _sent(self, numbers: Any) -> Any:
        # A tensor of its own: torch warns where it would share a read-only file's pages.
        return self._torch.tensor(numbers, device=self._device)

    def _products(self, queries: Any, rows: Any) -> Any:
        """(b, m) fp32. Not in fp16: its rounding, and that of partial sums, would come on top."""
        if self._sums_wide:
            return self._torch.mm(queries, rows.T, out_dtype=self._torch.float32)
        # TF32, should it be on, holds every number of fp16 as it is.
        return self._torch.mm(queries.float(), rows.float().T)

    def _can_sum_wide(self) -> bool:
        """Whether this torch multiplies halves into singles on this device."""
        one = self._sent(np.ones((8, 8), np.float16))
        try:
            self._torch.mm(one, one.T, out_dtype=self._torch.float32)
        except (TypeError, RuntimeError):
            return False
        return True


def torch_device(number: int) -> tuple[Any, Any]:
    """torch and its CUDA device of that number. Raises SearchError where either is not there."""
    if find_spec("torch") is None:
        raise SearchError("torch is not installed", hint="install the extra 'gpu'")
    try:
        import torch
    except (ImportError, OSError, RuntimeError) as exc:  # a library of CUDA's that is not there
        raise SearchError(
            f"torch is installed but cannot be loaded: {str(exc)[:200]}",
            hint="install torch again, in the build for this machine's CUDA",
        ) from exc
    seen = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if number >= seen:
        raise SearchError(
            f"torch sees {seen} CUDA devices, number {number} is wanted",
            hint="install the build of torch for this machine's CUDA",
        )
    return torch, torch.device("cuda", number)


def free_bytes(torch: Any, device: Any) -> int:
    """Of a CUDA device's memory, whoever holds the rest; others do not tell."""
    if "cuda" not in str(device):
        return sys.maxsize
    return int(torch.cuda.mem_get_info(device)[0])


def quickest(run: Callable[[], object]) -> float:
    """Seconds of the quickest of three runs."""
    return min(timeit.repeat(run, number=1, repeat=3))

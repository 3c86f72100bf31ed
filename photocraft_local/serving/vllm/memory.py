"""What fits into the memory of a device: window, number type of the KV cache, FP8 weights.

Arithmetic on sizes only. The share for activations is an estimate on the safe side; vLLM measures
its own at the start and refuses if that does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from photocraft_local.serving.vllm.checkpoint import Checkpoint

GIB = 1 << 30
WINDOWS = (65536, 49152, 32768, 24576, 16384, 8192)
GOOD_WINDOW = 32768  # above that, full weights with less window are better than FP8 weights
RESERVE = GIB  # bytes: the CUDA context, the desktop, what others take after the measurement
HIGHEST_SHARE = 0.92  # of the whole memory; vLLM's own default
BATCHED = {"cuda": (8192, 4096, 2048), "cpu": (4096, 2048)}  # tokens of one step, best first
_BASE = 3 * GIB // 2  # bytes: CUDA graphs, work areas of the kernels
FP8_SINCE = (8, 9)
_WORDS_OF_KIND = {"float32": 4}


@dataclass(frozen=True, slots=True)
class Device:
    """Where the model will run. Bytes are those of one GPU (the fullest), or of the system."""

    kind: Literal["cuda", "cpu"]
    count: int
    total: int
    free: int
    capability: tuple[int, int] = (0, 0)

    @property
    def fp8(self) -> bool:
        return self.kind == "cuda" and self.capability >= FP8_SINCE

    @property
    def share(self) -> float:
        """The part of the whole memory that may be used, in hundredths."""
        if not self.total:
            return 0.0
        free = max(0, self.free - RESERVE) * 100 // self.total / 100
        return min(HIGHEST_SHARE, free)

    @property
    def budget(self) -> int:
        return int(self.share * self.total)


@dataclass(frozen=True, slots=True)
class Fit:
    """Bytes are those of one GPU. ``batched``: tokens that one step computes; ``kv_room``: what
    is left for the KV cache."""

    window: int
    batched: int
    kv_fp8: bool
    weights_fp8: bool
    weights: int
    activations: int
    kv_per_token: int
    kv_room: int

    @property
    def needed(self) -> int:
        """With one whole window in the cache."""
        return self.weights + self.activations + self.kv_per_token * self.window

    @property
    def episodes(self) -> float:
        """How many full windows the cache holds at once."""
        return self.kv_room / (self.kv_per_token * self.window)


def best_fit(checkpoint: Checkpoint, device: Device) -> Fit | None:
    """The first way of running that fits, best first; None if none does."""
    fits = ways(checkpoint, device)
    return next((fit for fit in fits if fit.kv_room >= fit.kv_per_token * fit.window), None)


def least_fit(checkpoint: Checkpoint, device: Device) -> Fit:
    """The way that needs the least memory, whether it fits or not."""
    return min(ways(checkpoint, device), key=lambda fit: fit.needed)


def ways(checkpoint: Checkpoint, device: Device) -> Iterator[Fit]:
    """All ways of running, best first."""
    can_shrink = device.fp8 and not checkpoint.quantization and checkpoint.wide_bytes > 0
    windows = [w for w in WINDOWS if w <= checkpoint.longest_window]
    windows = windows or [checkpoint.longest_window]
    good = [w for w in windows if w >= GOOD_WINDOW]
    order = [(w, False) for w in good] + [(w, True) for w in good]
    order += [(w, fp8) for w in windows if w < GOOD_WINDOW for fp8 in (False, True)]
    for window, weights_fp8 in order:
        if weights_fp8 and not can_shrink:
            continue
        for kv_fp8 in (False, True) if device.fp8 else (False,):
            for batched in BATCHED[device.kind]:
                yield _fit(checkpoint, device, window, batched, kv_fp8, weights_fp8)


def _fit(
    checkpoint: Checkpoint,
    device: Device,
    window: int,
    batched: int,
    kv_fp8: bool,
    weights_fp8: bool,
) -> Fit:
    weights = weights_per_device(checkpoint, device.count, weights_fp8)
    busy = activations(checkpoint, device, batched)
    kv = kv_bytes_per_token(checkpoint, device.count, kv_fp8)
    room = device.budget - weights - busy
    return Fit(window, batched, kv_fp8, weights_fp8, weights, busy, kv, room)


def weights_per_device(checkpoint: Checkpoint, count: int, fp8: bool) -> int:
    """The language model is split; the vision tower stands on every GPU."""
    language = checkpoint.weight_bytes - checkpoint.vision_bytes
    language -= checkpoint.wide_bytes // 2 if fp8 else 0
    return language // count + checkpoint.vision_bytes


def kv_bytes_per_token(checkpoint: Checkpoint, count: int, fp8: bool) -> int:
    """Keys and values of every layer; heads are split, but each GPU has at least one."""
    heads = -(-checkpoint.kv_heads // count)
    size = 1 if fp8 else _WORDS_OF_KIND.get(checkpoint.dtype, 2)
    return 2 * checkpoint.layers * heads * checkpoint.head_dim * size


def activations(checkpoint: Checkpoint, device: Device, batched: int) -> int:
    """Hidden states and the two sides of one layer for a whole batch, and the logits."""
    size = _WORDS_OF_KIND.get(checkpoint.dtype, 2)
    layer = 16 * checkpoint.hidden_size + 4 * checkpoint.intermediate_size // device.count
    logits = 64 * checkpoint.vocabulary * 4
    base = _BASE if device.kind == "cuda" else GIB // 2
    return base + batched * layer * size + logits

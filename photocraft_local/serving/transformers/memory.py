"""How long a prompt may be on this device, and what may be kept for the next one.

Arithmetic on sizes and measured free memory; knows no library. Bytes everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from photocraft_local.errors import ModelError
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.families import smaller_rows
from photocraft_local.serving.vllm.memory import GIB, RESERVE, WINDOWS

CHUNK = 1024  # tokens of a prompt that go through the model at once
LONGEST_ON_CPU = 32768  # a longer prompt takes hours there
_EPISODES = 4  # full windows that are kept, memory allowing
_LARGEST_PICTURE = 4096  # tokens
_MOST_FEATURES = GIB // 2
_BASE = GIB // 2  # work areas of the kernels, the vision tower on one picture


@dataclass(frozen=True, slots=True)
class Plan:
    """``window``: tokens of prompt and reply. ``kept`` and ``features``: what the stores of
    prefixes and of encoded pictures may hold."""

    window: int
    kept: int
    features: int

    @property
    def max_pictures(self) -> int:
        """As of a server with such a window."""
        return min(128, max(24, self.window // 256))

    def picture_tokens(self, checkpoint: Checkpoint) -> int:
        """A picture takes at most a sixteenth of the window, but 1,024 tokens if it has them."""
        own = max(1, checkpoint.max_pixels // checkpoint.family.factor**2)
        return min(own, _LARGEST_PICTURE, max(self.window // 16, 1024))


def weight_bytes(checkpoint: Checkpoint, number: int) -> int:
    """Of the loaded model in numbers of ``number`` bytes."""
    stored = 4 if checkpoint.dtype == "float32" else 2
    return checkpoint.weight_bytes * number // stored


def plan(checkpoint: Checkpoint, *, on_gpu: bool, number: int, free: int) -> Plan:
    """``free``: what is left beside the loaded model. Raises ModelError if no window fits."""
    room = _room(checkpoint, on_gpu, number, free)
    token = _bytes_per_token(checkpoint, number)
    for window in _windows(checkpoint, on_gpu):
        if room >= _need(window, token, checkpoint.layers):
            left = room - token * window  # a running prompt has its own copy
            features = min(_MOST_FEATURES, left // 8)
            return Plan(window, min(left - features, _EPISODES * token * window), features)
    raise _too_little(checkpoint, on_gpu, number, free + weight_bytes(checkpoint, number))


def check(checkpoint: Checkpoint, *, on_gpu: bool, number: int, free: int) -> None:
    """Before the weights are loaded into ``free``. Raises ModelError."""
    least = min(_windows(checkpoint, on_gpu))
    need = _need(least, _bytes_per_token(checkpoint, number), checkpoint.layers)
    left = free - weight_bytes(checkpoint, number)
    if _room(checkpoint, on_gpu, number, left) < need:
        raise _too_little(checkpoint, on_gpu, number, free)


def check_passage(checkpoint: Checkpoint, *, number: int, free: int) -> None:
    """That the weights find room in the system's memory on their way to a GPU, since transformers
    by itself loads them there first. Raises ModelError."""
    need = weight_bytes(checkpoint, number)
    if free < need:
        raise ModelError(
            f"{checkpoint.name} passes through the system's memory on its way to the GPU:"
            f" {need / GIB:.1f} GiB, of which {free / GIB:.1f} GiB are free",
            hint="end what else holds memory, or let vLLM serve the model: it loads in parts",
        )


def _windows(checkpoint: Checkpoint, on_gpu: bool) -> list[int]:
    most = checkpoint.longest_window if on_gpu else min(checkpoint.longest_window, LONGEST_ON_CPU)
    return [window for window in WINDOWS if window <= most] or [most]


def _need(window: int, token: int, layers: int) -> int:
    """One prompt that runs, the same one kept, and a layer that grows: it is copied for that."""
    return 2 * token * window + token * window // layers


def _room(checkpoint: Checkpoint, on_gpu: bool, number: int, left: int) -> int:
    layer = 16 * checkpoint.hidden_size + 4 * checkpoint.intermediate_size
    work = _BASE + CHUNK * layer * number + 4 * checkpoint.vocabulary * 4
    reserve = RESERVE if on_gpu else max(0, left) // 4
    return left - reserve - work


def _bytes_per_token(checkpoint: Checkpoint, number: int) -> int:
    return 2 * checkpoint.layers * checkpoint.kv_heads * checkpoint.head_dim * number


def _too_little(checkpoint: Checkpoint, on_gpu: bool, number: int, free: int) -> ModelError:
    least = min(_windows(checkpoint, on_gpu))
    need = _need(least, _bytes_per_token(checkpoint, number), checkpoint.layers)
    need += weight_bytes(checkpoint, number)
    need -= _room(checkpoint, on_gpu, number, 0)
    need = need if on_gpu else need * 4 // 3
    where = "on the GPU" if on_gpu else "of the system's memory"
    smaller = smaller_rows(checkpoint.model_type, checkpoint.hidden_size, checkpoint.layers)
    way = f"weights.md has smaller rows, e.g. {smaller[0]}; or " if smaller else ""
    return ModelError(
        f"{checkpoint.name} needs {need / GIB:.1f} GiB {where}, {free / GIB:.1f} GiB are free",
        hint=f"{way}end what else holds memory there, and try again",
    )

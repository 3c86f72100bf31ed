"""What one request to a model server may hold: tokens, pictures, pixels.

Pictures are brought into these limits on our side, so that the server never scales one.
"""

from __future__ import annotations

from dataclasses import dataclass

from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.memory import Fit

_LARGEST_PICTURE = 4096  # tokens


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may hold: tokens in all, pictures, pixels and tokens of a picture."""

    window: int
    pictures: int
    min_pixels: int
    max_pixels: int
    picture_tokens: int


def limits_of(checkpoint: Checkpoint, fit: Fit) -> Limits:
    """A picture takes at most a sixteenth of the window, but 1,024 tokens if it has them."""
    area = checkpoint.family.factor**2
    own = max(1, checkpoint.max_pixels // area)
    tokens = min(own, fit.batched, _LARGEST_PICTURE, max(fit.window // 16, 1024))
    least = min(checkpoint.min_pixels, tokens * area)
    pictures = min(128, max(24, fit.window // 256))
    return Limits(fit.window, pictures, least, tokens * area, tokens)


def limits_of_stranger(checkpoint: Checkpoint | None, window: int) -> Limits:
    """Of a server that was not started here: its window as it states it, the rest with care."""
    window = window or 8192
    area = checkpoint.family.factor**2 if checkpoint else 28**2
    tokens = max(256, min(1024, window // 16))
    least = min(checkpoint.min_pixels if checkpoint else 4 * area, tokens * area)
    return Limits(window, 24, least, tokens * area, tokens)

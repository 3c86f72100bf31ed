"""What one request to a model server may hold: tokens, pictures, pixels.

Pictures are brought into these limits on our side, so that the server never scales one.
"""

from __future__ import annotations

from dataclasses import dataclass

from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.measuring import Measured
from photocraft_local.serving.vllm.memory import Fit

_LARGEST_PICTURE = 4096  # tokens
_UNSTATED_WINDOW = 8192  # tokens; every model of both families takes them
_DEAREST_FACTOR = 28  # of the known ones: it counts most tokens for the same picture


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may hold: tokens in all, pictures, pixels and tokens of a picture.

    ``factor``: side in pixels of the square that one token stands for. ``by_name``: a picture
    that was sent once may be named afterwards.
    """

    window: int
    pictures: int
    min_pixels: int
    max_pixels: int
    picture_tokens: int
    factor: int
    by_name: bool = True


def limits_of(checkpoint: Checkpoint, fit: Fit) -> Limits:
    """A picture takes at most a sixteenth of the window, but 1,024 tokens if it has them."""
    factor = checkpoint.family.factor
    area = factor**2
    own = max(1, checkpoint.max_pixels // area)
    tokens = min(own, fit.batched, _LARGEST_PICTURE, max(fit.window // 16, 1024))
    least = min(checkpoint.min_pixels, tokens * area)
    pictures = min(128, max(24, fit.window // 256))
    return Limits(fit.window, pictures, least, tokens * area, tokens, factor)


def picture_tokens_of_stranger(window: int) -> int:
    """Of the largest picture that is meant for a server that was not started here."""
    return max(256, min(1024, (window or _UNSTATED_WINDOW) // 16))


def limits_of_stranger(checkpoint: Checkpoint | None, window: int, measured: Measured) -> Limits:
    """Of a server that was not started here: its window as it states it, its pictures as they were
    measured, the rest with care."""
    factor = measured.factor or (checkpoint.family.factor if checkpoint else _DEAREST_FACTOR)
    area = factor**2
    tokens = picture_tokens_of_stranger(window)
    tokens = min(tokens, measured.tokens or tokens)
    least = min(checkpoint.min_pixels if checkpoint else 64 * area, tokens * area // 4)
    return Limits(
        window or _UNSTATED_WINDOW, 24, least, tokens * area, tokens, factor, measured.by_name
    )

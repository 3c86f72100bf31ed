"""What the benchmarks of patch rows share: the peers of Hugging Face, photos, one thread.

Runs in the engine environment that scripts/test makes, since the peers need transformers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _common import in_environment_with
from numpy.typing import NDArray
from PIL import Image

from photocraft_local.imaging.model_values import HALF, ModelValues, PatchLayout

LAYOUT = PatchLayout(16)  # Qwen3-VL
VALUES = ModelValues(mean=HALF, std=HALF)
TOKEN = LAYOUT.factor**2


def require_peers(*more: str) -> None:
    """Goes on, on one thread, where the peers are installed: ``in_environment_with``."""
    in_environment_with("torch", "torchvision", "transformers", *more)
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()


def processor(most_pixels: int, *, backend: str) -> Any:
    """The family's image processor; ``backend`` is "torchvision" (the default one) or "pil"."""
    from transformers.models.qwen2_vl import image_processing_pil_qwen2_vl as pil
    from transformers.models.qwen2_vl import image_processing_qwen2_vl as torchvision

    made = {
        "torchvision": torchvision.Qwen2VLImageProcessor,
        "pil": pil.Qwen2VLImageProcessorPil,
    }[backend]
    return made(
        patch_size=LAYOUT.patch,
        merge_size=LAYOUT.merge,
        temporal_patch_size=LAYOUT.copies,
        image_mean=list(VALUES.mean),
        image_std=list(VALUES.std),
        size={"shortest_edge": 4 * TOKEN, "longest_edge": most_pixels},
    )


def lsb(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """The largest difference in steps of 8 bits."""
    return float(np.abs(one - other).max() * min(VALUES.std) * 255)


def psnr(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """In dB, over the range of 2 that normalised values have."""
    error = float(np.mean((one.astype(np.float64) - other) ** 2))
    return 10 * float(np.log10(4 / max(error, 1e-12)))


def resized(scenes: list[Image.Image], width: int, height: int) -> list[Image.Image]:
    return [scene.resize((width, height), Image.Resampling.BICUBIC) for scene in scenes]

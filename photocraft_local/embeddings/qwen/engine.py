"""Qwen3-VL-Embedding by vLLM's pooling runner, in this process.

Pictures are given in the family's own sizes, so that vLLM's processor leaves them as they are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from photocraft_local.embeddings.encoder import Vectors
from photocraft_local.embeddings.qwen.prompt import MOST_TOKENS
from photocraft_local.errors import EncoderError, MissingExtraError
from photocraft_local.serving.transformers.libraries import OFFLINE

_HINT = "photocraft doctor shows what holds memory; or set encoder_engine to transformers"
# Read once, at the import: one process, no reports of use, no address but this machine's.
_ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "TQDM_DISABLE": "1",
}
_CPU_CACHE = 256 << 20  # bytes of keys and values; a prompt is computed once and let go
_CPU_BLOCK = 32  # tokens; the CPU build takes multiples of 32


@dataclass(frozen=True, slots=True)
class Shown:
    """A prompt's text and, of a photo, its pixels in a size of the family."""

    text: str
    picture: Image.Image | None = None


class EngineEmbedder:
    """The running engine; ``where`` says on what."""

    def __init__(self, folder: Path, *, longest: int = MOST_TOKENS, **options: Any) -> None:
        """Raises MissingExtraError without vLLM, EncoderError if it does not start."""
        if find_spec("vllm") is None:
            raise MissingExtraError("vllm", "gpu", "the setting encoder_engine = 'vllm'")
        os.environ |= OFFLINE
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        from vllm import LLM
        from vllm.platforms import current_platform

        on_cpu = current_platform.is_cpu()
        self.where = f"vLLM on the {'CPU' if on_cpu else 'GPU'}"
        usual = _options(on_cpu) | {"max_model_len": longest}
        try:
            self._engine = LLM(model=str(folder), **(usual | options))
        except Exception as exc:  # vLLM raises whatever its parts raise
            said = " ".join(str(exc).split())[:300]
            raise EncoderError(f"vLLM cannot run {folder}: {said}", hint=_HINT) from exc

    def embed(self, items: Sequence[Shown]) -> Vectors:
        """The last token's state of each item, (n, size of the model) float32, of unit length."""
        asked = [
            {"prompt": item.text}
            | ({"multi_modal_data": {"image": item.picture}} if item.picture else {})
            for item in items
        ]
        outputs = self._engine.embed(asked, use_tqdm=False)
        return np.array([output.outputs.embedding for output in outputs], np.float32)


def _options(on_cpu: bool) -> dict[str, Any]:
    shared = {
        "runner": "pooling",
        "convert": "embed",
        "limit_mm_per_prompt": {"image": 1, "video": 0},
        "trust_remote_code": False,
        "disable_log_stats": True,
    }
    if not on_cpu:
        return shared | {"dtype": "auto"}
    return shared | {
        "dtype": "float32",  # "auto" would make it bfloat16, which CPUs compute slowly
        "enforce_eager": True,
        "block_size": _CPU_BLOCK,
        "kv_cache_memory_bytes": _CPU_CACHE,
        "distributed_executor_backend": "uni",
    }

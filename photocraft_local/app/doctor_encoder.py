"""The doctor's look at the encoder: what runs it, on what, how its attention is computed, and why.

Opens the engine of a placed encoder, to say what works and not what should; loads no photo.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.findings import Finding
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder
    from photocraft_local.embeddings.qwen.encoder import QwenEncoder

LABELS_STATEMENT = (
    "label search with soft matching: a classifier's 1,000 labels in a sentence space. Good at"
    " things and animals, weak at people, actions, counting and text; not a CLIP."
    " weights.md tells how to place a CLIP or SigLIP folder (--encoder FOLDER)"
)
_KNOWN = {"labels": LABELS_STATEMENT, "null": "for tests: its vectors mean nothing"}
_NOT_PROVEN = (
    "placed encoders were run on a CPU alone, with random weights of their architectures; nothing"
    " of them ran on a GPU"
)


def encoder(settings: Settings) -> Iterator[Finding]:
    """Which encoder is chosen, its vector space, and for a placed one what will run it."""
    from photocraft_local.embeddings.registry import make_encoder

    made = make_encoder(settings)
    yield Finding("encoder", "ok", f"{settings.encoder}: {_what(settings, made)}")
    space = f"{made.spec.space_id}: {made.spec.dim} dimensions, fp16 on disk"
    yield Finding("vector space", "ok", space)
    if settings.encoder in _KNOWN:
        return
    from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder
    from photocraft_local.embeddings.qwen.encoder import QwenEncoder

    if isinstance(made, OnnxDualEncoder):
        yield _onnx(made)
    elif isinstance(made, QwenEncoder):
        yield from _qwen(made, settings)
    yield Finding("encoder not proven", "ok", _NOT_PROVEN)


def _what(settings: Settings, made: object) -> str:
    if settings.encoder in _KNOWN:
        return _KNOWN[settings.encoder]
    kind = "ONNX dual encoder" if type(made).__name__ == "OnnxDualEncoder" else "Qwen3-VL-Embedding"
    return f"{kind} in {Path(settings.encoder).expanduser()}"


def _onnx(made: OnnxDualEncoder) -> Finding:
    """Raises EncoderError where the setting wants CUDA and it does not work."""
    from photocraft_local.embeddings.onnx_session import devices

    built = ", ".join(devices())
    return Finding("encoder runs on", "ok", f"the {made.where}; this onnxruntime knows {built}")


def _qwen(made: QwenEncoder, settings: Settings) -> Iterator[Finding]:
    from photocraft_local.embeddings.qwen.encoder import choose_engine

    engine, why = choose_engine(settings.encoder_engine, settings.encoder_device)
    if engine == "vllm":
        yield Finding("encoder runs on", "ok", f"vLLM ({why}), which chooses its attention itself")
        return
    from photocraft_local.embeddings.qwen import attention
    from photocraft_local.serving.transformers import libraries
    from photocraft_local.serving.transformers.loading import device_for

    libraries.prepare("Qwen3-VL-Embedding")
    device, dtype = device_for(settings.encoder_device)
    where = f"transformers on the {'GPU' if device == 'cuda' else 'CPU'} in {dtype} ({why})"
    yield Finding("encoder runs on", "ok", where)
    way = attention.describe(attention.choose(device, dtype))
    yield Finding("encoder attention", "ok", way)

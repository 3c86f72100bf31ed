"""Which encoder a setting means. The only place that knows all of them."""

from __future__ import annotations

from pathlib import Path

from photocraft_local.embeddings.encoder import Encoder
from photocraft_local.errors import EncoderError
from photocraft_local.settings import Settings


def make_encoder(settings: Settings) -> Encoder:
    """The encoder of ``settings.encoder``; nothing heavy is loaded before it is used.

    Raises:
        EncoderError: it is neither a known name nor a usable folder.
    """
    name = settings.encoder
    if name == "labels":
        from photocraft_local.embeddings.labels.encoder import LabelEncoder

        return LabelEncoder(settings.cache)
    if name == "null":
        from photocraft_local.embeddings.null import NullEncoder

        return NullEncoder()
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise EncoderError(
            f"encoder {name!r} is neither 'labels', 'null' nor a folder",
            hint="weights.md says how to place CLIP or SigLIP in ONNX form, or Qwen3-VL-Embedding",
        )
    from photocraft_local.embeddings.qwen.folder import is_qwen

    if is_qwen(folder):
        from photocraft_local.embeddings.qwen.encoder import QwenEncoder

        return QwenEncoder(
            folder,
            engine=settings.encoder_engine,
            device=settings.encoder_device,
            dim=settings.encoder_dim,
            max_pixels=settings.encoder_pixels,
            instruction=settings.encoder_instruction,
        )
    from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder

    return OnnxDualEncoder(folder, device=settings.encoder_device)

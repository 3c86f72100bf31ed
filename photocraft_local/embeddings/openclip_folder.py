"""Folders as exporters of OpenCLIP write them (Immich's among these): ``visual/`` and ``textual/``
with a ``model.onnx`` each, and files in OpenCLIP's own words, told here in those of transformers.

Runs nothing; ``onnx_folder`` knows what is done with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

# Each part of the folder, by the name that an error gives it.
PARTS = {
    "vision": "visual/model.onnx",
    "text": "textual/model.onnx",
    "tokenizer": "textual/tokenizer.json",
    "preprocessor": "visual/preprocess_cfg.json",
}


def is_openclip(root: Path) -> bool:
    """Whether one of the towers lies where OpenCLIP's exporters put it."""
    return any((root / PARTS[tower]).is_file() for tower in ("vision", "text"))


def cleans(config: Mapping[str, Any]) -> bool:
    """Whether texts lose their capitals and punctuation, as those of SigLIP's training did."""
    given = _inner(config, "text_cfg").get("tokenizer_kwargs")
    return isinstance(given, dict) and given.get("clean") == "canonicalize"


def model_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """``config.json``: the numbers of a vector, the longest text, and which family it is."""
    is_siglip = cleans(config) or config.get("init_logit_bias") is not None
    longest = _inner(config, "text_cfg").get("context_length", 77)
    return {
        "projection_dim": config.get("embed_dim"),
        "text_config": {"max_position_embeddings": longest},
        "model_type": "siglip" if is_siglip else "clip",
    }


def picture_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """``preprocess_cfg.json``. Raises KeyError, ValueError for what is not known."""
    size = config["size"]
    height, width = size if isinstance(size, list) and len(size) == 2 else (size, size)
    mode = config.get("resize_mode", "shortest")
    if mode not in ("shortest", "squash") or (mode == "shortest" and height != width):
        raise ValueError(f"resize_mode {mode!r} to {height}x{width}")
    target = {"height": height, "width": width}
    return {
        "size": target if mode == "squash" else {"shortest_edge": height},
        "crop_size": target,
        "do_center_crop": mode == "shortest",
        "resample": Image.Resampling[str(config.get("interpolation", "bicubic")).upper()],
        "image_mean": config["mean"],
        "image_std": config["std"],
    }


def _inner(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = config.get(name)
    return value if isinstance(value, dict) else {}

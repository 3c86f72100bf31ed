"""A checkpoint of a known family: its sizes, checked before a model is started on the folder.

What is wrong is said in one line, with the row of weights.md that the folder belongs to. Only
config files and safetensors headers are read; hashes are `photocraft weights verify`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photocraft_local.errors import ModelError
from photocraft_local.serving.tokens import opens_thinking
from photocraft_local.serving.vllm.families import FAMILIES, Family, row_of
from photocraft_local.serving.vllm.folder import (
    all_tensors,
    check_companions,
    read_config,
    read_json,
    row_text,
)
from photocraft_local.storage.safetensors import Tensor


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A whole folder of a known family.

    ``weight_bytes`` and ``vision_bytes``: of all tensors, and of those of the vision tower.
    ``wide_bytes``: of the tensors that FP8 would halve. ``dtype`` and ``quantization``: as
    config.json has them, "" if it is silent. Pixels are limits that the folder itself states.
    """

    folder: Path
    model_type: str
    row: str
    weight_bytes: int
    vision_bytes: int
    wide_bytes: int
    dtype: str
    quantization: str
    layers: int
    hidden_size: int
    intermediate_size: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    longest_window: int
    min_pixels: int
    max_pixels: int

    @property
    def thinks(self) -> bool:
        """A thinking variant: each reply begins with reasoning."""
        return opens_thinking(self.folder)

    @property
    def family(self) -> Family:
        return FAMILIES[self.model_type]

    @property
    def name(self) -> str:
        """For people: the row, or the folder's own name."""
        return self.row or self.folder.name

    @classmethod
    def read(cls, folder: Path, *, embedder: bool = False) -> Checkpoint:
        """``embedder``: an embedding model is what is wanted, not a mistake.

        Raises ModelError that names the file and the way out.
        """
        config = read_config(folder, embedder=embedder)
        model_type = str(config.get("model_type"))
        text = config.get("text_config", config)
        sizes = _Sizes(folder / "config.json", text)
        hidden, layers = sizes("hidden_size"), sizes("num_hidden_layers")
        row = row_of(model_type, hidden, layers, folder.name)
        row = folder.name if embedder else row
        check_companions(folder, row_text(model_type, row))
        tensors = all_tensors(folder, row_text(model_type, row))
        heads = sizes("num_attention_heads")
        pixels = _pixels(folder, FAMILIES[model_type].factor)
        wide = [t for t in tensors if t.kind in ("F16", "BF16") and _in_linear_layer(t)]
        return cls(
            folder=folder,
            model_type=model_type,
            row=row,
            weight_bytes=sum(tensor.size for tensor in tensors),
            vision_bytes=sum(t.size for t in tensors if _is_vision(t)),
            wide_bytes=sum(tensor.size for tensor in wide),
            dtype=_dtype(config, text),
            quantization=_quantization(config, text),
            layers=layers,
            hidden_size=hidden,
            intermediate_size=sizes("moe_intermediate_size", sizes("intermediate_size", hidden)),
            heads=heads,
            kv_heads=sizes("num_key_value_heads", heads),
            head_dim=sizes("head_dim", hidden // heads),
            vocabulary=sizes("vocab_size"),
            longest_window=sizes("max_position_embeddings"),
            min_pixels=pixels[0],
            max_pixels=pixels[1],
        )


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Whole numbers above 0 of a config."""

    path: Path
    values: Mapping[str, Any]

    def __call__(self, name: str, default: int | None = None) -> int:
        value = self.values.get(name)
        value = default if value is None else value
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ModelError(
                f"{self.path}: {name} is {value!r}, not a size",
                hint="copy config.json again from where the weights came from",
            )
        return value


def _is_vision(tensor: Tensor) -> bool:
    return tensor.name.startswith(("visual.", "model.visual."))


def _in_linear_layer(tensor: Tensor) -> bool:
    """What FP8 on loading makes smaller: matrices of the language layers, not the embedding."""
    kept = ("embed_tokens", "lm_head", "norm", ".gate.weight")
    return (
        len(tensor.shape) >= 2
        and not _is_vision(tensor)
        and not any(word in tensor.name for word in kept)
    )


def _dtype(config: Mapping[str, Any], text: Mapping[str, Any]) -> str:
    places = (config, text)
    found = [p[key] for p in places for key in ("dtype", "torch_dtype") if p.get(key)]
    return str(found[0]).removeprefix("torch.") if found else ""


def _quantization(config: Mapping[str, Any], text: Mapping[str, Any]) -> str:
    for place in (config, text):
        method = place.get("quantization_config")
        if isinstance(method, dict):
            return str(method.get("quant_method", "unknown"))
    return ""


def _pixels(folder: Path, factor: int) -> tuple[int, int]:
    """Least and most pixels of a picture, under either of the two names that are in use."""
    path = folder / "preprocessor_config.json"
    config = read_json(path, "copy it again")
    size = config.get("size")
    size = size if isinstance(size, dict) else {}
    least = config.get("min_pixels") or size.get("shortest_edge") or 4 * factor**2
    most = config.get("max_pixels") or size.get("longest_edge") or 16384 * factor**2
    sizes = _Sizes(path, {"min_pixels": least, "max_pixels": most})
    return sizes("min_pixels"), sizes("max_pixels")

"""A folder of weights, checked before a server is started on it.

What is wrong is said in one line, with the row of weights.md that the folder belongs to. Only
config files and safetensors headers are read; hashes are `photocraft weights verify`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from photocraft_local.errors import ModelError
from photocraft_local.serving.tokens import chat_template, opens_thinking
from photocraft_local.serving.vllm.families import FAMILIES, KNOWN, Family, row_of
from photocraft_local.storage.safetensors import Tensor, TensorFault, read_tensors

_INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_MARKS_OF_EMBEDDERS = ("modules.json", "config_sentence_transformers.json")
_NEEDED = ("tokenizer.json", "tokenizer_config.json", "preprocessor_config.json")
_BYTES_OF_KIND = {"F32": 4, "F16": 2, "BF16": 2}


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
    def read(cls, folder: Path) -> Checkpoint:
        """Raises ModelError that names the file and the way out."""
        config = _config(folder)
        model_type = str(config.get("model_type"))
        text = config.get("text_config", config)
        sizes = _Sizes(folder / "config.json", text)
        hidden, layers = sizes("hidden_size"), sizes("num_hidden_layers")
        row = row_of(model_type, hidden, layers, folder.name)
        _check_companions(folder, _row_text(model_type, row))
        tensors = _tensors(folder, _row_text(model_type, row))
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


def _row_text(model_type: str, row: str) -> str:
    """How hints call the row of weights.md."""
    return f"row {row}" if row else f"rows {FAMILIES[model_type].name}"


def _config(folder: Path) -> dict[str, Any]:
    _check_folder(folder)
    config = _json(folder / "config.json", f"is {folder} a folder of weights? weights.md says what")
    for mark in _MARKS_OF_EMBEDDERS:
        if (folder / mark).exists():
            raise ModelError(
                f"{folder} holds an embedding model ({mark} is there), which cannot answer",
                hint="weights.md, Qwen-VL backbones, lists the models that can",
            )
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        raise ModelError(
            f"{folder} holds a model of type {str(model_type)[:80]!r}, which is no known backbone",
            hint=f"take a row of weights.md of {KNOWN}",
        )
    if not isinstance(config.get("text_config", {}), dict):
        raise ModelError(
            f"{folder / 'config.json'}: text_config is no object", hint="copy config.json again"
        )
    return config


def _check_folder(folder: Path) -> None:
    hint = "set weights to the absolute path of a folder that weights.md, Qwen-VL, describes"
    try:
        is_folder, exists = folder.is_dir(), folder.exists()
        if is_folder:
            next(folder.iterdir(), None)
    except OSError as exc:
        raise ModelError(
            f"the weights folder {folder} cannot be read: {exc.strerror}",
            hint="check that it and the folders above it are yours to read",
        ) from exc
    if is_folder:
        return
    if not exists and not folder.parent.exists():  # "Qwen/Qwen3-VL-8B-Instruct" and the like
        hint = "a model's name on a hub is no folder, and nothing is fetched from there; weights.md"
        hint += " says how to place one; then set weights to its absolute path"
    there = "is a file" if exists else "does not exist"
    raise ModelError(f"the weights folder {folder} {there}", hint=hint)


def _json(path: Path, hint: str) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as exc:
        raise ModelError(f"{path} is missing", hint=hint) from exc
    except OSError as exc:
        way = "check that it is yours to read, and the drive whole"
        raise ModelError(f"{path} cannot be read: {exc.strerror}", hint=way) from exc
    except (ValueError, RecursionError) as exc:
        raise ModelError(f"{path} cannot be read: {exc}", hint="copy it again") from exc
    if not isinstance(value, dict):
        raise ModelError(f"{path} is not a JSON object", hint="copy it again")
    return value


def _check_companions(folder: Path, row: str) -> None:
    for name in _NEEDED:
        _json(folder / name, f"weights.md, {row}, lists every file")
    chat_template(folder)


def _tensors(folder: Path, row: str) -> list[Tensor]:
    """Of every file that the index names, all whole."""
    if not (folder / _INDEX).exists():
        if not (folder / _SINGLE).exists():
            raise _no_weights(folder, row)
        return _tensors_of(folder / _SINGLE, row)
    index = _json(folder / _INDEX, f"weights.md, {row}, lists every file")
    named = index.get("weight_map")
    if not isinstance(named, dict) or not named:
        raise ModelError(f"{folder / _INDEX} names no tensors", hint="copy it again")
    files = sorted({str(file) for file in named.values()})
    if strange := [file for file in files if file == ".." or Path(file).name != file]:
        raise ModelError(
            f"{folder / _INDEX} names a file outside of the folder: {strange[0]!r}",
            hint="copy it again from where the weights came from",
        )
    found = {file: _tensors_of(folder / file, row) for file in files}
    there = {(tensor.name, file) for file, tensors in found.items() for tensor in tensors}
    if absent := [item for item in named.items() if item not in there]:
        raise ModelError(
            f"{folder / str(absent[0][1])} lacks {len(absent)} of its tensors: {absent[0][0]} …",
            hint=f"the files are of different models or revisions: copy all of weights.md, {row}",
        )
    return [tensor for tensors in found.values() for tensor in tensors]


def _tensors_of(path: Path, row: str) -> list[Tensor]:
    """Of one whole file. Raises ModelError."""
    found = read_tensors(path)
    if isinstance(found, TensorFault):
        raise _unusable(path, found, row)
    return found


def _unusable(path: Path, fault: TensorFault, row: str) -> ModelError:
    again = f"copy {path.name} again, weights.md, {row}; photocraft weights verify checks them all"
    if fault.kind == "unreadable":
        again = "check that it is yours to read, and the drive whole"
    elif "LFS" in fault.detail:
        again = "on the connected machine run: git lfs pull; then copy the folder again"
    return ModelError(f"the weights file {path} is {fault.kind}: {fault.detail}", hint=again)


def _no_weights(folder: Path, row: str) -> ModelError:
    other = next((f.name for f in sorted(folder.iterdir()) if f.suffix in (".bin", ".gguf")), "")
    seen = f"; {other} is in another format" if other else ""
    return ModelError(
        f"{folder} has neither {_SINGLE} nor {_INDEX}{seen}",
        hint=f"copy the safetensors files of weights.md, {row}",
    )


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
    config = _json(path, "copy it again")
    size = config.get("size")
    size = size if isinstance(size, dict) else {}
    least = config.get("min_pixels") or size.get("shortest_edge") or 4 * factor**2
    most = config.get("max_pixels") or size.get("longest_edge") or 16384 * factor**2
    sizes = _Sizes(path, {"min_pixels": least, "max_pixels": most})
    return sizes("min_pixels"), sizes("max_pixels")

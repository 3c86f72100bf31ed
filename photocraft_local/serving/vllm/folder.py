"""A folder of weights, file by file: each fault is one line, with the row of weights.md to copy.

Reads config files and the headers of safetensors files. Knows the families, but derives nothing
from what it reads.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from photocraft_local.errors import ModelError
from photocraft_local.serving.tokens import chat_template
from photocraft_local.serving.vllm.families import FAMILIES, KNOWN
from photocraft_local.storage.safetensors import Tensor, TensorFault, read_tensors

_INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
MARKS_OF_EMBEDDERS = ("modules.json", "config_sentence_transformers.json")
_READ = (".safetensors", ".json", ".jinja", ".txt")
_NEEDED = ("tokenizer.json", "tokenizer_config.json", "preprocessor_config.json")


def stamp_of(folder: Path) -> str:
    """Another one if any file that a model is read from was put in place since; "" if the folder
    cannot be read. Opens no file."""
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix in _READ)
        seen = [(path.name, (at := path.stat()).st_size, at.st_mtime_ns) for path in files]
    except OSError:
        return ""
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def row_text(model_type: str, row: str) -> str:
    """How hints call the row of weights.md."""
    return f"row {row}" if row else f"rows {FAMILIES[model_type].name}"


def read_config(folder: Path, *, embedder: bool = False) -> dict[str, Any]:
    """config.json of a folder whose ``model_type`` is a known family's; ``embedder``: of an
    embedding model. Raises ModelError."""
    _check_folder(folder)
    config = read_json(
        folder / "config.json", f"is {folder} a folder of weights? weights.md says what"
    )
    for mark in () if embedder else MARKS_OF_EMBEDDERS:
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


def read_json(path: Path, hint: str) -> dict[str, Any]:
    """A file with a JSON object; ``hint`` is for one that is missing. Raises ModelError."""
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


def check_companions(folder: Path, row: str) -> None:
    """Tokenizer, processor and chat template. Raises ModelError for the first that is not there."""
    for name in _NEEDED:
        read_json(folder / name, f"weights.md, {row}, lists every file")
    chat_template(folder)


def all_tensors(folder: Path, row: str) -> list[Tensor]:
    """Of every file that the index names, all whole. Raises ModelError."""
    if not (folder / _INDEX).exists():
        if not (folder / _SINGLE).exists():
            raise _no_weights(folder, row)
        return _tensors_of(folder / _SINGLE, row)
    index = read_json(folder / _INDEX, f"weights.md, {row}, lists every file")
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

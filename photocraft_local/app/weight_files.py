"""What a folder of weights holds, and what its own indexes say is missing or cut short.

Reads names, sizes and the headers of safetensors files, never the weights. Knows neither hashes
nor engines.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from photocraft_local.app.weight_sums import OWN_FILES
from photocraft_local.errors import UsageError
from photocraft_local.storage.safetensors import TensorFault, read_tensors

_INDEX_END = ".safetensors.index.json"
_LARGEST_JSON = 64 << 20
_READ_BY_ENGINES = {".safetensors", ".bin", ".pt", ".pth", ".onnx", ".json", ".jinja", ".py"}
_READ_BY_ENGINES |= {".onnx_data", ".data", ".txt", ".model"}
_WEIGHTS = (".safetensors", ".onnx")
_NOT_FETCHED = "a model's name on a hub is no folder, nothing is fetched from there"
_HINT = "name the folder that config.json and the weights lie in; weights.md tells how to place one"


@dataclass(frozen=True, slots=True)
class WeightFolder:
    """The regular files of a folder: name relative to it → bytes."""

    root: Path
    sizes: dict[str, int]

    @classmethod
    def open(cls, folder: Path) -> WeightFolder:
        """Hidden files and folders are left out: they are what a download tool leaves behind.

        Raises UsageError: no folder, not readable, or neither weights nor an index of them in it.
        """
        root = folder.expanduser().absolute()
        try:
            is_folder, is_file, beside = root.is_dir(), root.is_file(), root.parent.exists()
        except OSError as exc:  # a folder above it is closed
            _cannot_read(exc)
        if not is_folder:
            what = "is a file" if is_file else "is not there"
            hint = _HINT if beside else f"{_NOT_FETCHED}; {_HINT}"
            raise UsageError(f"folder of weights {root} {what}", hint=hint)
        sizes = {name: (root / name).stat().st_size for name in _names(root)}
        if not any(name.endswith((*_WEIGHTS, _INDEX_END)) for name in sizes):
            raise UsageError(f"{root} holds no weights (*.safetensors or *.onnx)", hint=_HINT)
        return cls(root, sizes)

    def is_read_by_engines(self, name: str) -> bool:
        return PurePosixPath(name).suffix in _READ_BY_ENGINES

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """File, kind and detail of whatever needs no hash to be seen, each file once."""
        for name in sorted(self.sizes):
            if name.endswith(".safetensors"):
                found = read_tensors(self.root / name)
                if isinstance(found, TensorFault):
                    yield name, found.kind, found.detail
            elif name.endswith(".json"):
                yield from self._json_faults(name)
        if "config.json" not in self.sizes and any(n.endswith(".safetensors") for n in self.sizes):
            yield "config.json", "missing", "no engine can tell the model without it"

    def _json_faults(self, name: str) -> Iterator[tuple[str, str, str]]:
        value = _json_of(self.root / name)
        if value is None:
            yield name, "damaged", "it is no JSON"
        elif name.endswith(_INDEX_END):
            beside = PurePosixPath(name).parent
            listed = value.get("weight_map") if isinstance(value, dict) else None
            if not isinstance(listed, dict) or not listed:
                yield name, "damaged", "it lists no weights"
                return
            for part in sorted({str(beside / str(part)) for part in listed.values()}):
                if part not in self.sizes:
                    yield part, "missing", f"{name} lists it, it is not there"


def _names(root: Path) -> Iterator[str]:
    for at, folders, names in os.walk(root, onerror=_cannot_read):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(at, name)
            if not name.startswith(".") and name not in OWN_FILES and path.is_file():
                yield path.relative_to(root).as_posix()


def _cannot_read(error: OSError) -> NoReturn:
    raise UsageError(
        f"{error.filename} cannot be read: {error.strerror}", hint="check that it is yours"
    ) from error


def _json_of(path: Path) -> Any:
    """The value, None for what is no JSON (or too large to be one of these files)."""
    try:
        with path.open("rb") as file:
            return json.loads(file.read(_LARGEST_JSON))
    except (OSError, ValueError, RecursionError):
        return None

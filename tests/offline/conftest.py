"""The scripts that make and install bundles, as modules; a small bundle of made wheels."""

from __future__ import annotations

import hashlib
import shutil
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from bundles import HERE, Make, wheel


@pytest.fixture(scope="module")
def files(root: Path) -> ModuleType:
    """scripts/offline_files.py as a module."""
    sys.path.insert(0, str(root / "scripts"))
    try:
        import offline_files
    finally:
        sys.path.remove(str(root / "scripts"))
    return offline_files


@pytest.fixture
def make(root: Path, tmp_path: Path, files: ModuleType) -> Make:
    """A small bundle as scripts/bundle lays it out."""

    def bundle(version: str, needs: str = "made-part", **facts: str) -> Path:
        out = tmp_path / f"bundle-{version}"
        (out / "wheels").mkdir(parents=True)
        body = f"def main():\n    print('photocraft {version}')\n"
        wheels = [
            wheel(out / "wheels", "photocraft-local", version, needs, body),
            wheel(out / "wheels", "made-part", "1.0"),
        ]
        pins = [
            f"{path.name.split('-')[0].replace('_', '-')}=={path.name.split('-')[1]}"
            f" --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
            for path in wheels
        ]
        (out / "requirements.txt").write_text("\n".join(pins) + "\n")
        for name in ("install_offline", "offline_files.py"):
            shutil.copy(root / "scripts" / name, out)
        own = {"package": "photocraft-local", "version": version, "extra": "cpu", "python": HERE}
        files.write_manifest(out, own | facts)
        return out

    return bundle


@pytest.fixture(scope="module")
def bundling(root: Path) -> ModuleType:
    """scripts/bundle as a module; nothing runs on import."""
    loader = SourceFileLoader("bundling", str(root / "scripts" / "bundle"))
    spec = spec_from_loader("bundling", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module

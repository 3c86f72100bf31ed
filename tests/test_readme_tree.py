"""The README ends with the tree: every tracked file has a line, and every line a file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest

# These stand under their folder's line.
FOLDER_SPEAKS_FOR = {"__init__.py", "py.typed"}
DATA = {".tsv", ".txt", ".npz"}


def listed(readme: str) -> dict[str, str]:
    block = re.search(r"## The tree\s+```text\n(.*?)```\s*$", readme, re.DOTALL)
    assert block, "README.md must end with the section 'The tree' and its ```text block"
    lines = block.group(1).splitlines()
    assert all(re.fullmatch(r"\S+  \S.*", line) for line in lines), "path, two blanks, phrase"
    paths = [line.split("  ", 1)[0] for line in lines]
    assert len(paths) == len(set(paths)), "a path stands twice"
    return dict(line.split("  ", 1) for line in lines)


def needs_no_line(path: PurePosixPath) -> bool:
    in_prompts = path.parent.name == "prompts"
    return (
        path.name in FOLDER_SPEAKS_FOR
        or path.suffix in DATA
        or path.parts[0] == "tests"
        or in_prompts
    )


def test_the_tree_is_true(root: Path) -> None:
    result = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=False
    )
    if result.returncode:
        pytest.skip("NOT A GIT CHECKOUT: cannot list tracked files")
    files = [PurePosixPath(name) for name in result.stdout.decode().split("\0") if name]
    files = [path for path in files if (root / path).is_file()]
    tree = listed((root / "README.md").read_text("utf-8"))
    folders = {f"{parent}/" for path in files for parent in path.parents if parent.name}
    packages = {f"{path.parent}/" for path in files if path.name == "__init__.py"}
    wanted = {str(path) for path in files if not needs_no_line(path)} | packages
    missing = sorted(wanted - set(tree))
    gone = sorted(set(tree) - {str(path) for path in files} - folders)
    assert not missing, f"no line in the README's tree: {missing}"
    assert not gone, f"lines of what is not there: {gone}"

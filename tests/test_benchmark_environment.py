"""Benchmarks whose peers live in the engine environment go on there, from whichever began them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BEGUN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import _common
_common.ENGINE = Path(sys.argv[2])
_common.in_environment_with("json", *sys.argv[3:])
print("went on here")
"""


@pytest.mark.parametrize(
    ("modules", "is_made", "code", "said"),
    [
        (("json",), True, 0, "went on here"),
        (("json", "no_such_peer"), True, 0, "there: "),
        (("json", "no_such_peer"), False, 1, "this needs no_such_peer: scripts/test makes"),
    ],
)
def test_the_program_begins_anew_where_its_peers_are(
    root: Path, tmp_path: Path, modules: tuple[str, ...], is_made: bool, code: int, said: str
) -> None:
    script, engine = tmp_path / "begun.py", tmp_path / "engine"
    script.write_text(BEGUN)
    if is_made:
        (engine / "bin").mkdir(parents=True)
        python = engine / "bin" / "python"
        python.write_text('#!/bin/sh\necho "there: $@"\n')
        python.chmod(0o755)
    words = [str(script), str(root / "benchmarks"), str(engine), *modules]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr
    if said == "there: ":
        assert done.stdout.split() == ["there:", *words]  # the same program, the same words

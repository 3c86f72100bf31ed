"""The machine of a check in a few facts, and the tiny checkpoint where no weights are given."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent


def facts() -> dict[str, object]:
    query = ["nvidia-smi", "--query-gpu=name,memory.total,memory.free,driver_version,compute_cap"]
    try:
        said = subprocess.run([*query, "--format=csv,noheader"], capture_output=True, text=True)
        gpus = said.stdout.splitlines() if said.returncode == 0 else []
    except OSError:
        gpus = []
    return {"python": platform.python_version(), "system": platform.platform(), "gpus": gpus}


def make_tiny(folder: Path, family: str, thinking: bool = False) -> None:
    script = SCRIPTS / "make_tiny_checkpoint.py"
    words = [str(folder), family, *["--thinking"] * thinking]
    subprocess.run([sys.executable, str(script), *words], check=True, stdout=sys.stderr)

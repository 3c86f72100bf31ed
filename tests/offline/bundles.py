"""What tests of bundles share: made wheels, scripts that ran, words of a missing network."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
ALONE = ("unshare", "--net", "--")
UNREACHED = "error sending request|Could not connect|dns error|client error"
Make = Callable[..., Path]  # conftest.py's make


def wheel(folder: Path, name: str, version: str, needs: str = "", body: str = "") -> Path:
    """A wheel by its specification; with a body also the command ``photocraft``."""
    module = name.replace("-", "_")
    about = f"{module}-{version}.dist-info"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    head += f"Requires-Dist: {needs}\n" if needs else ""
    parts = {
        f"{module}.py": body,
        f"{about}/METADATA": head,
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: made\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    if body:
        parts[f"{about}/entry_points.txt"] = f"[console_scripts]\nphotocraft = {module}:main\n"
    record = []
    for part, text in parts.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record.append(f"{part},sha256={digest.decode()},{len(text.encode())}")
    parts[f"{about}/RECORD"] = "\n".join([*record, f"{about}/RECORD,,"]) + "\n"
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for part, text in parts.items():
            archive.writestr(part, text)
    return path


class Done(NamedTuple):
    """A finished script."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """Fails unless the last two lines are one error and one hint."""
        lines = self.err.splitlines()
        assert [line.split(": ")[0] for line in lines[-2:]] == ["error", "hint"], self.err
        assert "Traceback" not in self.err
        return "\n".join(lines[-2:])


def script(path: Path, *words: str | Path, **variables: str) -> Done:
    done = subprocess.run(
        [sys.executable, str(path), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | variables,
    )
    return Done(done.returncode, done.stdout, done.stderr)

"""Broken copies of real photos raise the package's own errors, whatever is broken, in < 1 GiB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from photo_maker import gradient

DRIVER = Path(__file__).parent / "fuzz_driver.py"


def test_two_thousand_mutations_raise_only_photo_errors(shared: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    for name in ("a.avif", "a.bmp", "a.gif", "a.jp2", "a.webp", "a.ppm", "a.tif", "lzw.tiff"):
        options = {"compression": "tiff_lzw"} if name == "lzw.tiff" else {}
        gradient().save(made / name, **options)
    gradient().save(made / "progressive.jpg", progressive=True)
    target = tmp_path / "broken"
    target.mkdir()
    folders = [shared / "data/exif", shared / "data/odd"]
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", DRIVER, target, made, *folders],
        capture_output=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        timeout=300,
    )
    assert done.returncode == 0, f"the process died: {done.stderr[-2000:]!r}"
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["failures"] == []
    assert result["mutations"] >= 2000
    assert result["peak_mib"] < 1024

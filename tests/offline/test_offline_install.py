"""The whole way: a bundle of the real cpu extra, installed and used where there is no network."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from bundles import ALONE, HERE, UNREACHED, script


@pytest.fixture(scope="module")
def real_bundle(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("real") / "bundle"
    (out / "wheels").mkdir(parents=True)  # as a run leaves it that was cut
    (out / "UNFINISHED").write_text(f"cpu {HERE}\n")
    (out / "wheels" / "photocraft_local-0.0.1-py3-none-any.whl").write_bytes(b"PK")
    done = script(root / "scripts/bundle", out, "--extra", "cpu", "--python", HERE)
    if re.search(UNREACHED, done.err):
        pytest.skip("NO PACKAGE REGISTRY REACHED: no bundle can be made")
    assert done.code == 0, done.err
    return out


def installed(venv: Path, *words: str | Path, prefix: tuple[str, ...], **more: str) -> Any:
    variables = {"PATH": os.environ["PATH"], **more}  # nothing of this checkout or its settings
    done = subprocess.run(
        [*prefix, venv / "bin" / "photocraft", *words],
        capture_output=True,
        text=True,
        timeout=300,
        env=variables,
        cwd=venv,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def check_contents(bundle: Path) -> None:
    """Pins with hashes of exactly these files, licences, and a wheel of the package alone."""
    pins = (bundle / "requirements.txt").read_text("utf-8").splitlines()
    wheels = list((bundle / "wheels").iterdir())
    assert len(pins) == len(wheels) > 40
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in wheels}
    assert {line.split("sha256:")[1] for line in pins} == digests
    lines = (bundle / "licences" / "packages.tsv").read_text("utf-8").splitlines()
    assert len(lines) == 1 + len(wheels)
    assert "Apache" in next(line for line in lines if line.startswith("photocraft-local"))
    assert (bundle / "licences" / "numpy").is_dir()
    (own,) = (bundle / "wheels").glob("photocraft_local-*.whl")
    names = zipfile.ZipFile(own).namelist()
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {"photocraft_local", "photocraft_kernels"}  # scripts stay outside
    assert "photocraft_local/app/data/weights.toml" in names


def test_the_cpu_extra_is_installed_and_works_without_a_network(
    real_bundle: Path, shared: Path, shared_cache: Path, tmp_path: Path
) -> None:
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode:
        pytest.skip("NOT PERMITTED: `unshare --net` is refused")
    check_contents(real_bundle)
    venv = tmp_path / "venv"
    command = [*ALONE, sys.executable, str(real_bundle / "install_offline")]
    done = subprocess.run(
        [*command, str(real_bundle), str(venv)], capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr
    photos = tmp_path / "photos"
    photos.mkdir()
    for name in ("ia_DSCN0010.jpg", "im_IMG_2682.heic", "ia_no_exif.jpg"):
        shutil.copy(shared / "data" / "exif" / name, photos)
    own = {"PHOTOCRAFT_CACHE": str(shared_cache), "PHOTOCRAFT_LIBRARY": str(tmp_path / "library")}
    own |= {"HOME": str(tmp_path)}
    said = installed(venv, "index", photos, prefix=ALONE, **own)
    assert "3 photos in the library" in said
    question = "photos taken in Italy in 2008"
    answer = json.loads(installed(venv, "ask", question, "--json", prefix=ALONE, **own))
    paths = [path for photo in answer["photos"] for path in photo["paths"]]
    assert paths == [str(photos / "ia_DSCN0010.jpg")]
    seen = installed(venv, "search", "a street", "-k", "3", "--json", prefix=ALONE, **own)
    assert len(json.loads(seen)["photos"]) == 3  # the embedded encoder runs from its packages
    assert "Qwen3-VL-8B" in installed(venv, "weights", "list", prefix=ALONE, **own)

"""A bundle is made of exactly what was locked, and never over something else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from bundles import ALONE, UNREACHED, Done, Make, script, wheel


def test_a_bundle_is_never_made_over_something_else(root: Path, tmp_path: Path, make: Make) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("precious")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "UNFINISHED").write_text("gpu 3.12\n")
    for out, said in (
        (tmp_path / "taken", "holds something else"),
        (make("1.0"), "already holds a whole bundle"),
        (tmp_path / "other", "unfinished bundle of other options"),
    ):
        kept = sorted(path.name for path in out.iterdir())
        done = script(root / "scripts/bundle", out, "--python", "3.11")
        assert done.code == 1
        assert said in done.error
        assert sorted(path.name for path in out.iterdir()) == kept


@pytest.mark.parametrize("words", [[], ["x", "--extra", "dev"], ["x", "--python", "2.7"]])
def test_a_bundle_of_nothing_known_is_refused(root: Path, words: list[str]) -> None:
    assert script(root / "scripts/bundle", *words).code == 2


def test_without_a_network_making_one_is_one_error(root: Path, tmp_path: Path) -> None:
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode:
        pytest.skip("NOT PERMITTED: `unshare --net` is refused")
    out = tmp_path / "out"
    lock = tmp_path / "lock.txt"
    lock.write_text(f"made-up-part==1.0 --hash=sha256:{'0' * 64}\n")
    # Only a folder of the machine is asked, so that no retries are waited for.
    command = [*ALONE, sys.executable, str(root / "scripts/bundle"), str(out), "--lock", str(lock)]
    quiet = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | quiet)
    assert done.returncode == 1
    assert "wheels cannot be fetched" in Done(done.returncode, done.stdout, done.stderr).error
    assert not (out / "manifest.json").exists()
    check = script(root / "scripts/install_offline", out, "--check")
    assert check.code == 1
    assert "never finished" in check.error


def test_the_gpu_extra_is_locked_with_builds_for_gpus(bundling: ModuleType, tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    try:
        bundling.make_lock(sys.executable, lock, "gpu", "3.12")
    except bundling.BundleError as error:
        if re.search(UNREACHED, str(error)):
            pytest.skip("NO PACKAGE REGISTRY REACHED: the resolver cannot be asked")
        raise
    bundling.check_lock(lock, "gpu")
    text = lock.read_text("utf-8")
    assert re.search(r"(?m)^vllm==0\.\d+\.\d+ ", text)
    assert re.search(r"(?m)^torch==[\d.]+ ", text)
    assert not re.search(r"(?m)^(onnxruntime|faiss-cpu)==", text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it has no version with a hash"),
        ("torch==2.13.0\n", "torch==2.13.0 has no version with a hash"),
        (f"torch>=2 --hash=sha256:{'0' * 64}\n", "torch>=2 has no version with a hash"),
        (f"torch==2.13.0+cpu \\\n    --hash=sha256:{'0' * 64}\n", "is a build for the CPU"),
    ],
)
def test_a_lock_that_is_none_is_refused(
    bundling: ModuleType, tmp_path: Path, text: str, said: str
) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(text)
    with pytest.raises(bundling.BundleError, match=re.escape(said)):
        bundling.check_lock(lock, "gpu")


def test_a_torn_wheel_is_named(bundling: ModuleType, tmp_path: Path) -> None:
    torn = tmp_path / "numpy-2.0-py3-none-any.whl"
    torn.write_bytes(b"PK\3\4 and no more")
    with pytest.raises(bundling.BundleError, match=r"numpy-2\.0-py3-none-any\.whl is no wheel"):
        bundling.metadata(torn)


@pytest.mark.parametrize("lacking", [True, False])
def test_wheels_that_are_not_the_locked_ones_are_named(
    bundling: ModuleType, tmp_path: Path, lacking: bool
) -> None:
    (tmp_path / "wheels").mkdir()
    own = wheel(tmp_path / "wheels", "photocraft-local", "1.0")
    lock = tmp_path / "lock.txt"
    lock.write_text(f"made-part==1.0 --hash=sha256:{'0' * 64}\n")
    if not lacking:
        wheel(tmp_path / "wheels", "made-part", "1.1")
    said = "wheels/ lacks made-part" if lacking else "holds made-part==1.1, which is not locked"
    with pytest.raises(bundling.BundleError, match=re.escape(said)):
        bundling.write_requirements(tmp_path, lock, own)

"""Bundles: made on a connected machine, checked and installed where there is no network.

One test does the whole way with the real packages of the cpu extra; damage, interruption and
upgrades are tried on small bundles of made wheels.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
ALONE = ("unshare", "--net", "--")
UNREACHED = "error sending request|Could not connect|dns error|client error"


@pytest.fixture(scope="module")
def files(root: Path) -> ModuleType:
    """scripts/offline_files.py as a module."""
    sys.path.insert(0, str(root / "scripts"))
    try:
        import offline_files
    finally:
        sys.path.remove(str(root / "scripts"))
    return offline_files


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


Make = Callable[..., Path]


@pytest.fixture
def make(root: Path, tmp_path: Path, files: ModuleType) -> Make:
    """A small bundle as scripts/bundle lays it out."""

    def bundle(version: str, needs: str = "made-part", **facts: str) -> Path:
        out = tmp_path / f"bundle-{version}"
        (out / "wheels").mkdir(parents=True)
        body = f"def main():\n    print('photocraft {version}')\n"
        wheels = [
            wheel(out / "wheels", "photocraft-local", version, needs, body),
            wheel(out / "wheels", "made-part", "1.0"),
        ]
        pins = [
            f"{path.name.split('-')[0].replace('_', '-')}=={path.name.split('-')[1]}"
            f" --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
            for path in wheels
        ]
        (out / "requirements.txt").write_text("\n".join(pins) + "\n")
        for name in ("install_offline", "offline_files.py"):
            shutil.copy(root / "scripts" / name, out)
        own = {"package": "photocraft-local", "version": version, "extra": "cpu", "python": HERE}
        files.write_manifest(out, own | facts)
        return out

    return bundle


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


# --- a bundle that is not whole ---


def lose_a_wheel(bundle: Path) -> str:
    next((bundle / "wheels").glob("made_part*")).unlink()
    return "wheels/made_part-1.0-py3-none-any.whl is missing"


def cut_a_wheel(bundle: Path) -> str:
    path = next((bundle / "wheels").glob("made_part*"))
    path.write_bytes(path.read_bytes()[:-10])
    return "wheels/made_part-1.0-py3-none-any.whl has "


def change_a_bit(bundle: Path) -> str:
    path = next((bundle / "wheels").glob("made_part*"))
    data = bytearray(path.read_bytes())
    data[50] ^= 4
    path.write_bytes(data)
    return "wheels/made_part-1.0-py3-none-any.whl has another SHA-256"


def slip_something_in(bundle: Path) -> str:
    wheel(bundle / "wheels", "made-part", "9.0")
    return "wheels/made_part-9.0-py3-none-any.whl is not listed"


def change_the_pins(bundle: Path) -> str:
    path = bundle / "requirements.txt"
    path.write_text(path.read_text().replace("made-part==1.0", "made-part==1.1"))
    return "requirements.txt has another SHA-256"


def cut_the_manifest(bundle: Path) -> str:
    path = bundle / "manifest.json"
    path.write_bytes(path.read_bytes()[:-40])
    return "manifest.json is damaged"


def a_manifest_of_something_else(bundle: Path) -> str:
    (bundle / "manifest.json").write_text('{"format": 1, "files": []}')
    return "manifest.json is damaged"


def never_finished(bundle: Path) -> str:
    (bundle / "manifest.json").unlink()
    return "has no manifest.json: it is no bundle, or one that was never finished"


def of_a_newer_form(bundle: Path) -> str:
    path = bundle / "manifest.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    return "has format 2, not 1"


HARMS = [
    lose_a_wheel,
    cut_a_wheel,
    change_a_bit,
    slip_something_in,
    change_the_pins,
    cut_the_manifest,
    a_manifest_of_something_else,
    never_finished,
    of_a_newer_form,
]


@pytest.mark.parametrize("harm", HARMS)
def test_a_bundle_that_is_not_whole_is_one_error_and_installs_nothing(
    make: Make, tmp_path: Path, harm: Callable[[Path], str]
) -> None:
    bundle = make("1.0")
    assert script(bundle / "install_offline", bundle, "--check").code == 0
    said = harm(bundle)
    for words in ([tmp_path / "venv"], ["--check"]):
        done = script(bundle / "install_offline", bundle, *words)
        assert done.code == 1
        assert said in done.error
        assert done.out == ""
    assert not (tmp_path / "venv").exists()


def test_many_faults_are_one_line(make: Make, root: Path) -> None:
    bundle = make("1.0")
    for number in range(40):
        (bundle / f"stray-{number:02}").touch()
    done = script(root / "scripts/install_offline", bundle, "--check")
    assert done.code == 1
    assert "stray-00 is not listed" in done.error
    assert "and 35 more" in done.error


def test_the_python_of_another_version_is_refused_before_anything(
    make: Make, tmp_path: Path
) -> None:
    bundle = make("1.0", python="3.99")
    done = script(bundle / "install_offline", bundle, tmp_path / "venv")
    assert done.code == 1
    assert f"for Python 3.99, this is {HERE}" in done.error
    assert not (tmp_path / "venv").exists()


def test_a_folder_of_something_else_is_left_alone(make: Make, tmp_path: Path) -> None:
    bundle, taken = make("1.0"), tmp_path / "taken"
    taken.mkdir()
    (taken / "mine").write_text("precious")
    for target in (taken, taken / "mine"):
        done = script(bundle / "install_offline", bundle, target)
        assert done.code == 1
        assert "was not made by install_offline" in done.error
    assert [path.read_text() for path in taken.iterdir()] == ["precious"]


@pytest.mark.parametrize("words", [[], ["x"], ["x", "y", "--check"], ["x", "--chek"]])
def test_wrong_words_are_refused(root: Path, words: list[str]) -> None:
    assert script(root / "scripts/install_offline", *words).code == 2


# --- installing and upgrading ---


def version_of(venv: Path) -> str:
    done = subprocess.run([venv / "bin" / "photocraft"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_upgrades_keep_the_old_one_until_the_new_one_runs(
    make: Make, tmp_path: Path, files: ModuleType
) -> None:
    venv, before = tmp_path / "app" / "venv", tmp_path / "app" / "venv.before"
    one, two = make("1.0"), make("2.0")
    hostile = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_REQUIRE_VIRTUALENV": "1"}
    hostile |= {"PIP_TARGET": str(tmp_path / "elsewhere"), "PIP_CONFIG_FILE": "/nowhere"}
    done = script(one / "install_offline", one, venv, **hostile)
    assert done.code == 0, done.err
    assert version_of(venv) == "photocraft 1.0"
    assert not before.exists()

    # Killed in the middle of an upgrade: the next run puts the old one back, and upgrades that.
    venv.rename(before)
    venv.mkdir()
    (venv / "photocraft-bundle.unfinished").touch()
    done = script(two / "install_offline", two, venv)
    assert done.code == 0, done.err
    assert version_of(venv) == "photocraft 2.0"
    assert "is kept" in done.out
    assert json.loads((before / "photocraft-bundle.json").read_text())["version"] == "1.0"

    # A new one whose packages do not fit: the old one comes back.
    lame = make("3.0", needs="absent-part")
    done = script(lame / "install_offline", lame, venv)
    assert done.code == 1
    assert "packages do not fit each other" in done.error
    assert version_of(venv) == "photocraft 2.0"
    assert not before.exists()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_installation_leaves_nothing(
    make: Make, tmp_path: Path, sent: signal.Signals
) -> None:
    bundle, venv = make("1.0"), tmp_path / "venv"
    running = subprocess.Popen(
        [sys.executable, str(bundle / "install_offline"), str(bundle), str(venv)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (venv / "pyvenv.cfg").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(sent)
    _, said = running.communicate(timeout=60)
    assert running.returncode == (130 if sent == signal.SIGINT else 143)
    assert "Traceback" not in said
    assert not venv.exists()


# --- making a bundle ---


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


@pytest.fixture(scope="module")
def bundling(root: Path) -> ModuleType:
    """scripts/bundle as a module; nothing runs on import."""
    loader = SourceFileLoader("bundling", str(root / "scripts" / "bundle"))
    spec = spec_from_loader("bundling", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


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


# --- the whole way ---


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

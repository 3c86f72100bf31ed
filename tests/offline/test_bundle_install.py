"""A bundle is checked before any of it is installed; an upgrade keeps the old one until then."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from bundles import HERE, Make, script, wheel

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

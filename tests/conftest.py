"""Shared fixtures: the folder of real photos, a cache that all tests share, quiet settings."""

from __future__ import annotations

import os
import signal
import subprocess
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# Tests look whether onnxruntime is there by importing it, which must report nothing either.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# A shell starts what runs in its background with Ctrl-C ignored, and commands inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in each run, and no time limit on one: a busy machine is no failure.
settings.register_profile("photocraft", derandomize=True, deadline=None)
settings.load_profile("photocraft")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def weights_table(root: Path) -> ModuleType:
    """scripts/weights_table as a module; nothing runs on import."""
    loader = SourceFileLoader("weights_table", str(root / "scripts" / "weights_table"))
    spec = spec_from_loader("weights_table", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real photos with true metadata, beside the checkout. Never copied in."""
    folder = Path(os.environ.get("PHOTOCRAFT_TEST_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"SHARED DATA ABSENT: no folder {folder}/data; this test needs real photos")
    return folder


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Derived data (converted models, gazetteer) that all tests of a run share.

    PHOTOCRAFT_TEST_CACHE keeps it between runs.
    """
    kept = os.environ.get("PHOTOCRAFT_TEST_CACHE")
    return Path(kept) if kept else tmp_path_factory.mktemp("cache")


@pytest.fixture
def small_drive(tmp_path: Path) -> Iterator[Path]:
    """An empty tmpfs of 1 MiB; skips loudly where mounting is not permitted."""
    folder = tmp_path / "small-drive"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", os.fspath(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as exc:
        pytest.skip(f"NO REAL DRIVE TESTED: cannot mount a tmpfs here ({exc})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", os.fspath(folder)], check=True)


@pytest.fixture(scope="session", autouse=True)
def skills_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Questions of tests teach no skills to whoever runs them; child processes inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PHOTOCRAFT_MEMORY_FOLDER", str(tmp_path_factory.mktemp("skills")))
        yield


@pytest.fixture(scope="session")
def small_library(
    shared: Path, shared_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[int], Path]:
    """Makes a library of that many photos of everyday life, with vectors that mean nothing."""
    from photocraft_local import PhotoSearch, Settings

    def made(num: int) -> Path:
        photos = tmp_path_factory.mktemp("photos")
        for file in sorted((shared / "data/captioned/coco").glob("*.jpg"))[:num]:
            (photos / file.name).write_bytes(file.read_bytes())
        folder = tmp_path_factory.mktemp("small") / "library"
        with PhotoSearch(Settings(library=folder, cache=shared_cache, encoder="null")) as search:
            search.index(photos)
        return folder

    return made


@pytest.fixture(autouse=True)
def _private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the person's own library, cache or settings."""
    for variable in [name for name in os.environ if name.startswith("PHOTOCRAFT_")]:
        if not variable.startswith("PHOTOCRAFT_TEST_"):
            monkeypatch.delenv(variable)
    for variable, folder in {
        "XDG_DATA_HOME": "data",
        "XDG_CACHE_HOME": "cache",
        "XDG_CONFIG_HOME": "config",
    }.items():
        monkeypatch.setenv(variable, str(tmp_path / "home" / folder))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    absent = [report for report in skipped if "SHARED DATA ABSENT" in str(report.longrepr)]
    if absent:
        warnings.simplefilter("default")
        terminalreporter.write_line(
            f"!!! {len(absent)} tests need ../shared/data and were SKIPPED", red=True, bold=True
        )

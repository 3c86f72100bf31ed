"""What goes wrong ends in one line that says so, one that says the way out, and no loss."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.storage.lock import WriteLock

Photocraft = Any  # conftest.py's Run

CORE = ("numpy", "pillow", "simplejpeg", "pi-heif", "rawpy", "tzfpy", "tzdata", "python-dateutil")


@pytest.fixture(scope="module")
def library(
    photocraft: Photocraft, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A library that every test must leave as it was."""
    path = tmp_path_factory.mktemp("bad-input") / "library"
    assert photocraft("index", shared / "data" / "exif", "--library", path).code == 0
    before = photocraft("list", "--json", "--library", path).out
    assert before.count("\n") > 25
    yield path
    assert photocraft("list", "--json", "--library", path).out == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["index", "{tmp}/nowhere"], "does not exist"),
        (["index", "{tmp}/empty"], "no photo"),
        (["index", "{tmp}/file.txt"], "is a file, not a folder"),
        (["show", "zzzzzz"], "'zzzzzz'"),
        (["forget", "zzzzzz"], "'zzzzzz'"),
        (["forget"], "needs one UID"),
        (["forget", "--folder", "{tmp}/empty"], "never indexed"),
        (["search", "red", "--like", "zzzzzz"], "neither a photo of this library nor a file"),
        (["search", "--like", "{tmp}/file.txt"], "no picture"),
        (["search", "red", "-k", "0"], "must be at least 1, not 0"),
        (["search"], "nothing to search for"),
        (["search", "red", "--after", "2021-02-30"], "February"),
        (["search", "red", "--when", "32 May 2021"], "May"),
        (["search", "red", "--before", "gibberish"], "gibberish"),
        (["search", "--after", "2021-06", "--before", "2020"], "after '2021-06' and before '2020'"),
        (["search", "--after", "2021", "--before", "2021"], "no time is after"),
        (["search", "red", "--in", ""], "--in is empty"),
        (["search", "red", "--camera", " "], "--camera is empty"),
        (["search", "red", "--near", "1,2", "--km", "nan"], "--km is nan"),
        (["search", "red", "--after", "weekends"], "no single stretch of time"),
        (["search", "red", "--in", "Lissabonn"], "Lissabonn"),
        (["search", "red", "--near", "95,10"], "latitude"),
        (["search", "red", "--near", "Porto", "--km", "-3"], "distance"),
        (["search", "red", "--near", "Italy", "--after", "2010"], "--near: 'Italy' is a country"),
        (["search", "red", "--km", "3"], "--km needs --near"),
        (["search", "red", "--where", "yaer == 2021"], "character 1: "),
        (["search", "red", "--where", "year == 2021 and"], "character 17"),
        (["search", "red", "--after", "2010", "--where", "year == 2021 and"], "character 17"),
        (["search", "red", "--sheet", "{tmp}/file.txt"], "PNG"),
        (["search", "red", "--sheet", "{tmp}/mine.png"], "exists"),
        (["search", "red", "--sheet", "{tmp}/no/such/folder.png"], "no folder"),
        (["ask", "what is the meaning of life?"], "not answered"),
        (["ask", " "], "empty"),
        (["ask", "photos from 30 February 2021"], "February"),
        (["memory", "show", "nothing"], "'nothing'"),
        (["memory", "forget"], "ID"),
    ],
)
def test_a_wrong_request_is_refused_in_one_line(
    photocraft: Photocraft, library: Path, tmp_path: Path, words: list[str], told: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("no picture")
    (tmp_path / "mine.png").write_bytes(b"a picture of mine")
    done = photocraft(*[word.format(tmp=tmp_path) for word in words], "--library", library)
    assert done.code == 2
    assert told in done.error
    assert done.out == ""
    assert (tmp_path / "mine.png").read_bytes() == b"a picture of mine"


def test_a_folder_that_cannot_be_indexed_leaves_no_library_behind(
    photocraft: Photocraft, tmp_path: Path
) -> None:
    done = photocraft("index", tmp_path / "nowhere", "--library", tmp_path / "library")
    assert done.code == 2
    assert not (tmp_path / "library").exists()


@pytest.mark.parametrize("command", ["list", "status", "search", "ask", "show", "compact"])
def test_a_library_that_is_not_there_is_named_with_the_way_to_make_one(
    photocraft: Photocraft, tmp_path: Path, command: str
) -> None:
    words = {"search": ["red"], "ask": ["red photos"], "show": ["p1234"]}.get(command, [])
    done = photocraft(command, *words, "--library", tmp_path / "library")
    assert done.code == 4
    assert "photocraft index" in done.error
    assert not (tmp_path / "library").exists()


def test_an_unknown_setting_is_an_error(photocraft: Photocraft, library: Path) -> None:
    done = photocraft("list", "--library", library, env={"PHOTOCRAFT_COLOUR": "red"})
    assert done.code == 2
    assert "'colour'" in done.error


def test_an_encoder_that_is_not_there_is_an_error(photocraft: Photocraft, library: Path) -> None:
    done = photocraft("search", "red", "--library", library, "--encoder", "no-such-folder")
    assert done.code == 5
    assert "weights.md" in done.error


def test_a_library_without_vectors_of_the_encoder_says_how_to_get_them(
    photocraft: Photocraft, library: Path
) -> None:
    done = photocraft("search", "red", "--library", library, "--encoder", "labels")
    assert done.code == 5
    assert "photocraft index" in done.error
    assert done.error.endswith(": null")


def test_a_locked_library_names_who_holds_it(
    photocraft: Photocraft, library: Path, shared: Path
) -> None:
    with WriteLock(library / "lock").hold(5):
        done = photocraft(
            "index",
            shared / "data" / "exif",
            "--library",
            library,
            env={"PHOTOCRAFT_LOCK_WAIT_SECONDS": "0.2"},
        )
        readable = photocraft("list", "--library", library)
    assert done.code == 4
    assert f"process {os.getpid()}" in done.error
    assert readable.code == 0


@pytest.mark.parametrize("command", ["list", "status", "search", "index"])
def test_a_corrupt_database_is_reported_and_left_alone(
    photocraft: Photocraft, tmp_path: Path, command: str
) -> None:
    (tmp_path / "library").mkdir(mode=0o700)
    database = tmp_path / "library" / "library.db"
    rubbish = b"SQLite format 3\0" + b"\xa5" * 8176
    database.write_bytes(rubbish)
    words = ["red"] if command == "search" else []
    done = photocraft(command, *words, "--library", tmp_path / "library")
    assert done.code == 4
    assert "library.db" in done.error
    assert database.read_bytes() == rubbish


def test_the_doctor_finds_a_corrupt_database(photocraft: Photocraft, tmp_path: Path) -> None:
    (tmp_path / "library").mkdir(mode=0o700)
    (tmp_path / "library" / "library.db").write_bytes(b"SQLite format 3\0" + b"\xa5" * 8176)
    done = photocraft("doctor", "--json", "--library", tmp_path / "library")
    assert done.code == 1
    found = {row["check"]: row for row in done.json_lines()}
    assert found["library"]["state"] == "fault"
    assert found["library"]["hint"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("NOT PERMITTED to mount a small tmpfs: a full disk cannot be tested")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_ends_the_run_and_loses_nothing(
    photocraft: Photocraft, shared: Path, small_disk: Path, tmp_path: Path
) -> None:
    library = small_disk / "library"
    first = tmp_path / "first"
    first.mkdir()
    (first / "one.jpg").write_bytes((shared / "data" / "odd" / "orient_6.jpg").read_bytes())
    assert photocraft("index", first, "--library", library).code == 0
    before = photocraft("list", "--json", "--library", library).out
    free = os.statvfs(small_disk)
    (small_disk / "ballast").write_bytes(b"\0" * max(0, free.f_bavail * free.f_bsize - 40_960))

    done = photocraft("index", shared / "data" / "captioned", "--library", library)
    assert done.code == 4
    assert "space" in done.error
    (small_disk / "ballast").unlink()
    after = photocraft("list", "--json", "--library", library).out
    assert before.strip() in after
    assert photocraft("doctor", "--library", library).code == 0


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Photocraft:
    """Runs the command where only the core's packages can be imported, without any extra."""
    folder = tmp_path_factory.mktemp("bare")
    for package in CORE:
        distribution = metadata.distribution(package)
        names = {file.parts[0] for file in distribution.files or ()} - {".."}
        for name in names:
            target = folder / name
            if not target.exists():
                target.symlink_to(str(distribution.locate_file(name)))
    package_root = Path(__file__).resolve().parents[2]
    (folder / "photocraft_local").symlink_to(package_root / "photocraft_local")
    facts = Path(str(metadata.distribution("photocraft-local")._path))  # type: ignore[attr-defined]
    (folder / facts.name).symlink_to(facts)
    code = (
        f"import sys; sys.path.append({str(folder)!r});"
        "from photocraft_local.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", "-c", code, *map(str, words)]
        own = {name: value for name, value in os.environ.items() if "PHOTOCRAFT_" not in name}
        environment = {**own, "PHOTOCRAFT_CACHE": str(folder / "cache")}
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)

    return run


def test_without_the_extra_the_way_to_it_is_named(
    bare: Photocraft, shared: Path, tmp_path: Path
) -> None:
    done = bare("index", shared / "data" / "exif", "--library", tmp_path / "library")
    assert done.returncode == 3, done.stderr
    assert "photocraft-local[cpu]" in done.stderr
    assert done.stderr.count("\n") == 2
    assert not (tmp_path / "library").exists()


def test_the_core_alone_indexes_lists_and_filters(
    bare: Photocraft, shared: Path, tmp_path: Path
) -> None:
    library = ("--library", tmp_path / "library")
    done = bare("index", shared / "data" / "exif", "--encoder", "null", *library)
    assert done.returncode == 0, done.stderr
    assert "no place names" in done.stderr
    assert bare("list", *library).stdout.count("\n") > 25
    found = bare("search", "--when", "2008", "--near", "43.467,11.885", *library)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("\n") == 3
    named = bare("search", "--in", "Arezzo", *library)
    assert named.returncode in (2, 3)
    asked = bare("ask", "photos of a dog", "--encoder", "null", *library)
    assert asked.returncode == 3, asked.stderr
    assert "photocraft-local[cpu]" in asked.stderr


def test_the_doctor_reports_what_is_missing(bare: Photocraft, tmp_path: Path) -> None:
    done = bare("doctor", "--library", tmp_path / "library")
    assert done.returncode in (0, 1)
    assert "missing: onnxruntime" in done.stdout
    assert "Traceback" not in done.stderr
    assert " gpu: " in done.stdout


def test_an_empty_folder_beside_others_costs_them_nothing(
    photocraft: Photocraft, tmp_path: Path, shared: Path
) -> None:
    (tmp_path / "empty").mkdir()
    library = tmp_path / "several"
    folders = (shared / "data/captioned/album", tmp_path / "empty")
    done = photocraft("index", *folders, "--library", library)
    assert done.code == 2
    assert str(tmp_path / "empty") in done.err
    found = photocraft("search", "green", "-k", "99", "--json", "--library", library).json()
    assert len(found["photos"]) == 9
    assert found["without_vector"] == 0
    assert photocraft("index", "--library", library).code == 0  # the empty one is not kept

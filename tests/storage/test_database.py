"""The database opens, migrates, refuses and fails as it says."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from photocraft_local.errors import (
    LibraryCorrupt,
    LibraryError,
    LibraryLocked,
    LibraryNotFound,
    LibraryTooNew,
    StorageFull,
)
from photocraft_local.storage.database import Database
from photocraft_local.storage.migrations import Migration


def m0001_first(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE things (name TEXT NOT NULL, data BLOB) STRICT")


def m0002_second(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE things ADD COLUMN size INTEGER")


def m0003_fails_half_way(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE half (x)")
    connection.execute("CREATE TABLE things (x)")


def opened(path: Path, *migrations: Migration, busy_seconds: float = 10) -> Database:
    return Database.open(path, migrations or (m0001_first,), create=True, busy_seconds=busy_seconds)


def add(database: Database, name: str, data: bytes = b"") -> None:
    with database.transaction():
        database.execute("INSERT INTO things (name, data) VALUES (?, ?)", (name, data))


def add_and_fail(database: Database) -> None:
    add(database, "inner")
    database.execute("INSERT INTO nowhere VALUES (1)")


def fill(database: Database) -> None:
    for number in range(100):
        add(database, f"{number}", bytes(50_000))


def names(database: Database) -> list[str]:
    return [name for (name,) in database.rows("SELECT name FROM things ORDER BY rowid")]


def test_each_migration_runs_once_and_leaves_its_record(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opened(path).close()
    opened(path, m0001_first, m0002_second).close()
    database = opened(path, m0001_first, m0002_second)
    assert database.rows("SELECT name FROM migrations ORDER BY name") == [
        ("m0001_first",),
        ("m0002_second",),
    ]
    database.rows("SELECT size FROM things")
    database.close()


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with pytest.raises(LibraryError):
        opened(path, m0001_first, m0003_fails_half_way)
    database = opened(path)
    assert database.value("SELECT count(*) FROM sqlite_master WHERE name = 'half'") == 0
    database.close()


def test_a_database_of_a_newer_version_is_refused_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    opened(path, m0001_first, m0002_second).close()
    before = path.read_bytes()
    with pytest.raises(LibraryTooNew, match="m0002_second") as caught:
        opened(path)
    assert "update photocraft" in caught.value.hint
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE songs (name TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(LibraryCorrupt, match="another program") as info:
        opened(path, m0001_first)
    assert "--library" in info.value.hint
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["library.db"]


def test_a_table_that_is_gone_is_damage(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "x.db", m0001_first)) as database:
        for query in ("SELECT 1 FROM absent", "SELECT absent FROM migrations"):
            with pytest.raises(LibraryCorrupt, match="no such"):
                database.rows(query)


def test_the_file_is_private(tmp_path: Path) -> None:
    database = opened(tmp_path / "a.db")
    add(database, "x")
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.glob("a.db*")}
    database.close()
    assert modes == {0o600}


def test_a_missing_database_is_not_made_in_passing(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound):
        Database.open(tmp_path / "a.db", (m0001_first,))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "garbage", [b"not a database " * 500, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_garbage_is_corrupt(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(garbage)
    with pytest.raises(LibraryCorrupt) as caught:
        opened(path)
    assert str(path) in caught.value.message
    assert "backup" in caught.value.hint


def test_a_damaged_page_is_found_by_reading_and_by_verify(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database = opened(path)
    with database.transaction():
        database.execute_many(
            "INSERT INTO things (name) VALUES (?)", ((f"{i:0200}",) for i in range(500))
        )
    database.close()
    content = bytearray(path.read_bytes())
    content[-8 * 4096 : -4096] = b"\xaa" * (7 * 4096)
    path.write_bytes(content)
    damaged = opened(path)
    with pytest.raises(LibraryCorrupt):
        damaged.rows("SELECT name FROM things")
    with pytest.raises(LibraryCorrupt):
        damaged.verify()
    damaged.close()


def test_a_transaction_is_all_or_nothing_and_nests(tmp_path: Path) -> None:
    database = opened(tmp_path / "a.db")
    add(database, "kept")
    with pytest.raises(LibraryError), database.transaction():
        add_and_fail(database)
    with database.transaction():
        add(database, "outer")
    assert names(database) == ["kept", "outer"]
    with pytest.raises(RuntimeError):
        database.execute("DELETE FROM things")
    database.close()


def test_a_reader_is_not_blocked_by_a_writer_and_a_second_writer_is_told(
    tmp_path: Path,
) -> None:
    writer, other = opened(tmp_path / "a.db"), opened(tmp_path / "a.db", busy_seconds=0.05)
    with writer.transaction():
        writer.execute("INSERT INTO things (name) VALUES ('x')")
        assert names(other) == []
        with pytest.raises(LibraryLocked, match=r"a\.db"), other.transaction():
            pass
    assert names(other) == ["x"]
    writer.close()
    other.close()


def test_a_full_drive_is_named_and_loses_nothing(small_drive: Path) -> None:
    database = opened(small_drive / "a.db")
    add(database, "kept", bytes(100_000))
    with pytest.raises(StorageFull, match="nothing that was stored is lost") as caught:
        fill(database)
    assert "free some space" in caught.value.hint
    stored = names(database)
    database.close()
    again = Database.open(small_drive / "a.db", (m0001_first,))
    again.verify()
    assert names(again) == stored
    assert stored[0] == "kept"
    again.close()


def test_a_drive_that_is_full_from_the_start(small_drive: Path) -> None:
    (small_drive / "filler").write_bytes(bytes(1 << 20))
    with pytest.raises(StorageFull):
        opened(small_drive / "a.db")


_OPENER = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from test_database import opened, m0001_first, m0002_second
opened(Path(sys.argv[1]), m0001_first, m0002_second).close()
"""


def test_processes_that_make_it_at_once_agree(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _OPENER, str(tmp_path / "a.db"), str(Path(__file__).parent)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]

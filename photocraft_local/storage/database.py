"""One SQLite file: open it safely, read, and change it in transactions.

Readers never wait for a writer (WAL). Deleted content is overwritten. Knows nothing of photos;
every error of SQLite leaves here as one of the package's own.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import LibraryNotFound
from photocraft_local.storage.faults import SQLITE_ERRORS, corrupt, from_sqlite, mapped
from photocraft_local.storage.migrations import Migration, migrate, refuse_anothers

Row = tuple[Any, ...]
Parameters = Sequence[Any] | dict[str, Any]

_PIECE_ROWS = 1024
_PRAGMAS = (
    # A vector row that is on disk must never name a photo row that is not: every commit syncs.
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA cache_size = -2048",
    "PRAGMA temp_store = MEMORY",
)


class Database:
    """A connection that may be used from several threads; one transaction at a time."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self._depth = 0
        self.path = path

    @classmethod
    def open(
        cls,
        path: Path,
        migrations: Sequence[Migration],
        *,
        create: bool = False,
        busy_seconds: float = 10.0,
    ) -> Database:
        """Open (or create) and migrate; wait ``busy_seconds`` for another's transaction.

        Raises LibraryNotFound, LibraryTooNew, LibraryCorrupt, LibraryLocked, StorageFull.
        """
        with mapped(path):
            if not path.exists():
                if not create:
                    raise LibraryNotFound(f"there is no database {path}")
                path.touch(mode=0o600)
            connection = _connect(path, busy_seconds)
            try:
                refuse_anothers(connection, path)
                _prepare(connection, busy_seconds)
                migrate(connection, migrations, path)
            except BaseException:
                connection.close()
                raise
        return cls(connection, path)

    def close(self) -> None:
        with self._lock, mapped(self.path):
            self._connection.close()

    def rows(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """All rows of a query."""
        try:
            with self._lock:
                return self._connection.execute(sql, parameters).fetchall()
        except SQLITE_ERRORS as exc:
            raise from_sqlite(exc, self.path) from exc

    def pieces(self, sql: str, parameters: Parameters = ()) -> Iterator[list[Row]]:
        """The rows of a query some thousand at a time; the query is the only one meanwhile."""
        try:
            with self._lock:
                cursor = self._connection.execute(sql, parameters)
                while piece := cursor.fetchmany(_PIECE_ROWS):
                    yield piece
        except SQLITE_ERRORS as exc:
            raise from_sqlite(exc, self.path) from exc

    def integers(self, sql: str, parameters: Parameters = ()) -> NDArray[np.int64]:
        """The first column of a query, without holding its rows."""
        parts = [
            np.fromiter((row[0] for row in piece), np.int64, len(piece))
            for piece in self.pieces(sql, parameters)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def row(self, sql: str, parameters: Parameters = ()) -> Row | None:
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """First column of the first row; None without a row."""
        found = self.row(sql, parameters)
        return found[0] if found else None

    def execute(self, sql: str, parameters: Parameters = ()) -> int:
        """Run a change inside a transaction; the id of the row it inserted, if any."""
        self._require_transaction()
        try:
            return self._connection.execute(sql, parameters).lastrowid or 0
        except SQLITE_ERRORS as exc:
            raise from_sqlite(exc, self.path) from exc

    def change(self, sql: str, parameters: Parameters = ()) -> int:
        """Run a change inside a transaction; the number of rows it touched."""
        self._require_transaction()
        try:
            return self._connection.execute(sql, parameters).rowcount
        except SQLITE_ERRORS as exc:
            raise from_sqlite(exc, self.path) from exc

    def execute_many(self, sql: str, rows: Iterable[Parameters]) -> None:
        self._require_transaction()
        with mapped(self.path):
            self._connection.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. A nested one belongs to the outer one."""
        with self._lock:
            if self._depth == 0:
                self._run("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if self._depth == 0 and self._connection.in_transaction:
                    self._run("ROLLBACK")
                raise
            self._depth -= 1
            if self._depth == 0:
                self._commit()

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the database file and cut it to nothing."""
        with self._lock:
            self._run("PRAGMA wal_checkpoint(TRUNCATE)")

    def vacuum(self) -> None:
        """Rewrite the file without free pages; needs room for a copy."""
        with self._lock:
            self._run("VACUUM")
            self._run("PRAGMA wal_checkpoint(TRUNCATE)")

    def verify(self) -> None:
        """Read every page; raises LibraryCorrupt with the first fault."""
        verdict = str(self.value("PRAGMA quick_check(1)"))
        if verdict != "ok":
            raise corrupt(self.path, verdict)

    def _commit(self) -> None:
        try:
            self._run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._run("ROLLBACK")
            raise

    def _run(self, sql: str) -> None:
        with mapped(self.path):
            self._connection.execute(sql)

    def _require_transaction(self) -> None:
        if self._depth == 0:
            raise RuntimeError("a change outside of Database.transaction()")


def _connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(
        path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
    )


def _prepare(connection: sqlite3.Connection, busy_seconds: float) -> None:
    _enter_wal(connection, busy_seconds)
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _enter_wal(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """The switch to WAL ignores the busy timeout, so two first openers are kept apart here."""
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
            if mode != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as exc:
            busy = exc.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.05)

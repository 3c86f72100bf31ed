"""Runs named migrations: small functions, each in one transaction with its own record.

A database that records a migration which this version does not know is refused, unchanged.
Knows no table but its own.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from photocraft_local.errors import LibraryCorrupt, LibraryTooNew

Migration = Callable[[sqlite3.Connection], None]
"""Changes the schema; its ``__name__`` is its record, so a released one is never renamed."""

_RECORDS = (
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at REAL NOT NULL) STRICT"
)


def applied(connection: sqlite3.Connection) -> set[str]:
    """Names of the migrations that this database has seen."""
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone()
    if known is None:
        return set()
    return {name for (name,) in connection.execute("SELECT name FROM migrations")}


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], path: Path) -> None:
    """Bring the database up to date; two processes may do so at once."""
    names = [migration.__name__ for migration in migrations]
    done = applied(connection)
    if unknown := done.difference(names):
        raise LibraryTooNew(
            f"{path} was written by a newer version of photocraft (it has {min(unknown)!r})",
            hint="update photocraft, or use another library folder with --library",
        )
    for migration in migrations:
        if migration.__name__ not in done:
            _apply(connection, migration)


def refuse_anothers(connection: sqlite3.Connection, path: Path) -> None:
    """Raises LibraryCorrupt for tables without our record of how they came: each migration
    writes both at once."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if tables and "migrations" not in tables:
        raise LibraryCorrupt(
            f"{path} is a database of another program",
            hint="it is left as it is; choose another library folder with --library",
        )


def _apply(connection: sqlite3.Connection, migration: Migration) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been first while this one waited for the transaction.
        if migration.__name__ not in applied(connection):
            connection.execute(_RECORDS)
            migration(connection)
            connection.execute(
                "INSERT INTO migrations VALUES (?, ?)", (migration.__name__, time.time())
            )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise

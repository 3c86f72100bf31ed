"""The tables of local knowledge, as named migrations. A released migration is never changed."""

from __future__ import annotations

import sqlite3

from photocraft_local.storage.migrations import Migration

_TABLES = (
    "CREATE TABLE sources (source_id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE) STRICT",
    # A page with a reason is one that is skipped; it has no passages.
    """CREATE TABLE pages (
        page_id INTEGER PRIMARY KEY,
        source_id INTEGER NOT NULL REFERENCES sources,
        path BLOB NOT NULL UNIQUE,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        reader INTEGER NOT NULL,
        kind TEXT NOT NULL,
        title TEXT NOT NULL DEFAULT '',
        left_out TEXT NOT NULL DEFAULT '{}',
        reason TEXT NOT NULL DEFAULT '',
        message TEXT NOT NULL DEFAULT ''
    ) STRICT""",
    """CREATE TABLE pictures (
        picture_id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        digest BLOB NOT NULL UNIQUE,
        width INTEGER NOT NULL,
        height INTEGER NOT NULL
    ) STRICT""",
    # Pictures that lie on disk beside the pages; others are stored by their content.
    """CREATE TABLE originals (
        page_id INTEGER NOT NULL REFERENCES pages ON DELETE CASCADE,
        path BLOB NOT NULL,
        picture_id INTEGER NOT NULL REFERENCES pictures,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        PRIMARY KEY (page_id, path)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE passages (
        passage_id INTEGER PRIMARY KEY,
        page_id INTEGER NOT NULL REFERENCES pages ON DELETE CASCADE,
        place TEXT NOT NULL,
        heading TEXT NOT NULL,
        text TEXT NOT NULL,
        picture_id INTEGER REFERENCES pictures
    ) STRICT""",
    "CREATE INDEX passages_by_page ON passages (page_id)",
    "CREATE INDEX passages_by_picture ON passages (picture_id)",
    "CREATE INDEX originals_by_picture ON originals (picture_id)",
    """CREATE TABLE vectors (
        picture_id INTEGER NOT NULL REFERENCES pictures ON DELETE CASCADE,
        space_id TEXT NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (picture_id, space_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE VIRTUAL TABLE words USING fts5 (text, heading, title,"
    " tokenize = 'porter unicode61 remove_diacritics 2')",
)


def _m0001_pages_and_passages(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (_m0001_pages_and_passages,)

"""The tables of a person's skills, as named migrations. A released migration is never changed."""

from __future__ import annotations

import sqlite3

_TABLES = (
    """CREATE TABLE skills (
        skill_id TEXT PRIMARY KEY,
        body TEXT NOT NULL,
        wins INTEGER NOT NULL DEFAULT 0,
        losses INTEGER NOT NULL DEFAULT 0,
        last_used TEXT NOT NULL DEFAULT ''
    ) STRICT""",
    """CREATE TABLE sources (
        skill_id TEXT NOT NULL,
        episode_id TEXT NOT NULL,
        PRIMARY KEY (skill_id, episode_id)
    ) STRICT, WITHOUT ROWID""",
    # Which uses are in the counts: an episode that is finished twice counts once.
    """CREATE TABLE outcomes (
        skill_id TEXT NOT NULL,
        episode_id TEXT NOT NULL,
        PRIMARY KEY (skill_id, episode_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE TABLE hidden (skill_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
)


def skills_2026_11(connection: sqlite3.Connection) -> None:
    for table in _TABLES:
        connection.execute(table)


MIGRATIONS = (skills_2026_11,)

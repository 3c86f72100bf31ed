"""Which encoder refused which photo, so that every other one gets to try it once.

A photo that no encoder could embed is out of the library; what its pixels are is no matter here.
Killed at any moment, a photo that was let in again waits for the next run, as new ones do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from photocraft_local.library.schema import FileState, PhotoState, Role

if TYPE_CHECKING:
    from photocraft_local.library.library import Library
    from photocraft_local.storage.database import Database

NOT_EMBEDDED = "not-embedded"  # a photo that the encoder refuses, not the decoder

_WAITING = f"""
SELECT photo_id FROM photos WHERE state = {int(PhotoState.UNUSABLE)} AND reason = '{NOT_EMBEDDED}'
  AND EXISTS (SELECT 1 FROM files WHERE files.photo_id = photos.photo_id
    AND role = {int(Role.PHOTO)} AND files.state != {int(FileState.MISSING)})"""  # noqa: S608


def note(database: Database, space: str, photo_ids: Iterable[int]) -> None:
    """The encoder of this vector space cannot embed these photos. Inside ``changes``."""
    refused = sorted(_refused(database, space) | set(photo_ids))
    database.execute(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)", (_key(space), json.dumps(refused))
    )


def forget(database: Database, space: str) -> None:
    """The space is gone. Inside ``changes``."""
    database.execute("DELETE FROM meta WHERE key = ?", (_key(space),))


def let_in(library: Library, space: str) -> int:
    """Photos that other encoders refused are photos again, for this space's to try; how many.
    Under the library's lock."""
    database = library.database
    tried = np.array(sorted(_refused(database, space)), np.int64)
    waiting = np.setdiff1d(database.integers(_WAITING), tried).tolist()
    if waiting:
        with library.changes():
            database.execute_many(
                "UPDATE photos SET state = ?, reason = '', message = '' WHERE photo_id = ?",
                [(int(PhotoState.PRESENT), photo_id) for photo_id in waiting],
            )
    return len(waiting)


def _refused(database: Database, space: str) -> set[int]:
    found = database.rows("SELECT value FROM meta WHERE key = ?", (_key(space),))
    return set(json.loads(found[0][0])) if found else set()


def _key(space: str) -> str:
    return f"refused by {space}"

"""Small tables of words beside the photos: flags as bits, cameras and places as row keys.

Reads them once and adds what is new inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable

from photocraft_local.records import PlaceName
from photocraft_local.storage.database import Database

_MOST_FLAGS = 63


class FlagTable:
    """Flag words ↔ bits of an integer."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._bits: dict[str, int]
        self.reload()

    def names(self) -> tuple[str, ...]:
        """Word of each bit, bit 0 first."""
        self.reload()
        return tuple(self._bits)

    def mask(self, words: Iterable[str]) -> int:
        """The words as bits; new words get a bit (needs a transaction)."""
        mask = 0
        for word in words:
            if word not in self._bits:
                self.reload()
            if word not in self._bits:
                self._add(word)
            mask |= 1 << self._bits[word]
        return mask

    def words(self, mask: int) -> tuple[str, ...]:
        if not mask:
            return ()
        if mask >> len(self._bits):
            self.reload()
        return tuple(word for word, bit in self._bits.items() if mask >> bit & 1)

    def reload(self) -> None:
        """Read the table again, after another process or a rollback changed it."""
        self._bits = dict(self._database.rows("SELECT name, bit FROM flags ORDER BY bit"))

    def _add(self, word: str) -> None:
        bit = len(self._bits)
        if bit >= _MOST_FLAGS:
            raise ValueError(f"more than {_MOST_FLAGS} kinds of flags, at {word!r}")
        self._database.execute("INSERT INTO flags (bit, name) VALUES (?, ?)", (bit, word))
        self._bits[word] = bit


def camera_id(database: Database, name: str) -> int | None:
    """Row key of a camera's name, added if new; None for a nameless one."""
    if not name:
        return None
    found = database.value("SELECT camera_id FROM cameras WHERE name = ?", (name,))
    return found or database.execute("INSERT INTO cameras (name) VALUES (?)", (name,))


def place_id(database: Database, place: PlaceName) -> int:
    """Row key of a place's names, added if new."""
    names = (place.city, place.region, place.country, place.country_code)
    found = database.value(
        "SELECT place_id FROM places WHERE city = ? AND region = ? AND country = ?"
        " AND country_code = ?",
        names,
    )
    return found or database.execute(
        "INSERT INTO places (city, region, country, country_code) VALUES (?, ?, ?, ?)", names
    )

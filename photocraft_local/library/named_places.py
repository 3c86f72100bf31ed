"""The places that the person named, as rows of the library.

Names are told apart by their folded spelling. Nothing else removes them: forgetting photos or
folders leaves them as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from photocraft_local.errors import UsageError
from photocraft_local.places.keys import fold
from photocraft_local.places.named import NamedPlace

if TYPE_CHECKING:
    from photocraft_local.library.library import Library


class NamedPlaceStore:
    """``library.named_places``."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def list(self) -> list[NamedPlace]:
        """By name."""
        rows = self._library.database.rows(
            "SELECT name, latitude, longitude, radius_km FROM named_places ORDER BY key"
        )
        return [NamedPlace(*row) for row in rows]

    def add(self, place: NamedPlace) -> None:
        """Raises UsageError if the name is taken, LibraryLocked."""
        with self._library.write_lock(), self._library.changes() as database:
            if taken := database.row("SELECT name FROM named_places WHERE key = ?", (place.key,)):
                raise UsageError(
                    f"there is already a place named {taken[0]!r}",
                    hint=f"take it away first: photocraft places remove {taken[0]!r}",
                )
            database.execute(
                "INSERT INTO named_places VALUES (?, ?, ?, ?, ?)",
                (place.key, place.name, place.latitude, place.longitude, place.radius_km),
            )

    def remove(self, name: str) -> str:
        """Its name as it was stored. UsageError names those there are."""
        with self._library.write_lock(), self._library.changes() as database:
            found = database.row("SELECT key, name FROM named_places WHERE key = ?", (fold(name),))
            if found is None:
                known = ", ".join(place.name for place in self.list())
                raise UsageError(
                    f"no place of yours is named {name!r}",
                    hint=f"named are: {known}" if known else "photocraft places add names one",
                )
            database.execute("DELETE FROM named_places WHERE key = ?", (found[0],))
        return str(found[1])

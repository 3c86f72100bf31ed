"""``PhotoSearch.spaces``: the vectors of each encoder, side by side in one library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from photocraft_local.app.vector_stores import drop_copy
from photocraft_local.errors import LibraryError
from photocraft_local.library import spaces
from photocraft_local.library.spaces import SpaceCounts

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts


class Spaces:
    """The vector spaces of one library."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list(self) -> list[SpaceCounts]:
        """By name; those that can be read."""
        return list(readable(self._parts, []))

    def remove(self, name: str) -> str:
        """Drop the vectors of one space, and the copy that a Qdrant server has of them; photos and
        the other spaces stay. Gives its name.

        Raises UsageError for a name that is none, LibraryLocked, SearchError for a server that
        does not answer; nothing is dropped then.
        """
        library = self._parts.library()
        with library.write_lock():
            spaces.named(library, name)
            drop_copy(self._parts.settings, name)
            removed = spaces.remove(library, name).name
        self._parts.forget_searcher()
        return removed


def readable(parts: Parts, notes: list[str]) -> Iterator[SpaceCounts]:
    """Each space; one that cannot be read is a note."""
    library = parts.library()
    for folder in library.space_folders():
        try:
            yield spaces.counts(library, folder)
        except LibraryError as error:
            note = f"{error.message}; {error.hint}"
            if note not in notes:
                notes.append(note)


__all__ = ["SpaceCounts", "Spaces", "readable"]

"""Named sets of photos: what ``save_as`` writes and ``within`` reads, for one episode.

Photos are kept by UID in the order in which they were given. Knows nothing of how a set was
found beyond one line of origin.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from photocraft_local.errors import UnknownSet, UsageError

NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_]{0,31}$"
MAX_SETS = 64

_NAME = re.compile(NAME_PATTERN.strip("^$"))


@dataclass(frozen=True, slots=True)
class PhotoSet:
    """``origin`` says in one line which call made it."""

    name: str
    uids: tuple[str, ...]
    origin: str = ""

    def __len__(self) -> int:
        return len(self.uids)


class PhotoSets:
    """Name → photos."""

    def __init__(self) -> None:
        self._sets: dict[str, PhotoSet] = {}

    def __len__(self) -> int:
        return len(self._sets)

    def __iter__(self) -> Iterator[PhotoSet]:
        """In the order of their names."""
        return iter([self._sets[name] for name in sorted(self._sets)])

    def __contains__(self, name: object) -> bool:
        return name in self._sets

    def check_name(self, name: str) -> None:
        """UsageError for a name that cannot be saved, before any work is done for it."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name for a set",
                hint="a name starts with a letter and has at most 32 letters, digits and _",
            )
        if name not in self._sets and len(self._sets) >= MAX_SETS:
            raise UsageError(
                f"there are already {MAX_SETS} sets",
                hint="save under one of their names again: " + ", ".join(sorted(self._sets)),
            )

    def save(self, name: str, uids: Iterable[str], origin: str = "") -> PhotoSet:
        """Keep the photos under ``name``; an older set of that name is replaced."""
        self.check_name(name)
        saved = PhotoSet(name, tuple(dict.fromkeys(uids)), origin)
        self._sets[name] = saved
        return saved

    def get(self, name: str) -> PhotoSet:
        """UnknownSet lists the sets that exist."""
        found = self._sets.get(name)
        if found is not None:
            return found
        near = difflib.get_close_matches(name, list(self._sets), n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        sets = ", ".join(f"{photo_set.name} ({len(photo_set)})" for photo_set in self)
        raise UnknownSet(
            f"there is no set named {name!r}",
            hint=meant + (f"sets: {sets}" if sets else "no set was saved yet; use save_as first"),
        )

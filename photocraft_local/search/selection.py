"""A set of photos of one catalog: rows, set algebra, and the text of the filter that made it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import UsageError

if TYPE_CHECKING:
    from photocraft_local.search.catalog import Catalog


class Description(Protocol):
    """What a selection is: the tree of a filter, a name, or two selections joined."""

    def text(self) -> str: ...

    def notes(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Named:
    """A set that no filter made."""

    name: str

    def text(self) -> str:
        return self.name

    def notes(self) -> list[str]:
        return []


@dataclass(frozen=True, slots=True)
class _Joined:
    one: Description
    word: str
    other: Description

    def text(self) -> str:
        return f"({self.one.text()}) {self.word} ({self.other.text()})"

    def notes(self) -> list[str]:
        return self.one.notes() + self.other.notes()


_UNITS = {"day": "D", "month": "M", "year": "Y"}


class Selection:
    """Rows of a catalog, ascending: by time, photos without a time last.

    ``echo`` is the normalised filter that ran, with what its place names were taken to mean.
    """

    __slots__ = ("catalog", "description", "rows")

    def __init__(self, catalog: Catalog, rows: NDArray[np.intp], description: Description) -> None:
        self.catalog = catalog
        self.rows = rows
        self.description = description

    @property
    def expression(self) -> str:
        """The filter in words of the filter language where it came from one."""
        return self.description.text()

    @property
    def notes(self) -> list[str]:
        """What names in the filter were taken to mean: ``place("Lisbon") → Lisbon, Portugal …``"""
        return list(dict.fromkeys(self.description.notes()))

    @property
    def echo(self) -> str:
        notes = self.notes
        return f"{self.expression}  [{'; '.join(notes)}]" if notes else self.expression

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.uids())

    def __contains__(self, uid: object) -> bool:
        row = self.catalog.row_of(uid) if isinstance(uid, str) else None
        if row is None:
            return False
        at = int(np.searchsorted(self.rows, row))
        return at < len(self.rows) and int(self.rows[at]) == row

    def __repr__(self) -> str:
        return f"<Selection of {len(self)} photos: {self.echo}>"

    def photo_ids(self) -> NDArray[np.int64]:
        """int64 (len(self),) in order of time."""
        return self.catalog.columns.photo_ids[self.rows]

    def uids(self) -> list[str]:
        """In order of time."""
        return self.catalog.uids_at(self.rows)

    def __and__(self, other: Selection) -> Selection:
        self._check(other)
        rows = np.intersect1d(self.rows, other.rows, assume_unique=True)
        return self._joined(rows, "and", other)

    def __or__(self, other: Selection) -> Selection:
        self._check(other)
        return self._joined(np.union1d(self.rows, other.rows), "or", other)

    def __sub__(self, other: Selection) -> Selection:
        self._check(other)
        rows = np.setdiff1d(self.rows, other.rows, assume_unique=True)
        return self._joined(rows, "minus", other)

    def histogram(self, unit: str = "day") -> list[tuple[str, int]]:
        """(label, photos) by ``day``, ``month`` or ``year``, in order of time, empty ones left
        out; photos without a time come last under "no date"."""
        if unit not in _UNITS:
            raise UsageError(f"unknown unit {unit!r}", hint=f"known: {', '.join(_UNITS)}")
        columns = self.catalog.columns
        dated = self.rows[: int(np.searchsorted(self.rows, columns.num_dated))]
        moments = columns.times[dated].astype("datetime64[s]").astype(f"datetime64[{_UNITS[unit]}]")
        labels, counts = np.unique(moments, return_counts=True)
        bars = [(str(label), int(count)) for label, count in zip(labels, counts, strict=True)]
        undated = len(self.rows) - len(dated)
        return [*bars, ("no date", undated)] if undated else bars

    def _joined(self, rows: NDArray[np.intp], word: str, other: Selection) -> Selection:
        return Selection(self.catalog, rows, _Joined(self.description, word, other.description))

    def _check(self, other: Selection) -> None:
        if self.catalog is not other.catalog:
            raise UsageError(
                "two sets come from different states of the library",
                hint="make both again from the library as it is now",
            )

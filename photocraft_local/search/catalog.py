"""The library as time-sorted columns, and filters over them.

A catalog is a frozen picture of the library at one generation; missing and deleted photos are
not in it. Knows nothing of vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import date
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import UnknownPhoto
from photocraft_local.files.flags import FLAGS
from photocraft_local.library.columns import LibraryColumns
from photocraft_local.search.expression.common import parse_common
from photocraft_local.search.expression.context import Context, PlaceLookup
from photocraft_local.search.expression.errors import did_you_mean
from photocraft_local.search.expression.parser import parse
from photocraft_local.search.expression.rows import rows_where
from photocraft_local.search.selection import Named, Selection
from photocraft_local.search.sorted_columns import SortedColumns

__all__ = ["Catalog", "PlaceLookup", "Selection"]

_MAX_NEAR_POINTS = 1000


class Catalog:
    """Photos by row, in order of time; photos without a time last."""

    def __init__(self, columns: LibraryColumns) -> None:
        self._uids = columns.uid
        self.generation = columns.generation
        self.columns = SortedColumns(columns)
        self._flags: Collection[str] = FLAGS.keys() | set(columns.flag_names)
        self._context = Context(flags=self._flags, near_points=self._near_points)

    @classmethod
    def from_columns(cls, columns: LibraryColumns) -> Catalog:
        return cls(columns)

    def __len__(self) -> int:
        return len(self._uids)

    def filter(
        self, expression: str, *, today: date | None = None, places: PlaceLookup | None = None
    ) -> Selection:
        """The photos for which the expression is true (expression/__init__.py has the rules).

        Place names go to ``places``; "today" and "yesterday" to ``today``. Raises
        FilterSyntaxError with position and hint, PlaceNotFound.
        """
        context = self._context
        if context.given_today != today or context.places is not places:
            context = Context(today, places, self._near_points, self._flags, self.columns.has_word)
            self._context = context
        node = parse_common(expression, context) or parse(expression, context)
        return Selection(self, rows_where(node, self.columns), node)

    def everything(self) -> Selection:
        return Selection(self, np.arange(len(self)), Named("all photos"))

    def nothing(self) -> Selection:
        return Selection(self, np.arange(0), Named("no photo"))

    def selection_of(self, uids: Iterable[str], name: str = "") -> Selection:
        """A set of given photos; ``name`` is how its echo calls it. Raises UnknownPhoto."""
        rows = np.unique(self.rows_of(uids))
        return Selection(self, rows, Named(name or f"{len(rows)} given photos"))

    def photo_ids_of(self, uids: Iterable[str]) -> list[int]:
        """Database keys, in the order of the UIDs. Raises UnknownPhoto."""
        ids: list[int] = self.columns.photo_ids[self.rows_of(uids)].tolist()
        return ids

    def rows_of(self, uids: Iterable[str]) -> NDArray[np.intp]:
        """Row of each UID, in their order. Raises UnknownPhoto with near matches."""
        rows = self._row_by_uid
        try:
            return np.array([rows[uid] for uid in uids], np.intp)
        except KeyError as exc:
            uid = str(exc.args[0])
            near = did_you_mean(uid, rows, "use UIDs as a search or 'photocraft list' shows them")
            raise UnknownPhoto(f"no photo {uid!r} is in the library", hint=near) from exc

    def row_of(self, uid: str) -> int | None:
        return self._row_by_uid.get(uid)

    def rows_of_ids(self, photo_ids: NDArray[np.int64]) -> NDArray[np.intp]:
        """Row of each photo id; all of them must be here."""
        ids, rows = self._rows_by_id
        return rows[np.searchsorted(ids, photo_ids)]

    def uids_at(self, rows: NDArray[np.intp]) -> list[str]:
        uids = self._uids
        return [uids[at] for at in self.columns.order[rows].tolist()]

    @cached_property
    def _row_by_uid(self) -> dict[str, int]:
        uids = self._uids
        return {uids[at]: row for row, at in enumerate(self.columns.order.tolist())}

    @cached_property
    def _rows_by_id(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        rows = np.argsort(self.columns.photo_ids)
        return self.columns.photo_ids[rows], rows

    @cached_property
    def _points(self) -> NDArray[np.float64] | None:
        """(n, 2) degrees of photos, thinned out: they tell which Paris is meant."""
        located = np.flatnonzero(self.columns.located)
        if not len(located):
            return None
        thin = located[:: -(-len(located) // _MAX_NEAR_POINTS)]
        return np.stack([self.columns.latitude[thin], self.columns.longitude[thin]], axis=1)

    def _near_points(self) -> NDArray[np.float64] | None:
        return self._points

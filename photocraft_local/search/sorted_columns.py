"""The library's columns in order of time: what filters are evaluated on.

Photos without a time stand at the end. Columns that follow from others (month, hour, words per
code) are made when a filter first needs them. Knows nothing of expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.library.columns import NO_EVENT, NO_TIME, LibraryColumns
from photocraft_local.places.keys import fold

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]
Integers = NDArray[np.signedinteger[Any]]
Mask = NDArray[np.bool_]

_DAY = 86_400
_TABLES = {
    "city": "cities",
    "region": "regions",
    "country": "countries",
    "country_code": "country_codes",
    "camera": "cameras",
}
_UNDATED = np.iinfo(np.int64).max


class WordColumn:
    """A text column as codes into a table of words; code 0 is "none"."""

    def __init__(self, codes: Codes, words: Iterable[str]) -> None:
        self.codes = codes
        self.words = tuple(words)
        self.folded = [fold(word) for word in self.words]

    def codes_where(self, wanted: Callable[[str], bool]) -> list[int]:
        """Codes, "none" left out, whose folded word is wanted."""
        return [code for code, word in enumerate(self.folded) if code and wanted(word)]


class SortedColumns:
    """One row a present photo, by (time, photo id). ``order`` leads back to LibraryColumns."""

    def __init__(self, columns: LibraryColumns) -> None:
        times = np.where(columns.local_seconds == NO_TIME, _UNDATED, columns.local_seconds)
        order = np.lexsort((columns.photo_id, times))
        self._columns = columns
        self._words: dict[str, WordColumn] = {}
        self.order = order
        self.times: Numbers = times[order]
        self.num_dated = int(np.searchsorted(self.times, _UNDATED))
        self.photo_ids: Numbers = columns.photo_id[order]
        self.latitude = columns.latitude[order]
        self.longitude = columns.longitude[order]

    def __len__(self) -> int:
        return len(self.order)

    @property
    def flag_names(self) -> tuple[str, ...]:
        return self._columns.flag_names

    @cached_property
    def located(self) -> Mask:
        return np.isfinite(self.latitude) & np.isfinite(self.longitude)

    @cached_property
    def flags(self) -> Numbers:
        return self._columns.flags[self.order]

    def numbers(self, field: str) -> Integers:
        """A numeric field but time; negative where it is not known."""
        result: Integers = getattr(self, field)
        return result

    @cached_property
    def event(self) -> Numbers:
        return self._known_or_none(self._columns.event_id)

    @cached_property
    def trip(self) -> Numbers:
        return self._known_or_none(self._columns.trip_id)

    @cached_property
    def width(self) -> Codes:
        return self._columns.width[self.order]

    @cached_property
    def height(self) -> Codes:
        return self._columns.height[self.order]

    @cached_property
    def hour(self) -> Numbers:
        return self._dated(self.times[: self.num_dated] % _DAY // 3600)

    @cached_property
    def clock(self) -> Numbers:
        """Minutes of the day."""
        return self._dated(self.times[: self.num_dated] % _DAY // 60)

    @cached_property
    def weekday(self) -> Numbers:
        days = self.times[: self.num_dated] // _DAY
        return self._dated((days + 3) % 7)  # 1970-01-01 was a Thursday; Monday is 0

    @cached_property
    def month(self) -> Numbers:
        return self._dated(self._months % 12 + 1)

    @cached_property
    def day(self) -> Numbers:
        days = self._moments.astype("datetime64[D]")
        starts = self._moments.astype("datetime64[M]").astype("datetime64[D]")
        return self._dated((days - starts).astype(np.int64) + 1)

    def words(self, field: str) -> WordColumn:
        """city, region, country, country_code, camera, or address: the three places as one."""
        if field not in self._words:
            self._words[field] = self._address() if field == "address" else self._column(field)
        return self._words[field]

    def has_word(self, field: str, word: str) -> bool:
        """Whether a photo has that city, region, country or camera, however it is spelt."""
        return fold(word) in self.words(field).folded

    def _column(self, field: str) -> WordColumn:
        codes: Codes = getattr(self._columns, field)
        return WordColumn(codes[self.order], getattr(self._columns, _TABLES[field]))

    def _address(self) -> WordColumn:
        """Each distinct (city, region, country) as one word, fine to coarse, joined by commas."""
        parts = [self.words(field) for field in ("city", "region", "country")]
        joined = np.zeros(len(self), np.int64)
        for part in parts:
            joined = joined * len(part.words) + part.codes
        distinct, codes = np.unique(np.append(joined, 0), return_inverse=True)  # 0: no place
        words = []
        for key in distinct.tolist():
            found = []
            for part in reversed(parts):
                key, code = divmod(key, len(part.words))
                found.append(part.words[code])
            words.append(", ".join(filter(None, reversed(found))))
        return WordColumn(codes[:-1].astype(np.int32), words)

    @cached_property
    def _moments(self) -> NDArray[np.datetime64]:
        return self.times[: self.num_dated].astype("datetime64[s]")

    @cached_property
    def _months(self) -> Numbers:
        return self._moments.astype("datetime64[M]").astype(np.int64)

    def _dated(self, values: Numbers) -> Numbers:
        return np.concatenate([values, np.full(len(self) - self.num_dated, -1, np.int64)])

    def _known_or_none(self, values: Numbers) -> Numbers:
        values = values[self.order]
        return np.where(values == NO_EVENT, -1, values)

"""Made libraries for search tests: columns with known contents, random unit vectors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from photocraft_local.library.columns import NO_EVENT, NO_OFFSET, NO_TIME, LibraryColumns

FLAG_NAMES = ("screenshot", "time-in-future", "truncated")


def table(words: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes of the words, and their table; the empty word has code 0."""
    codes = {"": 0}
    keys = [codes.setdefault(word, len(codes)) for word in words]
    return np.array(keys, np.int32), tuple(codes)


def columns_of(rows: Sequence[dict[str, Any]]) -> LibraryColumns:
    """LibraryColumns of photos given as dicts; what is left out is not known.

    Keys: uid, time (ISO text), gps (lat, lon), city, region, country, code, camera, event,
    trip, size (w, h), flags (words), photo_id.
    """

    def column(key: str, default: Any) -> list[Any]:
        return [row.get(key, default) for row in rows]

    epoch = datetime(1970, 1, 1)
    seconds = [
        NO_TIME if text is None else int((datetime.fromisoformat(text) - epoch).total_seconds())
        for text in column("time", None)
    ]
    gps = np.array(column("gps", (np.nan, np.nan)), np.float64).reshape(-1, 2)
    size = np.array(column("size", (4000, 3000)), np.int32).reshape(-1, 2)
    words = {key: table(column(key, "")) for key in ("camera", "city", "region", "country", "code")}
    masks = [sum(1 << FLAG_NAMES.index(flag) for flag in flags) for flags in column("flags", ())]
    ids = [row.get("photo_id", at + 1) for at, row in enumerate(rows)]
    return LibraryColumns(
        photo_id=np.array(ids, np.int64),
        uid=[row.get("uid", f"p{at:05d}") for at, row in zip(ids, rows, strict=True)],
        local_seconds=np.array(seconds, np.int64),
        offset_minutes=np.full(len(rows), NO_OFFSET, np.int32),
        latitude=gps[:, 0].copy(),
        longitude=gps[:, 1].copy(),
        width=size[:, 0].copy(),
        height=size[:, 1].copy(),
        event_id=np.array(column("event", NO_EVENT), np.int64),
        trip_id=np.array(column("trip", NO_EVENT), np.int64),
        flags=np.array(masks, np.int64),
        camera=words["camera"][0],
        city=words["city"][0],
        region=words["region"][0],
        country=words["country"][0],
        country_code=words["code"][0],
        offline=np.zeros(len(rows), np.bool_),
        flag_names=FLAG_NAMES,
        cameras=words["camera"][1],
        cities=words["city"][1],
        regions=words["region"][1],
        countries=words["country"][1],
        country_codes=words["code"][1],
        generation=1,
    )


@pytest.fixture(scope="session")
def make_columns() -> Any:
    return columns_of


def unit_rows(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    """(n, dim) float16 rows of unit length."""
    rows = rng.standard_normal((n, dim), dtype=np.float32)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)


@pytest.fixture(scope="session")
def make_vectors() -> Any:
    return unit_rows

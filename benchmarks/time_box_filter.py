"""A time and box filter over 200k photos through ``Catalog.filter``, parsing included, against
SQLite's covering index (t, lat, lon), and against the same two steps in bare NumPy.

No expression occurs twice. Windows last from 10 days to 8 months of ten years, boxes from a
third of a degree to two degrees around places where photos are, as people ask. All methods give
the same photo ids; SQLite's come as its rows, ours as an int64 array.
"""

from __future__ import annotations

import sqlite3
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from _common import arguments, finish, interleaved, machine, ratio, table

from photocraft_local.library.columns import NO_EVENT, NO_OFFSET, LibraryColumns
from photocraft_local.search.catalog import Catalog

N = 200_000
_FIRST = datetime(2014, 1, 1)
_EPOCH = datetime(1970, 1, 1)
_YEARS = 10


@dataclass(frozen=True)
class Question:
    """From a minute to the beginning of a day, inside a box. ``form``: how it is written."""

    start: datetime
    end: datetime
    box: tuple[float, float, float, float]  # south, west, north, east
    form: int

    def expression(self) -> str:
        south, west, north, east = self.box
        where = f"box({south}, {west}, {north}, {east})"
        start, end = self.start.isoformat(timespec="minutes"), self.end.date().isoformat()
        if self.form == 0:
            return f'time >= "{start}" and time < "{end}" and {where}'
        if self.form == 1:
            return f'{where} and "{start}" <= time < "{end}"'
        return f'date >= "{start[:10]}" and date < "{end}" and {where}'

    def values(self) -> tuple[float, ...]:
        south, west, north, east = self.box
        return (_seconds(self.start), _seconds(self.end), south, north, west, east)


def _seconds(moment: datetime) -> int:
    return int((moment - _EPOCH).total_seconds())


def _midnight(moment: datetime) -> datetime:
    return datetime.combine(moment.date(), datetime.min.time())


def made_columns(rng: np.random.Generator) -> LibraryColumns:
    """Ten years in bursts: 1,500 outings of some hours, at 60 places."""
    outings = rng.integers(0, _YEARS * 365 * 86_400, 1_500)
    outing = rng.integers(0, len(outings), N)
    times = _seconds(_FIRST) + outings[outing] + rng.integers(0, 20_000, N)
    places = np.stack([rng.uniform(36, 60, 60), rng.uniform(-9.5, 25, 60)], axis=1)
    where = places[rng.integers(0, 60, len(outings))][outing] + rng.normal(0, 0.08, (N, 2))
    none = np.zeros(N, np.int32)
    return LibraryColumns(
        photo_id=np.arange(1, N + 1),
        uid=[f"p{at:06d}" for at in range(N)],
        local_seconds=times,
        offset_minutes=np.full(N, NO_OFFSET, np.int32),
        latitude=where[:, 0].copy(),
        longitude=where[:, 1].copy(),
        width=none + 4000,
        height=none + 3000,
        event_id=np.full(N, NO_EVENT, np.int64),
        trip_id=np.full(N, NO_EVENT, np.int64),
        flags=np.zeros(N, np.int64),
        camera=none,
        city=none,
        region=none,
        country=none,
        country_code=none,
        offline=np.zeros(N, np.bool_),
        flag_names=(),
        cameras=("",),
        cities=("",),
        regions=("",),
        countries=("",),
        country_codes=("",),
        generation=1,
    )


def questions(columns: LibraryColumns, rng: np.random.Generator, number: int) -> list[Question]:
    asked = []
    for at in range(number):
        anchor = int(rng.integers(N))  # a photo that the person has in mind
        taken = _EPOCH + timedelta(seconds=int(columns.local_seconds[anchor]))
        days = float(np.exp(rng.uniform(np.log(10), np.log(240))))
        start = taken - timedelta(days=float(rng.uniform(0, days)))
        start = start.replace(second=0) if at % 3 < 2 else _midnight(start)
        end = _midnight(start + timedelta(days=days))
        half = rng.uniform(0.15, 1.0)
        lat, lon = columns.latitude[anchor], columns.longitude[anchor]
        box = (lat - half, lon - half, lat + half, lon + half)
        corners = tuple(round(float(edge), 3) for edge in box)
        asked.append(Question(start, end, corners, at % 3))
    return asked


class Sqlite:
    """A WAL file as a library has it. The covering index holds all that the query needs."""

    _QUERY = (
        "SELECT id FROM photos INDEXED BY covering WHERE t >= ? AND t < ? "
        "AND lat BETWEEN ? AND ? AND lon BETWEEN ? AND ?"
    )

    def __init__(self, columns: LibraryColumns, path: Path) -> None:
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute(
            "CREATE TABLE photos (id INTEGER PRIMARY KEY, t INTEGER, lat REAL, lon REAL)"
        )
        rows = zip(
            columns.photo_id.tolist(),
            columns.local_seconds.tolist(),
            columns.latitude.tolist(),
            columns.longitude.tolist(),
            strict=True,
        )
        self.db.executemany("INSERT INTO photos VALUES (?, ?, ?, ?)", rows)
        self.db.execute("CREATE INDEX covering ON photos (t, lat, lon)")
        self.db.execute("ANALYZE")
        self.db.commit()

    def ids(self, question: Question) -> list[tuple[int]]:
        return self.db.execute(self._QUERY, question.values()).fetchall()


def bare_numpy(catalog: Catalog, values: tuple[float, ...]) -> np.ndarray:
    """The floor: numbers ready, two binary searches, four comparisons."""
    start, end, south, north, west, east = values
    columns = catalog.columns
    first, last = columns.times.searchsorted((start, end))
    lat, lon = columns.latitude[first:last], columns.longitude[first:last]
    inside = (lat >= south) & (lat <= north) & (lon >= west) & (lon <= east)
    return columns.photo_ids[first:last][inside]


def main() -> None:
    options = arguments(__doc__ or "")
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), quick=options.quick)


def measure(folder: Path, *, quick: bool) -> None:
    rng = np.random.default_rng(3)
    columns = made_columns(rng)
    catalog, sqlite = Catalog.from_columns(columns), Sqlite(columns, folder / "photos.db")
    rounds = 15 if quick else 60
    per_round = 50
    asked = questions(columns, rng, per_round * (rounds + 1))
    texts = [question.expression() for question in asked]
    assert len(set(texts)) == len(texts)
    values = [question.values() for question in asked]
    found = check(catalog, sqlite, asked, texts)
    turns = {name: iter(range(rounds + 1)) for name in ("ours", "sqlite", "numpy")}

    def batch(name: str) -> range:
        at = next(turns[name]) * per_round
        return range(at, at + per_round)

    timings = interleaved(
        {
            "ours": lambda: [catalog.filter(texts[i]).photo_ids() for i in batch("ours")],
            "sqlite": lambda: [sqlite.ids(asked[i]) for i in batch("sqlite")],
            "numpy": lambda: [bare_numpy(catalog, values[i]) for i in batch("numpy")],
        },
        rounds=rounds,
    )
    print(machine(["numpy"]), f"SQLite {sqlite3.sqlite_version}")
    print(f"{N} photos, {len(texts)} questions, {found / len(texts):.0f} photos found by each\n")
    names = {
        "ours": "Catalog.filter(text), parsing included",
        "sqlite": "SQLite, covering index (t, lat, lon), WAL file",
        "numpy": "floor: bare NumPy, numbers ready",
    }
    lines = [
        [
            names[name],
            f"{timing.median / per_round * 1e6:.1f}",
            f"{timing.spread:.0%}",
            f"{ratio(timings, name, 'ours'):.2f}",
        ]
        for name, timing in timings.items()
    ]
    table(lines, ["method", "CPU µs a query", "spread", "time / ours"])
    finish(
        {
            "vs_sqlite_covering": round(ratio(timings, "sqlite", "ours"), 2),
            "microseconds": round(timings["ours"].median / per_round * 1e6, 1),
            "n": N,
        }
    )


def check(catalog: Catalog, sqlite: Sqlite, asked: list[Question], texts: list[str]) -> int:
    """All methods agree on every question. Returns how many photos were found."""
    total = 0
    for question, text in zip(asked, texts, strict=True):
        ours = np.sort(catalog.filter(text).photo_ids())
        theirs = np.sort(np.array(sqlite.ids(question), np.int64).reshape(-1))
        np.testing.assert_array_equal(ours, theirs)
        total += len(ours)
    return total


if __name__ == "__main__":
    main()

"""What real files say, read by this package and held against a table that says it: by field.

Two layouts, told by their columns: ``outcome`` (``taken_at,lat,lon,upright_size``, where an empty
cell means that there is none) and exiftool's tags (``exif_DateTimeOriginal,gps_lat,…``, where an
empty cell means that the tag is absent: what other sources say is then ``more``, not wrong).
docs/evaluation.md describes both. Reads headers only.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from photocraft_local.errors import EvaluationError, PhotoError
from photocraft_local.evaluation.pictures import fault_of, plain_name
from photocraft_local.evaluation.problems import Problems
from photocraft_local.evaluation.tables import Row, columns_of, place_of, read_table
from photocraft_local.files.metadata import read_metadata
from photocraft_local.records import FileMetadata, Json

Verdict = Literal["right", "wrong", "missing", "more"]
VERDICTS: tuple[Verdict, ...] = ("right", "wrong", "missing", "more")
TABLES = ("expected.csv", "manifest.csv")
FIELDS = (
    "outcome",
    "time",
    "fraction",
    "offset",
    "place",
    "orientation",
    "size",
    "camera",
    "flags",
)
_DEGREES = 1e-5  # about a metre
_TAGGED = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?")
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_SKIP, _INDEX = "skip", "index"

# Field → what the table says; None: that there is none. What it does not speak of has no key.
Truth = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Check:
    """One field of one file. ``note``: the table's own words on the file."""

    file: str
    field: str
    wanted: str
    found: str
    verdict: Verdict
    note: str = ""

    def __str__(self) -> str:
        wanted, found = (repr(text) if text else "nothing" for text in (self.wanted, self.found))
        note = f" ({self.note})" if self.note else ""
        return f"{self.file}: {self.field}: {found} where the table has {wanted}{note}"


@dataclass(frozen=True, slots=True)
class MetadataReport:
    num_files: int
    checks: tuple[Check, ...]
    problems: Problems = field(default_factory=Problems)

    def counts(self) -> dict[str, dict[str, int]]:
        """By field, in order: how many of each verdict."""
        found = {name: Counter[str]() for name in FIELDS}
        for check in self.checks:
            found[check.field][check.verdict] += 1
        return {
            name: {verdict: count[verdict] for verdict in VERDICTS}
            for name, count in found.items()
            if count
        }

    def of(self, *verdicts: Verdict) -> list[Check]:
        return [check for check in self.checks if check.verdict in verdicts]

    def to_json(self) -> dict[str, Json]:
        return {
            "files": self.num_files,
            "fields": self.counts(),
            "not_right": [asdict(check) for check in self.of("wrong", "missing")],
            "more": [asdict(check) for check in self.of("more")],
            "problems": self.problems.to_json(),
        }


@dataclass(slots=True)
class TruthTable:
    """``files``: what the table says of each; ``notes``: its words on a file."""

    files: dict[str, Truth] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)


def read_truth(folder: Path, table: Path | None = None, *, strict: bool = False) -> TruthTable:
    """Raises EvaluationError for a folder without a table, or a table without a file; with
    ``strict`` for the first row that cannot be used, too."""
    path = table or _table(folder)
    is_outcome = "outcome" in columns_of(path)
    needed = {"file", "outcome"} if is_outcome else {"file", "exif_DateTimeOriginal"}
    found = TruthTable(problems=Problems(strict))
    for row in read_table(path, needed, found.problems):
        name = plain_name(row["file"])
        fault, why = fault_of(folder, name)
        if fault:
            found.problems.add(fault, place_of(path, row), why)
            continue
        try:
            if name in found.files:
                raise ValueError("it stands twice")
            truth = _outcome_truth(row) if is_outcome else _tag_truth(row)
        except ValueError as exc:
            found.problems.add("bad-line", place_of(path, row), f"{name!r}: {exc}")
            continue
        found.files[name] = truth
        found.notes[name] = row.get("note", row.get("special", ""))
    if not found.files:
        num = found.problems.counts.total()
        raise EvaluationError(
            f"{path} names no file of {folder} ({num} rows cannot be used)",
            hint="the column `file` is relative to the folder",
        )
    return found


def check_metadata(
    folder: Path, table: Path | None = None, *, strict: bool = False
) -> MetadataReport:
    """Raises what ``read_truth`` raises."""
    told = read_truth(folder, table, strict=strict)
    checks = [
        check
        for name, truth in told.files.items()
        for check in _checked(name, truth, read(folder / name), told.notes[name])
    ]
    return MetadataReport(len(told.files), tuple(checks), told.problems)


def read(path: Path) -> Truth:
    """What this package reads in the file, in the words of a truth."""
    try:
        found = read_metadata(os.fsencode(path))
    except PhotoError:
        return {"outcome": _SKIP}
    return {"outcome": _INDEX, **_told(found)}


def _told(found: FileMetadata) -> Truth:
    taken, spot = found.taken, found.location
    offset = taken.offset_minutes if taken else None
    return {
        "time": taken.local.replace(microsecond=0).isoformat() if taken else None,
        "fraction": f"{taken.local.microsecond:06d}" if taken else None,
        "offset": None if offset is None else _offset_text(offset),
        "place": _place_text(spot.latitude, spot.longitude) if spot else None,
        "orientation": str(found.orientation),
        "size": f"{found.width}x{found.height}",
        "camera": found.camera or None,
        "flags": "|".join(found.flags) or None,
    }


def _checked(name: str, truth: Truth, found: Truth, note: str) -> Iterator[Check]:
    if truth["outcome"] != found["outcome"] or truth["outcome"] == _SKIP:
        truth = {"outcome": truth["outcome"]}  # of a file that is skipped nothing else is read
    for about, wanted in truth.items():
        there = found.get(about)
        if wanted is None and there is None:
            verdict: Verdict = "right"
        elif wanted is None:
            verdict = "wrong"
        elif wanted == "":  # the tag is absent
            verdict = "right" if there is None else "more"
        elif there is None:
            verdict = "missing"
        else:
            verdict = "right" if _agree(about, wanted, there) else "wrong"
        yield Check(name, about, wanted or "", there or "", verdict, note)


def _agree(about: str, wanted: str, found: str) -> bool:
    if about == "place":
        pairs = zip(wanted.split(","), found.split(","), strict=True)
        return all(abs(float(one) - float(other)) <= _DEGREES for one, other in pairs)
    if about == "camera":
        return set(_needed_words(wanted)) <= set(found.casefold().split())
    if about == "flags":
        return set(wanted.split("|")) <= set(found.split("|"))
    return wanted == found


def _needed_words(wanted: str) -> Iterable[str]:
    """Of maker and model; a maker that the model repeats needs not stand twice."""
    maker, _, model = wanted.casefold().partition("|")
    return [*maker.split()[:1], *model.split()] if model else maker.split()


def _outcome_truth(row: Row) -> Truth:
    if row["outcome"] not in (_SKIP, _INDEX):
        raise ValueError(f"an outcome {row['outcome']!r}")
    truth: Truth = {"outcome": row["outcome"]}
    if "taken_at" in row:
        taken = datetime.fromisoformat(row["taken_at"]) if row["taken_at"] else None
        local = taken.replace(tzinfo=None) if taken else None
        offset = taken.utcoffset() if taken else None
        truth["time"] = local.replace(microsecond=0).isoformat() if local else None
        truth["offset"] = (
            None if offset is None else _offset_text(int(offset.total_seconds()) // 60)
        )
        if local and local.microsecond:
            truth["fraction"] = f"{local.microsecond:06d}"
    if pair := _pair(row, "lat", "lon"):
        truth["place"] = _place_text(*map(float, pair))
    elif "lat" in row:
        truth["place"] = None
    if row.get("upright_size"):
        truth["size"] = row["upright_size"]
    if row.get("flags"):
        truth["flags"] = row["flags"]
    return truth


def _tag_truth(row: Row) -> Truth:
    truth: Truth = {"outcome": _INDEX if row.get("width", "1") else _SKIP}
    truth |= _tagged_time(row)
    truth["place"] = ""
    if pair := _pair(row, "gps_lat", "gps_lon"):
        point = float(pair[0]), float(pair[1])
        # 0, 0 is what a receiver without a fix writes: it is no place.
        truth["place"] = None if point == (0, 0) else _place_text(*point)
    orientation = int(row.get("orientation") or 1)
    truth["orientation"] = str(orientation)
    if size := _pair(row, "width", "height"):
        truth["size"] = "x".join(size[::-1] if orientation >= 5 else size)
    if row.get("model"):
        truth["camera"] = f"{row.get('make', '')}|{row['model']}"
    return truth


def _pair(row: Row, one: str, other: str) -> tuple[str, ...]:
    """Both cells, or none of them. Raises ValueError for half of a pair."""
    found = tuple(filter(None, (row.get(one), row.get(other))))
    if len(found) == 1:
        raise ValueError(f"{one} and {other} go together, and one of them is empty")
    return found


def _tagged_time(row: Row) -> Truth:
    found = _TAGGED.match(row["exif_DateTimeOriginal"])
    if not found:
        if row["exif_DateTimeOriginal"]:
            raise ValueError(f"a time {row['exif_DateTimeOriginal']!r}")
        return {"time": ""}
    *numbers, digits = found.groups()
    precise = _TAGGED.match(row.get("SubSecDateTimeOriginal", ""))
    digits = (precise[7] if precise else digits) or ""
    year, month, day, hour, minute, second = map(int, numbers)
    truth: Truth = {"time": datetime(year, month, day, hour, minute, second).isoformat()}
    if digits:
        truth["fraction"] = f"{digits[:6]:0<6}"
    truth["offset"] = ""
    if stated := _OFFSET.fullmatch(row.get("OffsetTimeOriginal", "")):
        truth["offset"] = f"{stated[1]}{stated[2]}:{stated[3]}"
    elif row.get("TimeZoneOffset"):
        truth["offset"] = _offset_text(60 * int(row["TimeZoneOffset"].split()[0]))
    return truth


def _table(folder: Path) -> Path:
    for name in TABLES:
        if (folder / name).is_file():
            return folder / name
    raise EvaluationError(
        f"{folder} has neither {' nor '.join(TABLES)}",
        hint="name the table: --table FILE; docs/evaluation.md describes its columns",
    )


def _offset_text(minutes: int) -> str:
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"


def _place_text(latitude: float, longitude: float) -> str:
    return f"{latitude:.6f},{longitude:.6f}"

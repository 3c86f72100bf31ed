"""The photos that a history is composed of: a folder with ``captions.csv``, what each shows.

Columns ``file`` (relative to the folder), ``labels`` (joined by ``|``) and ``labels_complete``
(1: the labels name all kinds of things of their vocabulary that it shows). Only complete ones are
taken: of the others nobody knows what they do not show. Knows nothing of lives.
"""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.histories.likeness import Look, look_of
from photocraft_local.evaluation.pictures import fault_of

TABLE = "captions.csv"
LEAST_SOURCES = 12
_COLUMNS = {"file", "labels", "labels_complete"}
_JPEG = b"\xff\xd8\xff"


@dataclass(frozen=True, slots=True)
class Source:
    name: str  # its file, relative to the folder
    path: Path
    labels: frozenset[str]
    look: Look = field(compare=False, repr=False)  # for photos that look like it


@dataclass(frozen=True, slots=True)
class Sources:
    """``left_out``: how many photos of the table were not taken, by reason."""

    photos: tuple[Source, ...]
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def labels(self) -> Counter[str]:
        """How many photos show each."""
        return Counter(label for photo in self.photos for label in photo.labels)

    def fingerprint(self) -> str:
        """Changes with any byte of a photo, or any label."""
        digest = hashlib.sha256()
        for photo in self.photos:
            content = hashlib.sha256(photo.path.read_bytes()).hexdigest()
            digest.update(f"{photo.name}\0{content}\0{'|'.join(sorted(photo.labels))}\n".encode())
        return digest.hexdigest()[:16]


def read_sources(folder: Path) -> Sources:
    """In order of their names. Raises EvaluationError if the folder is none of this layout, or has
    too few photos."""
    photos: list[Source] = []
    left_out: Counter[str] = Counter()
    seen: set[str] = set()
    for row in _rows(folder / TABLE):
        name, path = row["file"], folder / row["file"]
        if reason := _unusable(row, folder, seen):
            left_out[reason] += 1
            continue
        try:
            look = look_of(path)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            left_out["cannot be decoded"] += 1
            continue
        seen.add(name)
        labels = frozenset(filter(None, map(str.strip, row["labels"].lower().split("|"))))
        photos.append(Source(name, path, labels, look))
    if len(photos) < LEAST_SOURCES:
        raise EvaluationError(
            f"{folder} has {len(photos)} JPEG photos with complete labels ({dict(left_out)})",
            hint=f"a history needs at least {LEAST_SOURCES}",
        )
    return Sources(tuple(sorted(photos, key=lambda one: one.name)), dict(sorted(left_out.items())))


def _rows(table: Path) -> list[dict[str, str]]:
    try:
        with table.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, restval="", strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as exc:
        raise EvaluationError(
            f"{table} cannot be read: {exc}",
            hint="name a folder that holds captions.csv in UTF-8 and its photos",
        ) from exc
    if not rows or _COLUMNS - set(rows[0]):
        raise EvaluationError(
            f"{table} lacks rows or the columns {', '.join(sorted(_COLUMNS))}",
            hint="labels are joined by |, labels_complete is 1 or 0",
        )
    return rows


def _unusable(row: dict[str, str], folder: Path, seen: set[str]) -> str:
    if row["labels_complete"] != "1":
        return "labels not complete"
    if row["file"] in seen:
        return "named twice"
    fault, _ = fault_of(folder, row["file"])
    if fault == "outside-name":
        return "outside of the folder"
    try:
        with (folder / row["file"]).open("rb") as file:
            return "" if file.read(3) == _JPEG else "no JPEG"
    except (OSError, ValueError):
        return "file missing"

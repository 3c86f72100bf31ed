"""The photos that a history is composed of: a folder with ``captions.csv``, what each shows.

Columns ``file`` (relative to the folder), ``labels`` (joined by ``|``) and ``labels_complete``
(1: the labels name all kinds of things of their vocabulary that it shows). Only complete ones are
taken: of the others nobody knows what they do not show. Knows nothing of lives.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.histories.likeness import Look, look_of
from photocraft_local.evaluation.pictures import fault_of_photo, plain_name
from photocraft_local.evaluation.problems import Problems
from photocraft_local.evaluation.tables import place_of, read_table

TABLE = "captions.csv"
LEAST_SOURCES = 12
_COLUMNS = {"file", "labels", "labels_complete"}
_JPEG = b"\xff\xd8\xff"
_FAULTS = {  # in the card's words
    "missing-image": "file missing",
    "outside-name": "outside of the folder",
    "empty-file": "file empty",
    "unreadable-image": "cannot be decoded",
    "duplicate-id": "named twice",
    "wrong-encoding": "line not in UTF-8",
    "bad-line": "line of another form",
}


@dataclass(frozen=True, slots=True)
class Source:
    name: str  # its file, relative to the folder
    path: Path
    labels: frozenset[str]
    look: Look = field(compare=False, repr=False)  # for photos that look like it


@dataclass(frozen=True, slots=True)
class Sources:
    """``left_out``: how many photos of the table were not taken, by reason; ``problems``: what is
    wrong with them."""

    photos: tuple[Source, ...]
    left_out: dict[str, int] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)

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


def read_sources(folder: Path, *, strict: bool = False) -> Sources:
    """In order of their names. What is wrong with a row is named and the row left out, or
    (``strict``) ends the reading. Raises EvaluationError if the folder is none of this layout, or
    has too few photos."""
    problems = Problems(strict)
    left_out: Counter[str] = Counter()
    photos: dict[str, Source] = {}
    for row in read_table(folder / TABLE, _COLUMNS, problems):
        name, path = plain_name(row["file"]), folder / row["file"]
        if row["labels_complete"] != "1":
            left_out["labels not complete"] += 1
        elif name in photos:
            problems.add("duplicate-id", place_of(folder / TABLE, row), f"{name!r} stands twice")
        elif (fault := fault_of_photo(folder, name))[0]:
            problems.add(fault[0], place_of(folder / TABLE, row), fault[1])
        elif not _is_jpeg(path):
            left_out["no JPEG"] += 1
        elif (look := _look(path)) is None:
            problems.add("unreadable-image", name)
        else:
            labels = frozenset(filter(None, map(str.strip, row["labels"].lower().split("|"))))
            photos[name] = Source(name, path, labels, look)
    left_out.update({_FAULTS[kind]: num for kind, num in problems.counts.items()})
    if len(photos) < LEAST_SOURCES:
        raise EvaluationError(
            f"{folder} has {len(photos)} JPEG photos with complete labels ({dict(left_out)})",
            hint=f"a history needs at least {LEAST_SOURCES}",
        )
    chosen = tuple(photos[name] for name in sorted(photos))
    return Sources(chosen, dict(sorted(left_out.items())), problems)


def _is_jpeg(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_JPEG)) == _JPEG


def _look(path: Path) -> Look | None:
    """None of what cannot be decoded."""
    try:
        return look_of(path)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None

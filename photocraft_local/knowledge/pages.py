"""What reading one file gives: passages in order, and pictures with their captions.

Owns the limits of one file. Knows no format and no database.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from photocraft_local.records import Json

READER = 1  # raise it when readers give other passages: files are then read again

MAX_FILE_BYTES = {"pdf": 200 << 20, "mhtml": 100 << 20, "html": 20 << 20, "text": 5 << 20}
MAX_PASSAGES = 5_000
MAX_PICTURES = 300
MAX_PDF_PAGES = 1_000
LONGEST = 500  # characters of a passage; a longer one is cut between sentences
LONGEST_HEADING = 160
LONGEST_CAPTION = 400


@dataclass(frozen=True, slots=True)
class Passage:
    """One bullet point, paragraph or table row, or the caption of a picture."""

    text: str
    heading: str = ""
    place: str = ""  # "line 3", "page 2"; empty where the format has none
    picture: int | None = None  # index into the page's pictures


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture that can be decoded. ``path`` is the person's own file, or what was taken out
    of the page and waits to be stored (``is_original`` False)."""

    digest: str  # SHA-256 of the file's bytes, hex
    width: int
    height: int
    path: bytes
    is_original: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One file. ``left_out`` counts what of it is not here, by reason."""

    kind: str
    title: str
    passages: tuple[Passage, ...]
    pictures: tuple[PagePicture, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Json]:
        return {
            "kind": self.kind,
            "title": self.title,
            "passages": [[p.text, p.heading, p.place, p.picture] for p in self.passages],
            "pictures": [
                [p.digest, p.width, p.height, in_ascii(p.path), p.is_original]
                for p in self.pictures
            ],
            "left_out": dict(self.left_out),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Page:
        pictures = (
            PagePicture(digest, width, height, from_ascii(path), original)
            for digest, width, height, path, original in data["pictures"]
        )
        passages = tuple(Passage(*passage) for passage in data["passages"])
        return cls(data["kind"], data["title"], passages, tuple(pictures), data["left_out"])


def in_ascii(path: bytes) -> str:
    return base64.b64encode(path).decode("ascii")


def from_ascii(text: str) -> bytes:
    return base64.b64decode(text, validate=True)

"""A page while it is read: texts are cut to bullet points, pictures get their captions.

Holds the limits of pages.py, so that no reader needs to. Knows no format.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from photocraft_local.knowledge.pages import (
    LONGEST,
    LONGEST_CAPTION,
    LONGEST_HEADING,
    MAX_PASSAGES,
    MAX_PICTURES,
    Page,
    PagePicture,
    Passage,
)

_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？；])")
_FILE_NAME = re.compile(r"[\w()-]+\.(?:jpe?g|png|gif|webp|avif|heic|tiff?|bmp)", re.IGNORECASE)


class Pictures(Protocol):
    """Checks a picture and keeps what has no file of its own."""

    def take(self, picture: bytes | Path) -> PagePicture | str:
        """The picture, or the reason why it is left out."""
        ...


class Draft:
    """Passages in the order in which readers give them."""

    def __init__(self, kind: str, pictures: Pictures) -> None:
        self.kind, self.title = kind, ""
        self.left_out: Counter[str] = Counter()
        self._pictures = pictures
        self._passages: list[Passage] = []
        self._taken: dict[str, int] = {}  # digest → index
        self._kept: list[PagePicture] = []
        self._heading, self._heading_place, self._is_bare = "", "", False

    def heading(self, text: str, place: str = "") -> None:
        """What the next passages stand under."""
        self._keep_bare_heading()
        self._heading, self._heading_place = _clean(text, LONGEST_HEADING), place
        self._is_bare = bool(self._heading)

    def text(self, text: str, place: str = "") -> None:
        """A paragraph, bullet point or row of a table."""
        for part in _cut(" ".join(text.split())):
            self._add(Passage(part, self._heading, place))

    def picture(self, picture: bytes | Path, captions: list[str], place: str = "") -> None:
        """A picture with the first caption that says something."""
        if len(self._kept) >= MAX_PICTURES:
            self.left_out["pictures beyond the limit"] += 1
            return
        taken = self._pictures.take(picture)
        if isinstance(taken, str):
            self.left_out[taken] += 1
            return
        if taken.digest not in self._taken:
            self._taken[taken.digest] = len(self._kept)
            self._kept.append(taken)
        said = (_clean(caption, LONGEST_CAPTION) for caption in captions)
        caption = next((one for one in said if one and not _FILE_NAME.fullmatch(one)), "")
        at = self._taken[taken.digest]
        self._add(Passage(caption or self._heading or self.title, self._heading, place, at))

    def page(self) -> Page:
        self._keep_bare_heading()
        title = _clean(self.title, LONGEST_HEADING)
        left_out = dict(self.left_out)
        return Page(self.kind, title, tuple(self._passages), tuple(self._kept), left_out)

    def _add(self, passage: Passage) -> None:
        self._is_bare = False
        if len(self._passages) >= MAX_PASSAGES:
            self.left_out["passages beyond the limit"] += 1
        elif passage.text or passage.picture is not None:
            self._passages.append(passage)

    def _keep_bare_heading(self) -> None:
        """A heading without a text under it is a passage of its own."""
        if self._is_bare:
            self._add(Passage(self._heading, "", self._heading_place))


def _clean(text: str, longest: int) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"


def _cut(text: str) -> Iterator[str]:
    """Parts of at most LONGEST characters, between sentences where there are some."""
    part = ""
    for sentence in _SENTENCE_END.split(text) if len(text) > LONGEST else [text]:
        if part and len(part) + 1 + len(sentence) > LONGEST:
            yield part
            part = ""
        part = f"{part} {sentence}" if part else sentence
        while len(part) > LONGEST:
            at = part.rfind(" ", LONGEST // 2, LONGEST)
            at = LONGEST if at < 0 else at
            yield part[:at]
            part = part[at:].lstrip()
    if part:
        yield part

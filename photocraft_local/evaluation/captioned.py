"""A folder of photos with texts that describe them: the layouts that ``eval retrieval`` reads.

``captions`` reads the photos and their texts; ``queries.csv`` has other texts with their right
photos. docs/evaluation.md describes both. Knows no encoder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.captions import caption_lines
from photocraft_local.evaluation.pictures import fault_of_photo, plain_name
from photocraft_local.evaluation.problems import Problems, text_lines
from photocraft_local.evaluation.tables import Row, place_of, read_table

OBJECT = "object"  # queries of this kind are judged among the fully labelled photos only
CAPTION, ABSENT = "caption", "absent"


@dataclass(frozen=True, slots=True)
class CaptionedQuery:
    """``relevant``: files; empty: no photo shows it, and nothing should be returned."""

    id: str
    kind: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Captioned:
    """``complete``: those of ``files`` on which every object is labelled."""

    folder: Path
    files: tuple[str, ...]
    complete: frozenset[str]
    queries: tuple[CaptionedQuery, ...]
    problems: Problems = field(default_factory=Problems)


def read_captioned(
    folder: Path, negatives: Path | None = None, *, strict: bool = False
) -> Captioned:
    """``negatives``: a text file with one query a line that no photo answers; a line that is no
    UTF-8 stands in ``problems``, too.

    Raises EvaluationError for a folder of another layout, or one without a usable photo or query.
    What is wrong with single rows stands in ``problems`` (``strict``: it ends the reading); such a
    row is left out, and so is a query of which a right photo is missing."""
    reading = _Reading(folder, Problems(strict))
    reading.photos()
    if (folder / "queries.csv").exists():
        reading.queries()
    else:
        reading.captions()
    if negatives is not None:
        reading.negatives(negatives)
    if not reading.files or not reading.found:
        what = "query" if reading.files else "photo"
        num = reading.problems.counts.total()
        first = f", e.g. {reading.problems.named[0]}" if num else ""
        raise EvaluationError(
            f"{folder} has no {what} that can be used ({num} rows cannot{first})",
            hint="docs/evaluation.md describes the layout",
        )
    return Captioned(
        folder,
        tuple(reading.files),
        frozenset(reading.complete),
        tuple(reading.found),
        reading.problems,
    )


class _Reading:
    def __init__(self, folder: Path, problems: Problems) -> None:
        self.folder, self.problems = folder, problems
        self.files: list[str] = []
        self.complete: set[str] = set()
        self.texts: dict[str, tuple[str, list[str]]] = {}  # spelling → caption, its files
        self.found: list[CaptionedQuery] = []

    def photos(self) -> None:
        seen, faulty = set[str](), set[str]()
        for line in caption_lines(self.folder, self.problems):
            name = plain_name(line.file)
            if name not in seen:
                fault, why = fault_of_photo(self.folder, name)
                if fault:
                    if name not in faulty:  # once, however many captions it has
                        self.problems.add(fault, line.where, why)
                    faulty.add(name)
                    continue
                seen.add(name)
                self.files.append(name)
            elif not line.may_repeat:
                self.problems.add("duplicate-id", line.where, f"{name!r} stands twice")
                continue
            if line.is_complete:
                self.complete.add(name)
            for text in line.captions:
                self.texts.setdefault(_spelling(text), (text, []))[1].append(name)

    def captions(self) -> None:
        """Without queries each caption is one; its photos are right."""
        for number, (text, names) in enumerate(self.texts.values(), start=1):
            self.found.append(CaptionedQuery(str(number), CAPTION, text, frozenset(names)))

    def queries(self) -> None:
        path = self.folder / "queries.csv"
        known, seen = set(self.files), set[str]()
        for row in read_table(path, {"text", "relevant_files"}, self.problems):
            named = filter(None, map(str.strip, row["relevant_files"].split("|")))
            right = frozenset(map(plain_name, named))
            name = row.get("query_id") or row[""]
            if name in seen:
                self._wrong("duplicate-id", path, row, f"query {name!r} stands twice")
            elif not row["text"]:
                self._wrong("bad-line", path, row, f"query {name!r} has no text")
            elif right and row.get("kind") == ABSENT:
                what = f"query {name!r} is of the kind {ABSENT!r} and names photos"
                self._wrong("bad-line", path, row, what)
            elif absent := sorted(right - known):
                what = f"query {name!r} wants a photo that is not there: {absent[0]!r}"
                self._wrong("unknown-answer", path, row, what)
            else:
                seen.add(name)
                kind = row.get("kind") or CAPTION
                self.found.append(
                    CaptionedQuery(name, kind if right else ABSENT, row["text"], right)
                )

    def negatives(self, path: Path) -> None:
        if not path.is_file():
            raise EvaluationError(
                f"there is no file {str(path)!r} of queries without a right photo",
                hint="a text file in UTF-8, one query a line",
            )
        texts = dict.fromkeys(text for _, text in text_lines(path, self.problems))
        for number, text in enumerate(texts, start=1):
            query = CaptionedQuery(f"{path.name}:{number}", ABSENT, text, frozenset())
            self.found.append(query)

    def _wrong(self, kind: str, path: Path, row: Row, what: str) -> None:
        self.problems.add(kind, place_of(path, row), what)


def _spelling(text: str) -> str:
    """Captions of one spelling are one query: case, blanks and a full stop tell none apart."""
    return " ".join(text.casefold().split()).rstrip(". ")

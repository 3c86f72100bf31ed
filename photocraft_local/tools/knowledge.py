"""Search in the notes that a person put into the library's knowledge folder.

Plain Markdown and text files, cut into paragraphs and bullet points, ranked by BM25 over the
words they share with the query. It knows no synonyms and reads no other formats yet.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".md", ".markdown", ".txt")
MAX_FILE_BYTES = 2_000_000
MAX_FILES = 2_000

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # written without blanks: one character a word
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_K1, _B = 1.2, 0.75  # BM25's usual constants (Robertson and Zaragoza 2009)


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph or bullet point. ``source`` is the file's name inside the folder."""

    source: str
    line: int  # 1-based
    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """All passages of a folder, and the files that were left out with the reason."""

    passages: tuple[Passage, ...]
    num_files: int
    left_out: tuple[str, ...]


def read_notes(folder: Path, name_contains: str = "") -> Notes:
    """Read every note under ``folder`` (nothing if it does not exist); never follows links."""
    passages: list[Passage] = []
    left_out: list[str] = []
    wanted = name_contains.casefold()
    files = sorted(path for path in _files(folder) if wanted in path.name.casefold())
    for path in files[:MAX_FILES]:
        name = path.relative_to(folder).as_posix()
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                left_out.append(f"{name}: larger than {MAX_FILE_BYTES} bytes")
                continue
            text = path.read_text("utf-8", errors="replace")
        except OSError as exc:
            left_out.append(f"{name}: {exc.strerror}")
            continue
        passages += _cut(name, text)
    left_out += [f"{path.name}: more than {MAX_FILES} files" for path in files[MAX_FILES:]]
    return Notes(tuple(passages), min(len(files), MAX_FILES), tuple(left_out))


def best_passages(notes: Notes, query: str, *, most: int = 8) -> list[tuple[float, Passage]]:
    """(score, passage) of those that share a word with the query, best first."""
    bags = [Counter(_words(f"{p.source} {p.text}")) for p in notes.passages]
    if not bags:
        return []
    average = sum(bag.total() for bag in bags) / len(bags)
    terms = set(_words(query))
    weights = {term: _rarity(sum(term in bag for bag in bags), len(bags)) for term in terms}
    ranked = [
        (_bm25(bag, weights, average), passage)
        for bag, passage in zip(bags, notes.passages, strict=True)
    ]
    found = [entry for entry in ranked if entry[0] > 0]
    found.sort(key=lambda entry: (-entry[0], entry[1].source, entry[1].line))
    return found[:most]


def _files(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in folder.rglob("*"):
        if path.suffix.lower() in SUFFIXES and path.is_file() and not path.is_symlink():
            yield path


def _cut(name: str, text: str) -> Iterator[Passage]:
    """Blank lines, bullets and headings start a passage; a heading leads its first one."""
    block: list[str] = []
    start = 1
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        bullet = bool(_BULLET.match(line))
        if block and (not line.strip() or bullet) and not block[-1].startswith("#"):
            yield Passage(name, start, " ".join(block))
            block = []
        if line.strip():
            if not block:
                start = number
            block.append(_BULLET.sub("", line).strip())
    if block:
        yield Passage(name, start, " ".join(block))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _rarity(num_with: int, num_passages: int) -> float:
    return math.log(1 + (num_passages - num_with + 0.5) / (num_with + 0.5))


def _bm25(bag: Counter[str], weights: dict[str, float], average: float) -> float:
    length = 1 - _B + _B * bag.total() / average
    return sum(
        weight * bag[term] * (_K1 + 1) / (bag[term] + _K1 * length)
        for term, weight in weights.items()
        if bag[term]
    )

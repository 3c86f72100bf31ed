"""What is wrong with a data set: named one by one, counted by kind; the rest goes on, or stops.

Reads lines and JSON in the one way that both data sets share. Knows neither of them.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from photocraft_local.errors import EvaluationError
from photocraft_local.records import Json

KINDS = {
    "missing-file": "a file of the layout is not there",
    "empty-file": "a file without content",
    "too-large": "a table of more than 512 MiB; it is not read",
    "wrong-encoding": "text that is not UTF-8",
    "bad-line": "no JSON object with the fields of the layout",
    "bad-value": "a value that cannot be used; it counts as missing",
    "duplicate-id": "an id that stands twice; the first one counts",
    "outside-name": "a name or a link that leads out of the data set's folder; it is not read",
    "missing-image": "metadata or an answer of a photo without a picture",
    "unreadable-image": "a picture that cannot be decoded",
    "unknown-answer": "an answer names a photo that is not there; the question is left out",
    "missing-user": "a question to a library that is not there; it is left out",
}
_NAMED = 1000  # at most, of each kind
LARGEST = 512 << 20  # bytes of a table; 100,000 photos need some 30 MB
_LONGEST_NAME = 240  # bytes of a file's name with its ending; file systems take 255


@dataclass(frozen=True, slots=True)
class Problem:
    """``where``: file and line, or the id."""

    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.what}"


@dataclass(slots=True)
class Problems:
    """``strict``: the first one ends the reading, as EvaluationError. What is found again, in
    another pass over the same data, counts once."""

    strict: bool = False
    named: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)  # for reasons that are no fault
    _known: set[Problem] = field(default_factory=set, init=False, repr=False)

    def add(self, kind: str, where: object, what: object = "") -> None:
        problem = Problem(kind, str(where), str(what) or KINDS[kind])
        if self.strict:
            raise EvaluationError(
                f"bad data set: {problem}",
                hint="mend it, or leave --strict out: what is bad is skipped and counted then",
            )
        if problem in self._known:
            return
        self._known.add(problem)
        self.counts[kind] += 1
        if self.counts[kind] <= _NAMED:
            self.named.append(problem)

    def to_json(self) -> dict[str, Json]:
        return {
            "counts": dict(sorted(self.counts.items())),
            "named": [str(problem) for problem in self.named],
            "left_out": dict(sorted(self.left_out.items())),
        }


def rows(path: Path, problems: Problems) -> Iterator[tuple[str, dict[str, Any]]]:
    """(file and line, object) of each good line of a JSON-lines file; blank lines are none."""
    for where, text in text_lines(path, problems):
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as exc:
            problems.add("bad-line", where, exc)
            continue
        if isinstance(row, dict):
            yield where, row
        else:
            problems.add("bad-line", where)


def text_lines(path: Path, problems: Problems) -> Iterator[tuple[str, str]]:
    """(file and line, text) of each line in UTF-8 that is not blank."""
    content = content_of(path, problems)
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        where = f"{path.name} line {number}"
        try:
            text = raw.decode("utf-8").strip()
        except UnicodeDecodeError as exc:
            problems.add("wrong-encoding", where, exc.reason)
            continue
        if text:
            yield where, text


def document(path: Path, problems: Problems) -> Any:
    """The one JSON value of a file; None, and named, where there is none."""
    content = content_of(path, problems)
    if not content.strip():
        return None
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as exc:
        problems.add("wrong-encoding", path.name, exc.reason)
    except (ValueError, RecursionError) as exc:
        problems.add("bad-line", path.name, exc)
    return None


def content_of(path: Path, problems: Problems) -> bytes:
    """Empty, and named, where there is nothing to read: what is no regular file may never end."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            problems.add("missing-file", path.name, "it is a folder or no regular file")
            return b""
        if found.st_size > LARGEST:
            problems.add("too-large", path.name)
            return b""
        content = path.read_bytes()
    except OSError as exc:
        problems.add("missing-file", path.name, exc.strerror)
        return b""
    if not content.strip():
        problems.add("empty-file", path.name)
    return content


def is_plain_name(name: str) -> bool:
    """Whether an id can be a folder's or a file's name: it must not lead anywhere else."""
    try:
        length = len(os.fsencode(name))
    except UnicodeEncodeError:
        return False
    return (
        0 < length <= _LONGEST_NAME
        and name not in (".", "..")
        and not set(name) & {"/", "\\", "\0"}
    )

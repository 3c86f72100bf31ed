"""A data set's table in CSV: its rows with their line numbers, and what is wrong with it, named.

Knows no column's meaning.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from pathlib import Path

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.problems import Problems

Row = dict[str, str]


def columns_of(path: Path) -> list[str]:
    """The heads of the table. Raises EvaluationError."""
    _, heads = next(_lines(path), (1, []))
    return heads


def read_table(path: Path, needed: Collection[str], problems: Problems) -> Iterator[Row]:
    """The rows in UTF-8 that have as many cells as the table has columns; blanks at their ends are
    gone. Others go to ``problems``. The key ``""`` holds the line number.

    Raises EvaluationError for a table that cannot be read, is empty or lacks a column."""
    lines = _lines(path)
    _, head = next(lines, (1, []))
    if missing := sorted(set(needed) - set(head)):
        raise EvaluationError(
            f"{path} is empty" if not head else f"{path} has no column {', '.join(missing)}",
            hint=f"its first line names the columns: {', '.join(sorted(needed))}",
        )
    if repeated := sorted({name for name in head if head.count(name) > 1}):
        raise EvaluationError(
            f"{path} has two columns {', '.join(repeated)}", hint="give each column its own name"
        )
    for number, cells in lines:
        if not all(map(_is_text, cells)):
            problems.add("wrong-encoding", f"{path.name} line {number}")
        elif len(cells) == len(head):
            yield {**dict(zip(head, cells, strict=True)), "": str(number)}
        elif cells:
            what = f"{len(cells)} cells in a table of {len(head)} columns"
            problems.add("bad-line", f"{path.name} line {number}", what)


def place_of(path: Path, row: Row) -> str:
    """Where a row stands, in words."""
    return f"{path.name} line {row['']}"


def _is_text(cell: str) -> bool:
    """Bytes that are no UTF-8 were read as lone surrogates."""
    return not any("\udc80" <= character <= "\udcff" for character in cell)


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line that it begins on: a cell may hold line ends."""
    try:
        if path.exists() and not path.is_file():  # what is no regular file may never end
            raise IsADirectoryError("it is a folder or no regular file")
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            rows, begins = csv.reader(file, strict=True), 1
            for cells in rows:
                yield begins, [cell.strip() for cell in cells]
                begins = rows.line_num + 1
    except FileNotFoundError as exc:
        raise EvaluationError(f"there is no {path}", hint="name the data set's folder") from exc
    except (OSError, csv.Error) as exc:
        raise EvaluationError(
            f"{path} cannot be read: {exc}", hint="it has to be CSV in UTF-8"
        ) from exc

"""A run's folder → its report: JSON for scripts, an HTML file for people.

Never writes over a file that is no such report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation import targets
from photocraft_local.evaluation.reports.failures import Failure, worst
from photocraft_local.evaluation.reports.figures import figures
from photocraft_local.evaluation.reports.page import GENERATOR, page
from photocraft_local.evaluation.reports.thumbnails import Thumbnails
from photocraft_local.evaluation.results import RunFolder
from photocraft_local.records import Json
from photocraft_local.storage import atomic
from photocraft_local.storage.faults import mapped

MOST_FAILURES = 20
_START = 2048  # bytes in which the mark of ours stands


@dataclass(frozen=True, slots=True)
class Report:
    run: RunFolder
    figures: dict[str, Json]
    failures: list[Failure]

    def to_json(self) -> dict[str, Json]:
        return {
            "run": self.run.head,
            **self.figures,
            "failures": [failure.to_json() for failure in self.failures],
        }

    def html(self, photos: Path | None = None, known: Mapping[str, Path] | None = None) -> str:
        """``photos``: the folder with the data set's photos, ``known``: files by name; without them
        no picture is shown."""
        rows = self.run.sorted_rows()
        title = f"Evaluation: {self.run.path.resolve().name}"
        thumbnails = Thumbnails(photos, known)
        return page(title, self.run.head, self.figures, rows, self.failures, thumbnails)


def report(folder: Path, *, failures: int = MOST_FAILURES) -> Report:
    """Raises EvaluationError for a folder without a run, a damaged one, or one without a row."""
    run = RunFolder.load(folder)
    rows = run.sorted_rows()
    if not rows:
        raise EvaluationError(
            f"the run in {folder} has no result yet", hint="run the evaluation first"
        )
    return Report(run, figures(rows), worst(rows, folder, failures))


def write_html(path: Path, text: str) -> None:
    """Raises EvaluationError for a file of someone else, StorageFull or LibraryError."""
    check_target(path)
    with mapped(path):
        # A name that is no UTF-8 would be a lone surrogate; markup has written those out.
        atomic.write_atomically(path, text.encode("utf-8"))


def check_target(path: Path) -> None:
    """Raises EvaluationError as ``targets.check_target``."""
    targets.check_target(path, "report", _is_ours)


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return f'content="{GENERATOR}"'.encode() in file.read(_START)
    except OSError:
        return False

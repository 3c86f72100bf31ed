"""What is measured on files alone: an encoder on captioned photos, questions to real files.

Wires the parts; the figures are ``evaluation``'s.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from photocraft_local import __version__
from photocraft_local.app.photo_search import PhotoSearch
from photocraft_local.errors import AgentError, EvaluationError, SearchError, UsageError
from photocraft_local.evaluation import runner
from photocraft_local.evaluation.captioned import read_captioned
from photocraft_local.evaluation.questions import EvalQuestion, Reply, Status
from photocraft_local.evaluation.results import ResultRow, RunFolder
from photocraft_local.evaluation.retrieval_report import RetrievalReport, measure
from photocraft_local.library.progress import Progress, silent
from photocraft_local.settings import Settings

_ALBUM, _LIBRARY = "photos", "library"
TODAY = date(2026, 1, 1)  # the day on which the questions are asked, the same in each run


def measure_encoder(
    settings: Settings,
    folder: Path,
    negatives: Path | None = None,
    *,
    strict: bool = False,
    progress: Progress = silent,
) -> RetrievalReport:
    """Raises EvaluationError, EncoderError, MissingExtraError."""
    from photocraft_local.embeddings.registry import make_encoder

    data = read_captioned(folder, negatives, strict=strict)
    workers = settings.workers or len(os.sched_getaffinity(0))
    return measure(make_encoder(settings), data, workers=workers, progress=progress)


@dataclass(slots=True)
class FilesAnswerer:
    """Asks one library of real files; nothing is remembered from question to question."""

    settings: Settings
    _photos: PhotoSearch | None = field(default=None, init=False)

    def answer(self, question: EvalQuestion, trace: Path) -> Reply:
        photos = self._photos = self._photos or PhotoSearch(self.settings, today=TODAY)
        begun = time.monotonic()
        try:
            told = photos.ask(question.text)
        except (AgentError, SearchError, UsageError) as error:
            status: Status = "failed" if isinstance(error, AgentError) else "declined"
            return Reply(status=status, error=error.message)
        found = [os.fsdecode(one.photo.paths[0].rpartition(b"/")[2]) for one in told.photos]
        if told.trajectory is not None and told.trajectory.is_file():
            trace.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.move(told.trajectory, trace)
        usage = told.usage
        return Reply(
            predicted=tuple(found),
            text=told.text,
            reason=told.reason,
            turns=len(told.steps),
            finished_by_itself=not told.limit,
            tools=Counter(step.call.name for step in told.steps),
            has_trace=trace.is_file(),
            prompt_tokens=usage.prompt if usage else 0,
            cached_tokens=usage.cached if usage else 0,
            generated_tokens=usage.generated if usage else 0,
            seconds=round(time.monotonic() - begun, 3),
        )

    def close(self) -> None:
        if self._photos is not None:
            self._photos.close()


def ask_files(
    settings: Settings,
    files: Mapping[str, Path],
    questions: Sequence[EvalQuestion],
    out: Path,
    on_row: Callable[[ResultRow], None] = lambda row: None,
) -> RunFolder:
    """Copies the files (base name → path) into ``out``, indexes them there and asks; a run that was
    cut goes on. Raises EvaluationError for a folder of another run, and what indexing raises."""
    if not questions:
        raise EvaluationError("there is no question to ask", hint="--questions FILE.csv gives some")
    album = out / _ALBUM
    mark = hashlib.sha256(repr([(q.id, q.text, q.gold_text) for q in questions]).encode())
    for name, path in sorted(files.items()):
        mark.update(name.encode("utf-8", "surrogatepass") + path.read_bytes())
    chosen = replace(settings, library=out / _LIBRARY, memory=False)
    identity = {
        "dataset": "files",
        "fingerprint": mark.hexdigest()[:16],
        "backbone": chosen.backbone,
        "encoder": chosen.encoder,
    }
    run = RunFolder.begin(out, identity, {"version": __version__, "photos": len(files)})
    album.mkdir(exist_ok=True, mode=0o700)
    for name, path in files.items():
        shutil.copyfile(path, album / name)
    with closing(PhotoSearch(chosen, today=TODAY)) as photos:
        photos.index(album)
    runner.run(questions, lambda: FilesAnswerer(chosen), run, on_row=on_row)
    return run

"""What is measured on files alone: an encoder on captioned photos, questions to real files.

Wires the parts; the figures are ``evaluation``'s.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

from photocraft_local.app.albums import as_read, canonical, shelf_of
from photocraft_local.app.benchmarking import (
    Listeners,
    Options,
    about_of,
    checked,
    identity_of,
    put,
)
from photocraft_local.app.photo_search import PhotoSearch
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.captioned import read_captioned
from photocraft_local.evaluation.dataset import Album, Dataset
from photocraft_local.evaluation.pictures import leads_out, real
from photocraft_local.evaluation.questions import EvalQuestion, mark_of
from photocraft_local.evaluation.results import RunFolder
from photocraft_local.evaluation.retrieval import KS
from photocraft_local.evaluation.retrieval_report import RetrievalReport, measure
from photocraft_local.evaluation.text_questions import LIBRARY
from photocraft_local.library.progress import Progress, silent
from photocraft_local.settings import Settings
from photocraft_local.storage.faults import mapped

_ALBUM, _LIBRARY = "photos", "library"
TODAY = date(2026, 1, 1)  # the day on which the questions are asked, the same in each run
FILES = Options(track="open", on_doubt="abstain")


def measure_encoder(
    settings: Settings,
    folder: Path,
    negatives: Path | None = None,
    *,
    strict: bool = False,
    progress: Progress = silent,
    ks: tuple[int, ...] = KS,
) -> RetrievalReport:
    """At the cut-off of the settings. Raises EvaluationError, EncoderError, MissingExtraError."""
    from photocraft_local.embeddings.registry import make_encoder

    data = read_captioned(folder, negatives, strict=strict)
    workers = settings.workers or len(os.sched_getaffinity(0))
    return measure(
        make_encoder(settings),
        data,
        workers=workers,
        progress=progress,
        shift=settings.cutoff_shift,
        ks=ks,
    )


def ask_files(
    settings: Settings,
    files: Mapping[str, Path],
    questions: Sequence[EvalQuestion],
    out: Path,
    listeners: Listeners | None = None,
    options: Options = FILES,
) -> RunFolder:
    """Copies the files (name, which may have folders → path) into ``out``, indexes them there and
    asks; a run that was cut goes on. Raises EvaluationError for a folder of another run and for a
    name that leads out of its folder, and what indexing and the backbone raise."""
    if not questions:
        raise EvaluationError("there is no question to ask", hint="--questions FILE.csv gives some")
    if outside := sorted(filter(leads_out, files)):
        raise EvaluationError(
            f"the file {outside[0]!r} would lead out of the run's folder",
            hint="name files relative to their folder",
        )
    folder = real(out / _ALBUM)
    mark = hashlib.sha256(mark_of(questions).encode())
    for name, path in sorted(files.items()):
        with mapped(path):
            content = hashlib.sha256(path.read_bytes()).digest()
        mark.update(name.encode("utf-8", "surrogatepass") + b"\0" + content)
    pictures = {name: folder / name for name in sorted(files)}
    album = Album(LIBRARY, folder, pictures, {}, mark.hexdigest()[:16], TODAY)
    dataset = Dataset(LIBRARY, folder, list(questions), {LIBRARY: album}, album.fingerprint)
    chosen = checked(replace(settings, library=out / _LIBRARY, memory=False), options)
    run = RunFolder.begin(out, identity_of(dataset, chosen, options), about_of(dataset))
    _copy(files, folder)
    with closing(PhotoSearch(chosen, today=TODAY)) as photos:
        photos.index(folder)
        found = tuple(photos.list())
    shelf = shelf_of(replace(album, given=as_read(found)), chosen.library, found)
    dataset.questions = [canonical(one, shelf.same) for one in dataset.questions]
    put(dataset, {LIBRARY: shelf}, chosen, options, run, listeners)
    return run


def _copy(files: Mapping[str, Path], folder: Path) -> None:
    with mapped(folder):
        folder.mkdir(exist_ok=True, mode=0o700)
        for name, path in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copyfile(path, target)

"""A person's own questions with their answers, put to the person's own library.

Nothing of it changes: each question meets no episode and no skill of the person, and what it
teaches stays in the run's folder. Photos are named by UID.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.albums import Shelf, as_read
from photocraft_local.app.benchmarking import (
    Listeners,
    Options,
    about_of,
    checked,
    identity_of,
    put,
)
from photocraft_local.app.parts import Parts
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation import synthesis
from photocraft_local.evaluation.dataset import Album, Dataset
from photocraft_local.evaluation.pictures import joined
from photocraft_local.evaluation.plain_layout import read_questions
from photocraft_local.evaluation.problems import Problems
from photocraft_local.evaluation.questions import mark_of
from photocraft_local.evaluation.results import ResultRow, RunFolder
from photocraft_local.library.folder import DATABASE
from photocraft_local.library.library import Library
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.evaluation.questions import EvalQuestion
    from photocraft_local.records import Photo

LIBRARY = "own"


def own_questions(settings: Settings, source: Path, *, strict: bool = False) -> Dataset:
    """``source``: the folder of ``eval synthesize`` or its proposals, of which the accepted ones
    count; or any file of questions with ``id``, ``question`` and ``gold``, a list of UIDs.

    Raises EvaluationError where there is none, and what the library raises."""
    parts, problems = Parts(settings), Problems(strict)
    try:
        photos = list(parts.library().photos())
        generation = parts.library().generation()
    finally:
        parts.close()
    known = {photo.uid for photo in photos}
    questions = list(_read(source, known, problems))
    if not questions:
        named = "; ".join(map(str, problems.named[:3]))
        raise EvaluationError(
            f"{source} holds no question that can be asked{': ' if named else ''}{named}",
            hint="accept some of the proposals: photocraft eval synthesize FOLDER --review",
        )
    pictures = {photo.uid: Path(os.fsdecode(photo.paths[0])) for photo in photos if photo.paths}
    mark = joined([str(generation), mark_of(questions), *sorted(known)])
    album = Album(LIBRARY, settings.library, pictures, as_read(photos), mark, _today(photos))
    return Dataset(LIBRARY, source, questions, {LIBRARY: album}, mark, problems)


def ask_own(
    dataset: Dataset,
    settings: Settings,
    options: Options,
    out: Path,
    listeners: Listeners | None = None,
) -> tuple[RunFolder, list[ResultRow]]:
    """Raises as ``evaluate``; EvaluationError, too, for a run of a library that has changed."""
    chosen = checked(settings, options)
    folder = RunFolder.begin(out, identity_of(dataset, chosen, options), about_of(dataset))
    album = dataset.albums[LIBRARY]
    uids = {uid: uid for uid in album.pictures}
    shelf = Shelf(album, settings.library, uids, uids)
    return folder, put(dataset, {LIBRARY: shelf}, chosen, options, folder, listeners)


def _read(source: Path, known: set[str], problems: Problems) -> Iterator[EvalQuestion]:
    folder = source.parent if source.name == synthesis.PROPOSALS else source
    if folder.is_dir():
        found = synthesis.accepted(folder, known, problems)
        yield from (one.eval_question(LIBRARY) for one in found)
    elif source.is_file():
        yield from read_questions(source, known, problems, LIBRARY)
    else:
        raise EvaluationError(
            f"{source} is not there", hint="photocraft eval synthesize FOLDER proposes questions"
        )


def _today(photos: list[Photo]) -> date:
    """The newest photo's day, so that the run can go on tomorrow; a clock ahead of us is wrong."""
    days = [photo.taken.local.date() for photo in photos if photo.taken]
    return max((day for day in days if day <= date.today()), default=date.today())


def pictures_of_library(folder: Path | None) -> dict[str, Path]:
    """UID → file, of a folder that is a library; empty for any other."""
    if folder is None or not (folder / DATABASE).is_file():
        return {}
    with Library.open(folder, settings=replace(Settings(), library=folder)) as library:
        return {
            photo.uid: Path(os.fsdecode(photo.paths[0]))
            for photo in library.photos()
            if photo.paths
        }

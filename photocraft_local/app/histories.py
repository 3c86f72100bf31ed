"""Made-up histories, indexed and asked: by the chosen backbone, and by agents to compare with.

In these libraries each picture is encoded once for all files that show it bit for bit
(``OncePerPicture``), and the oracle's library is searched by true labels; ``run.json`` says so.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.albums import Shelf, as_read, name_places
from photocraft_local.app.benchmarking import (
    Listeners,
    Options,
    about_of,
    checked,
    identity_of,
    put,
)
from photocraft_local.app.parts import Parts
from photocraft_local.app.photo_search import PhotoSearch
from photocraft_local.errors import UsageError
from photocraft_local.evaluation import runner
from photocraft_local.evaluation.dataset import Album, Dataset
from photocraft_local.evaluation.histories.eyes import (
    TRUE_SIDE,
    OncePerPicture,
    TrueEyes,
    pixels_key,
)
from photocraft_local.evaluation.histories.history import PHOTOS, History
from photocraft_local.evaluation.histories.life import TODAY
from photocraft_local.evaluation.histories.oracle import Oracle
from photocraft_local.evaluation.histories.seeing import GAP_HOURS, GAP_KM
from photocraft_local.evaluation.pictures import real
from photocraft_local.evaluation.questions import EvalQuestion, Reply
from photocraft_local.evaluation.results import ResultRow, RunFolder
from photocraft_local.library.given import Given
from photocraft_local.records import Json
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.embeddings.encoder import Encoder
    from photocraft_local.library.progress import Progress
    from photocraft_local.serving.chat_model import ChatModel

AGENTS = ("backbone", "true-eyes", "oracle", "random", "empty")
_EYES = {"backbone": "once", "true-eyes": "eyes", "oracle": "eyes"}  # the encoder of each


def checked_agents(names: Sequence[str]) -> list[str]:
    """Raises UsageError for what is none."""
    wanted = [name.strip() for name in names if name.strip()]
    if not wanted or (unknown := sorted(set(wanted) - set(AGENTS))):
        what = ", ".join(unknown) if wanted else "nothing"
        raise UsageError(f"{what} is no agent", hint=f"known: {', '.join(AGENTS)}")
    return list(dict.fromkeys(wanted))


class HistorySearch(PhotoSearch):
    """``PhotoSearch`` with an encoder of its own, on the day of the questions."""

    def __init__(self, settings: Settings, encoder: Encoder, today: date = TODAY) -> None:
        super().__init__(settings, today=today)
        self._parts = Parts(settings, encoder=encoder)

    @property
    def parts(self) -> Parts:
        return self._parts


@dataclass(slots=True)
class Indexed:
    """A history on disk with its library. ``names``: UID → the photo's name in the history;
    ``given``: what its library read in each file."""

    history: History
    folder: Path
    settings: Settings
    once: OncePerPicture
    eyes: TrueEyes
    seconds: float = 0.0
    names: Mapping[str, str] = field(default_factory=dict)
    given: Given = field(default_factory=dict)

    def opened(self, encoder: Encoder) -> HistorySearch:
        return HistorySearch(self.settings, encoder)

    def dataset(self) -> Dataset:
        history, person = self.history, self.history.person
        pictures = {name: self.folder / PHOTOS / name for name in sorted(self.names.values())}
        mark = history.fingerprint()
        album = Album(
            history.name, self.folder / PHOTOS, pictures, self.given, mark,
            person.today, person.places,
        )  # fmt: skip
        questions = history.eval_questions()
        return Dataset(history.name, self.folder, questions, {history.name: album}, mark)


def indexed(
    history: History,
    folder: Path,
    settings: Settings,
    *,
    true_eyes: bool = True,
    once: OncePerPicture | None = None,
    progress: Progress | None = None,
) -> Indexed:
    """Writes the history if ``folder`` is empty or not there, and its library into
    ``folder/library``. ``true_eyes``: also the vectors of true labels. ``once``: an encoder of
    another history of the same sources, which knows their pictures already.

    Raises EvaluationError for a folder that holds another history."""
    from photocraft_local.embeddings.registry import make_encoder

    folder = real(folder)
    history.write(folder)
    own = replace(
        settings,
        library=folder / "library",
        memory=False,
        event_gap_hours=GAP_HOURS,  # as its questions mean events
        event_gap_km=GAP_KM,
    )
    once = once or OncePerPicture(make_encoder(settings), settings.cache)
    made = Indexed(history, folder, own, once, _true_eyes(history, folder))
    began = time.monotonic()
    for encoder in (once, made.eyes) if true_eyes else (once,):
        photos = made.opened(encoder)
        with photos:
            photos.index(folder / PHOTOS, progress=progress)
            name_places(photos.parts, history.person.places)
            made.names = _names(photos, folder / PHOTOS)
            made.given = as_read(photos.list())
        if encoder is once:
            made.seconds = time.monotonic() - began
    return made


def run(
    made: Indexed,
    agent: str,
    out: Path,
    *,
    concurrency: int = 1,
    on_row: Callable[[ResultRow], None] | None = None,
    options: Options | None = None,
) -> tuple[RunFolder, list[ResultRow]]:
    """Puts the history's questions to an agent, one of ``AGENTS``; goes on with what ``out`` holds.
    Rows, timings and trajectories are those of any data set. ``options``: how a backbone is asked;
    histories have an open track, and questions that no photo answers."""
    dataset, lots = made.dataset(), _lots(made, agent)
    options = replace(
        options or Options(on_doubt="abstain"),
        track="open",
        concurrency=concurrency,
        model=_oracle(made) if agent == "oracle" else None,
        encoder=None if lots else getattr(made, _EYES[agent]),
    )
    settings = made.settings if lots else checked(made.settings, options)
    identity = _identity(identity_of(dataset, settings, options), agent)
    folder = RunFolder.begin(out, identity, {**about_of(dataset), **_about(made)})
    told = Listeners(on_row=on_row or (lambda row: None))
    if lots:
        rows = runner.run(
            dataset.questions, lambda: lots, folder, concurrency=concurrency, on_row=told.on_row
        )
        return folder, rows
    path, same = made.settings.library, {name: name for name in made.names.values()}
    shelf = Shelf(dataset.albums[made.history.name], path, made.names, same)
    return folder, put(dataset, {made.history.name: shelf}, settings, options, folder, told)


def _identity(of_any: Mapping[str, Json], agent: str) -> dict[str, Json]:
    found = {**of_any, "agent": agent}
    if agent not in ("backbone", "true-eyes"):
        found["backbone"] = agent
    if agent != "backbone":
        found["settings"] = {**found["settings"], "encoder": "true-labels"}
    return found


def _about(made: Indexed) -> dict[str, Json]:
    return {
        "dials": made.history.dials.to_json(),
        "vectors": "each picture encoded once for all files that show it bit for bit, and kept",
        "encoded": made.once.num_encoded,
        "given": made.once.num_given,
    }


def _lots(made: Indexed, agent: str) -> AtRandom | None:
    """Of an agent that looks at nothing."""
    if agent == "random":
        return AtRandom(sorted(made.names.values()), made.history.dials.seed)
    return AtRandom((), 0) if agent == "empty" else None


def _oracle(made: Indexed) -> Callable[[], ChatModel]:
    rules = {one.text: one.rule for one in made.history.drawn}
    counts = frozenset(one.text for one in made.history.drawn if one.counts)
    return lambda: Oracle(rules, counts)


class AtRandom:
    """Up to eight photos by lot, the same for the same question; of no photos, the empty set."""

    def __init__(self, names: Sequence[str], seed: int) -> None:
        self._names, self._seed = names, seed

    def answer(self, question: EvalQuestion, trace: Path) -> Reply:
        lot = random.Random(f"{self._seed} {question.id}")
        number = min(lot.randint(0, 8), len(self._names))
        return Reply(predicted=tuple(lot.sample(self._names, number)))

    def close(self) -> None:
        pass


def _true_eyes(history: History, folder: Path) -> TrueEyes:
    """Knows the pictures of the history by their pixels, decoded as the library decodes them."""
    from photocraft_local.files.decode import decode_upright

    shown = {(shot.frame.source, shot.frame.variant): shot for shot in history.life}
    labels_of = {}
    for shot in shown.values():
        path = os.fsencode(folder / PHOTOS / shot.name)
        pixels = decode_upright(path, short_side=TRUE_SIDE).pixels
        labels_of[pixels_key(pixels)] = shot.frame.labels
    return TrueEyes(history.sources.labels, labels_of)


def _names(photos: PhotoSearch, root: Path) -> dict[str, str]:
    return {
        photo.uid: Path(os.fsdecode(photo.paths[0])).relative_to(root).as_posix()
        for photo in photos.list()
    }

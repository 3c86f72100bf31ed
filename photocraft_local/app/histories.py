"""Made-up histories, indexed and asked: by the chosen backbone, and by agents to compare with.

In these libraries each picture is encoded once for all files that show it bit for bit
(``OncePerPicture``), and the oracle's library is searched by true labels; ``run.json`` says so.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.backbones import chosen
from photocraft_local.app.episodes import Eyes, agent_of
from photocraft_local.app.parts import Parts
from photocraft_local.app.photo_search import PhotoSearch
from photocraft_local.errors import (
    PhotocraftError,
    QuestionNotUnderstood,
    SearchError,
    ServerLost,
    UsageError,
)
from photocraft_local.evaluation import runner
from photocraft_local.evaluation.histories.eyes import (
    TRUE_SIDE,
    OncePerPicture,
    TrueEyes,
    pixels_key,
)
from photocraft_local.evaluation.histories.history import HEAD, PHOTOS, History
from photocraft_local.evaluation.histories.life import TODAY
from photocraft_local.evaluation.histories.oracle import Oracle
from photocraft_local.evaluation.histories.world import HOME, HOME_SPOT, NAMED_KM, WORK_SPOT
from photocraft_local.evaluation.questions import Answerer, EvalQuestion, Reply, Status
from photocraft_local.evaluation.results import ResultRow, RunFolder
from photocraft_local.records import Json
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.app.results import AskAnswer
    from photocraft_local.embeddings.encoder import Encoder
    from photocraft_local.library.progress import Progress

AGENTS = ("backbone", "true-eyes", "oracle", "random", "empty")
_NAMED = {"home": HOME.spots[HOME_SPOT], "work": HOME.spots[WORK_SPOT]}


def checked_agents(names: Sequence[str]) -> list[str]:
    """Raises UsageError for what is none."""
    wanted = [name.strip() for name in names if name.strip()]
    if not wanted or (unknown := sorted(set(wanted) - set(AGENTS))):
        what = ", ".join(unknown) if wanted else "nothing"
        raise UsageError(f"{what} is no agent", hint=f"known: {', '.join(AGENTS)}")
    return list(dict.fromkeys(wanted))


class _PartsWith(Parts):
    """With an encoder that no setting names."""

    def __init__(self, settings: Settings, encoder: Encoder) -> None:
        super().__init__(settings)
        self._encoder = encoder


class HistorySearch(PhotoSearch):
    """``PhotoSearch`` with an encoder of its own, on the day of the questions."""

    def __init__(self, settings: Settings, encoder: Encoder, today: date = TODAY) -> None:
        super().__init__(settings, today=today)
        self._parts = _PartsWith(settings, encoder)

    @property
    def parts(self) -> Parts:
        return self._parts


@dataclass(slots=True)
class Indexed:
    """A history on disk with its library. ``names``: UID → the photo's name in the history."""

    history: History
    folder: Path
    settings: Settings
    once: OncePerPicture
    eyes: TrueEyes
    seconds: float = 0.0
    names: Mapping[str, str] = field(default_factory=dict)

    def opened(self, encoder: Encoder) -> HistorySearch:
        return HistorySearch(self.settings, encoder)


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

    if (folder / HEAD).is_file():
        history.check_same(folder)
    else:
        history.write(folder)
    own = replace(settings, library=folder / "library", memory=False)
    once = once or OncePerPicture(make_encoder(settings))
    made = Indexed(history, folder, own, once, _true_eyes(history, folder))
    began = time.monotonic()
    for encoder in (once, made.eyes) if true_eyes else (once,):
        with made.opened(encoder) as photos:
            photos.index(folder / PHOTOS, progress=progress)
            known = {place.name for place in photos.places.list()}
            for name, point in _NAMED.items() if not known else ():
                photos.places.add(name, at=point, radius_km=NAMED_KM)
            made.names = _names(photos, folder / PHOTOS)
        if encoder is once:
            made.seconds = time.monotonic() - began
    return made


def answerer_of(made: Indexed, agent: str) -> Callable[[], Answerer]:
    """``agent`` is one of ``AGENTS``."""
    rules = {one.text: one.rule for one in made.history.drawn}
    counts = frozenset(one.text for one in made.history.drawn if one.counts)
    kinds: dict[str, Callable[[], Answerer]] = {
        "backbone": lambda: Asking(made.opened(made.once), made.names),
        "true-eyes": lambda: Asking(made.opened(made.eyes), made.names),
        "oracle": lambda: Asking(made.opened(made.eyes), made.names, Oracle(rules, counts)),
        "random": lambda: AtRandom(sorted(made.names.values()), made.history.dials.seed),
        "empty": lambda: AtRandom((), 0),
    }
    return kinds[agent]


def run(
    made: Indexed,
    agent: str,
    out: Path,
    *,
    concurrency: int = 1,
    on_row: Callable[[ResultRow], None] | None = None,
) -> tuple[RunFolder, list[ResultRow]]:
    """Puts the history's questions to an agent; goes on with what ``out`` holds."""
    identity: dict[str, Json] = {
        "dataset": made.history.name,
        "fingerprint": made.history.fingerprint(),
        "agent": agent,
        "backbone": chosen(made.settings) if agent in ("backbone", "true-eyes") else agent,
        "encoder": made.settings.encoder if agent == "backbone" else "true-labels",
    }
    about: dict[str, Json] = {
        "dials": made.history.dials.to_json(),
        "vectors": "each picture encoded once for all files that show it bit for bit",
        "encoded": made.once.num_encoded,
        "given": made.once.num_given,
        "cores": len(os.sched_getaffinity(0)),
    }
    folder = RunFolder.begin(out, identity, about)
    rows = runner.run(
        made.history.eval_questions(),
        answerer_of(made, agent),
        folder,
        concurrency=concurrency,
        on_row=on_row,
    )
    return folder, rows


class Asking:
    """Through ``PhotoSearch.ask``; with ``model`` through the same loop and tools."""

    def __init__(
        self, photos: HistorySearch, names: Mapping[str, str], model: Oracle | None = None
    ) -> None:
        self._photos, self._names, self._model = photos, names, model

    def answer(self, question: EvalQuestion, trace: Path) -> Reply:
        began = time.monotonic()
        try:
            reply = self._scripted(question) if self._model else self._asked(question)
        except ServerLost:
            raise
        except PhotocraftError as error:
            declined = isinstance(error, QuestionNotUnderstood | SearchError | UsageError)
            status: Status = "declined" if declined else "failed"
            reply = Reply(status=status, error=error.message, finished_by_itself=declined)
        return replace(reply, seconds=round(time.monotonic() - began, 4))

    def close(self) -> None:
        self._photos.close()

    def _asked(self, question: EvalQuestion) -> Reply:
        told: AskAnswer = self._photos.ask(question.text)
        usage = told.usage
        return Reply(
            predicted=self._named([found.photo.uid for found in told.photos]),
            text=told.text,
            reason=told.reason,
            status="cut" if told.limit and not told.photos else "answered",
            turns=len(told.steps),
            finished_by_itself=not told.limit,
            tools=Counter(step.call.name for step in told.steps),
            prompt_tokens=usage.prompt if usage else 0,
            cached_tokens=usage.cached if usage else 0,
            generated_tokens=usage.generated if usage else 0,
        )

    def _scripted(self, question: EvalQuestion) -> Reply:
        from photocraft_local.agent.planner.planner import Asked
        from photocraft_local.app.memories import memory_of

        assert self._model is not None
        parts = self._photos.parts
        given = Asked(question.text, self._photos.today, (), "", parts.habits)
        steps: list[str] = []
        agent = agent_of(
            parts,
            self._model,
            memory_of(parts),
            given,
            lambda step: steps.append(step.call.name),
            Eyes(parts.settings),
        )
        answer = agent.ask(question.text)
        return Reply(
            predicted=self._named(answer.uids),
            text=answer.text,
            reason=answer.reason,
            turns=len(steps),
            tools=Counter(steps),
        )

    def _named(self, uids: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._names[uid] for uid in uids)


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

"""A data set from its folder to a finished run: libraries, backbone, threads, results.

The one way for every data set; which one it is, its loader knows.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from photocraft_local import __version__
from photocraft_local.app.albums import Shelf, shelves
from photocraft_local.app.at_once import Turns, takes_many
from photocraft_local.app.backbones import chosen, make_backbone
from photocraft_local.app.evaluating import How, LibraryAnswerer, SharedBackbone
from photocraft_local.errors import EvaluationError, UsageError
from photocraft_local.evaluation import runner
from photocraft_local.evaluation.disbench.presets import PRESETS
from photocraft_local.evaluation.results import ResultRow, RunFolder
from photocraft_local.records import Json

if TYPE_CHECKING:
    from photocraft_local.app.backbones import Backbone
    from photocraft_local.embeddings.encoder import Encoder
    from photocraft_local.evaluation.dataset import Dataset
    from photocraft_local.serving.chat_model import ChatModel
    from photocraft_local.settings import Settings

# Settings that change no answer, or are set for each question.
_NOT_IDENTITY = {"library", "cache", "memory_folder", "lock_wait_seconds", "workers", "batch_size",
                 "server_port", "server_start_seconds", "vector_key_file"}  # fmt: skip


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Options:
    """``libraries``: where the users' libraries are kept; ``skills``: the folder of an earlier
    run. ``model`` takes the backbone's place for each thread, e.g. a scripted one, ``encoder`` that
    of the settings. ``without``: tools of the preset that are left out."""

    preset: str = "photocraft"
    track: Literal["standard", "open"] = "standard"
    on_doubt: Literal["guess", "abstain"] = "guess"
    concurrency: int = 1
    libraries: Path | None = None
    skills: Path | None = None
    top_k: int = 0
    retry_failed: bool = False
    model: Callable[[], ChatModel] | None = None
    encoder: Encoder | None = None
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listeners:
    on_album: Callable[[str, int], None] = _nothing
    on_row: Callable[[ResultRow], None] = _nothing
    on_stage: Callable[[str], None] = _nothing


def evaluate(
    dataset: Dataset,
    settings: Settings,
    options: Options,
    out: Path,
    listeners: Listeners | None = None,
) -> tuple[RunFolder, list[ResultRow]]:
    """Indexes what is not indexed, asks what is not answered in ``out``, gives all rows.

    Raises UsageError for options that contradict each other, EvaluationError for a folder of
    another run and where no question's photos can be decoded, and what indexing and the backbone
    raise; what was answered stays."""
    told = listeners or Listeners()
    settings = checked(settings, options)
    root = options.libraries or settings.cache / "evaluation" / dataset.name
    made = shelves(
        dataset,
        settings,
        root,
        standard=options.track == "standard",
        on_album=told.on_album,
    )
    if not dataset.questions:
        faults = "; ".join(map(str, dataset.problems.named[-3:]))
        raise EvaluationError(
            f"no question of {dataset.folder} can be asked: {faults}",
            hint="check the pictures that are named",
        )
    folder = RunFolder.begin(out, identity_of(dataset, settings, options), about_of(dataset))
    return folder, put(dataset, made, settings, options, folder, told)


def checked(settings: Settings, options: Options) -> Settings:
    """The settings as the preset has them. Raises UsageError, EvaluationError as ``evaluate``."""
    settings = replace(settings, **PRESETS[options.preset].settings)
    _check(options, settings)
    return settings


def put(
    dataset: Dataset,
    made: Mapping[str, Shelf],
    settings: Settings,
    options: Options,
    folder: RunFolder,
    listeners: Listeners | None = None,
) -> list[ResultRow]:
    """Puts the questions to libraries that are there, but those that ``folder`` has a row of.
    Raises as ``evaluate``."""
    told = listeners or Listeners()
    dataset.questions.sort(key=lambda one: one.key)  # a thread opens each library once
    with ExitStack() as stack:
        backbone, turns = _opened(stack, options, settings, told.on_stage)
        preset = PRESETS[options.preset].lacking(options.without)
        learns = (
            folder.path if preset.keeps_memory and settings.memory and settings.skills else None
        )
        how = How(preset, options.on_doubt == "guess", options.skills, learns, options.top_k)

        def make() -> LibraryAnswerer:
            model = options.model() if options.model else None
            return LibraryAnswerer(made, settings, how, backbone, turns, model, options.encoder)

        return runner.run(
            dataset.questions,
            make,
            folder,
            concurrency=options.concurrency,
            on_row=told.on_row,
            again=lambda row: options.retry_failed and row.status == "failed",
            cancel=turns.stop if turns else lambda: None,
        )


def _check(options: Options, settings: Settings) -> None:
    preset = PRESETS[options.preset]
    rules = options.model is None and chosen(settings) == "planner"
    if preset.needs_model and rules:
        raise UsageError(
            f"the preset {preset.name} is driven by a model, and the backbone is the planner",
            hint="give --weights or --backbone-url, or use --preset photocraft or embedding-only",
        )
    if options.skills is not None and not (options.skills / "run.json").is_file():
        raise EvaluationError(
            f"{options.skills} is no folder of a run", hint="name the --out of an earlier run"
        )


def _opened(
    stack: ExitStack, options: Options, settings: Settings, on_stage: Callable[[str], None]
) -> tuple[Backbone | None, Turns | None]:
    """One model for all threads, which take turns but while it is waited for."""
    by_rules = options.model is not None or chosen(settings) == "planner"
    if by_rules or options.preset == "embedding-only":
        return None, None
    backbone = make_backbone(settings)
    stack.callback(backbone.close)
    brain = backbone.brain(on_stage)
    if options.concurrency > 1 and not takes_many(brain):
        raise UsageError(
            "this backbone answers one prompt at a time", hint="leave --concurrency out"
        )
    return SharedBackbone(brain), Turns() if options.concurrency > 1 else None


def identity_of(dataset: Dataset, settings: Settings, options: Options) -> dict[str, Json]:
    """What has to be the same for a run to go on."""
    kept = {
        name: str(value) for name, value in asdict(settings).items() if name not in _NOT_IDENTITY
    }
    keys = sorted(one.key for one in dataset.questions)
    asked = hashlib.sha256(json.dumps(keys).encode()).hexdigest()[:16]
    return {
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "questions": asked,
        "preset": options.preset,
        "track": options.track,
        "on_doubt": options.on_doubt,
        "top_k": options.top_k,
        "skills": str(options.skills or ""),
        "without": sorted(options.without),
        "backbone": "given" if options.model else chosen(settings),
        "settings": kept,
    }


def about_of(dataset: Dataset) -> dict[str, Json]:
    hardware: Mapping[str, Json] = {
        "machine": platform.machine(),
        "system": platform.platform(),
        "cores": len(os.sched_getaffinity(0)),
    }
    return {
        "version": __version__,
        "python": platform.python_version(),
        "hardware": dict(hardware),
        "problems": dataset.problems.to_json(),
        "albums": {
            name: {"photos": len(album.pictures), "with_metadata": len(album.given)}
            for name, album in sorted(dataset.albums.items())
        },
    }

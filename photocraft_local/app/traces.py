"""Traces of questions: which one is meant, what there is, which photos appear in one.

A trace is read, never changed. Damaged ones are named in the list, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.agent import trajectory
from photocraft_local.agent.export.formats import Format
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.app.exporting import PictureForm, exported, is_accepted
from photocraft_local.app.replaying import Replay, replay
from photocraft_local.app.thoughts import thoughts
from photocraft_local.errors import AgentError, UnknownPhoto, UsageError
from photocraft_local.memory.digest import photo_ids
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.store import MemoryStore
from photocraft_local.records import Json, Photo

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts

LATEST = "latest"
_CUT = ("running", "interrupted")
_ID = re.compile(r"[0-9a-f-]+")


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """One line of the list; of a trace that cannot be read only ``episode_id`` and ``problem``."""

    episode_id: str
    started: str = ""
    status: str = ""
    backbone: str = ""
    question: str = ""
    num_steps: int = 0
    num_photos: int = 0  # of the answer
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Appearance:
    """A photo of an episode: the steps in whose result it is, and whether the answer has it."""

    photo: Photo
    steps: tuple[int, ...]
    is_answer: bool


class Traces:
    """The traces of one library; ``name`` is an episode's id, a trace file, or ``latest``."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def folder(self) -> Path:
        return self._parts.library().path / "traces"

    def path(self, name: str) -> Path:
        """Raises UsageError if there is no such trace."""
        return newest(self.folder) if name == LATEST else trace_named(self.folder, name)

    def open(self, name: str) -> Trajectory:
        """Raises UsageError if there is no such trace, AgentError if it cannot be read."""
        return trajectory.load(self.path(name))

    def runs(self, record: Trajectory) -> Sequence[Trajectory]:
        """The episodes that were pooled, as far as their traces are still there."""
        paths = [self.folder / f"{name}.json" for name in record.runs]
        return [trajectory.load(path) for path in paths if path.is_file()]

    def list(self) -> Sequence[TraceSummary]:
        """Oldest first."""
        return [_summary(path) for path in sorted(self.folder.glob("*.json"))]

    def photos(self, record: Trajectory) -> tuple[Sequence[Appearance], Sequence[str]]:
        """The photos that appear in an episode, in the order in which they first do, and the
        UIDs that this library has no photo of. A crop counts as its photo."""
        library, found, gone = self._parts.library(), dict[str, Appearance](), list[str]()
        for uid, steps, is_answer in _appearing(record):
            try:
                photo = library.photo(uid)
            except UnknownPhoto:
                gone.append(uid)
                continue
            known = found.get(photo.uid, Appearance(photo, (), False))
            merged = tuple(sorted({*known.steps, *steps}))
            found[photo.uid] = Appearance(photo, merged, known.is_answer or is_answer)
        return list(found.values()), gone

    def export(
        self,
        names: Sequence[str] = (),
        form: Format = "chatml",
        pictures: PictureForm = "uid",
        *,
        redact: bool = False,
        accepted: bool = False,
    ) -> Iterator[dict[str, Json]]:
        """Rows for fine-tuning of the named traces, or of all of them, those that cannot be read
        left out; ``accepted``: only of those whose answer holds. docs/trajectories.md has the
        forms. Raises what ``open`` raises, and UsageError for paths in a redacted export."""
        if names:
            records = [self.open(name) for name in names]
        else:
            whole = [one.episode_id for one in self.list() if not one.problem]
            records = [self.open(name) for name in whole]
        chosen = [record for record in records if not accepted or is_accepted(record)]
        return exported(self._parts, chosen, form, pictures, redact=redact)

    def thoughts(self, record: Trajectory) -> EpisodeRecord:
        """Intent, plan, verdicts and reflections of an episode."""
        return thoughts(record, MemoryStore(self._parts.library().path))

    def replay(self, name: str) -> Replay:
        """The recorded calls made again on the library as it is now; no model is asked, and the
        trace stays as it is. Raises what ``open`` raises."""
        return replay(self._parts, self.open(name))


def _summary(path: Path) -> TraceSummary:
    try:
        record = trajectory.load(path)
    except AgentError as error:
        return TraceSummary(path.stem, problem=error.message)
    return TraceSummary(
        record.episode_id,
        record.started,
        record.status,
        record.backbone,
        record.question,
        len(record.all_steps),
        len(record.answer.uids) if record.answer else 0,
    )


def _appearing(record: Trajectory) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """UID, steps, whether it is in the answer. The pictures of the question are no photos."""
    own = {picture.id for picture in record.pictures}
    seen: dict[str, list[int]] = {}
    for step in record.all_steps:
        shown = [uid for uid, _ in step.observation.images]
        for uid in dict.fromkeys([*photo_ids(step.observation.data), *shown]):
            seen.setdefault(uid, []).append(step.index)
    answer = record.answer.uids if record.answer else ()
    for uid in dict.fromkeys([*seen, *answer]):
        if uid.partition(".")[0] not in own:
            yield uid, tuple(seen.get(uid, ())), uid in answer


def newest(folder: Path) -> Path:
    """The trace of the last question. Raises UsageError if there is none."""
    path = max(folder.glob("*.json"), default=None)
    if path is None:
        raise UsageError(
            "no question of this library has a trace", hint="photocraft ask QUESTION makes one"
        )
    return path


def last_cut(folder: Path) -> Path:
    """The newest trace without an end. Raises UsageError if there is none."""
    for path in sorted(folder.glob("*.json"), reverse=True):
        if trajectory.group_of(path.stem):
            continue  # its question is gone on with as a whole
        try:
            if trajectory.load(path).status in _CUT:
                return path
        except AgentError:
            continue  # a damaged one is nothing to go on with
    raise UsageError(
        "no question of this library was cut",
        hint="ask it again, or name the trace: photocraft resume TRACE",
    )


def trace_named(folder: Path, name: str) -> Path:
    """A trace file, or the trace of an episode's id. Raises UsageError if there is no such."""
    inside = folder / f"{name}.json"
    if _ID.fullmatch(name) and inside.is_file():
        return inside
    path = Path(name).expanduser()
    if path.is_file():
        return path
    raise UsageError(
        f"{name!r} is neither a trace file nor a question of this library",
        hint="`photocraft trace` lists the traces, which lie in the folder traces of the library",
    )

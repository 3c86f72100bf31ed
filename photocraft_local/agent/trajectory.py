"""One episode as a file: what was asked, every step, how it ended, under which settings.

Written whole at its ends; in between each step adds a line beside it (``journal.py``), so that a
crash or Ctrl-C leaves a readable, resumable record. Knows nothing of the loop.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from photocraft_local.agent import journal
from photocraft_local.agent.attempts import Attempt, LastTurn
from photocraft_local.agent.pictures import Picture, picture_of
from photocraft_local.errors import AgentError, LibraryError
from photocraft_local.memory.files import write_atomically
from photocraft_local.records import Answer, Json, Step, Usage
from photocraft_local.tools import evidence

SCHEMA = "photocraft-trajectory"
# 1 had no plan and pictures, 2 no compactions and cuts, 3 no card and hints, 4 no attempts
VERSION = 5
_PARTS = 16**3  # of a second that an episode's id tells apart; older ids told none
_log = logging.getLogger(__name__)
Status = Literal["running", "answered", "interrupted", "failed"]


def new_episode_id(now: datetime | None = None) -> str:
    """Sorts by time, to a quarter of a millisecond, and two processes in one still differ."""
    moment = now or datetime.now(UTC)
    part = moment.microsecond * _PARTS // 1_000_000
    return f"{moment:%Y%m%d-%H%M%S}-{part:03x}{secrets.token_hex(3)}"


def group_of(episode_id: str) -> str:
    """Of a run of a question that was asked several times at once, the id of the record that joins
    them; empty for any other episode."""
    found = re.fullmatch(r"(\d{8}-\d{6}-[0-9a-f]{6,9})-\d+", episode_id)
    return found[1] if found else ""


@dataclass(kw_only=True)
class Trajectory(Attempt):
    """The record of one episode. Its lists are those of the attempt that goes on, or of the one
    that brought the answer; ``attempts`` are those before it, each with its post-mortem.

    ``compactions`` and ``cuts`` say what of the steps the prompt holds, so that the same prompt can
    be made again, with the library's ``card`` and the ``hints``: ``text``, and what is known of
    where each came from; None as long as they were not asked for. ``runs``: ids of the episodes
    whose candidates were pooled; such a record has no steps of its own, ``notes`` on the choice,
    and ``pooling``, what the choice asked of a model."""

    question: str
    today: date
    backbone: str
    plan: str = ""  # the text that the person gave or corrected; empty: the question alone
    pictures: tuple[Picture, ...] = ()
    episode_id: str = field(default_factory=new_episode_id)
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    package_version: str = ""
    generation: int = 0  # of the library when the episode began
    config: dict[str, Json] = field(default_factory=dict)
    card: str = ""
    hints: list[dict[str, Json]] | None = None
    runs: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pooling: Usage = Usage()
    attempts: list[Attempt] = field(default_factory=list)
    seconds: float = 0.0  # that it has run so far
    status: Status = "running"
    error: str = ""
    answer: Answer | None = None

    @property
    def by_model(self) -> bool:
        """Whether a model made the calls; rules read the question and are shown no picture."""
        return self.backbone != "planner"

    @property
    def all_steps(self) -> list[Step]:
        """Those of every attempt, in order; each attempt counts its own from 1."""
        return [step for attempt in (*self.attempts, self) for step in attempt.steps]

    def total_usage(self) -> Usage:
        """Of every attempt, and of judging what several runs gave."""
        return sum((attempt.usage() for attempt in self.attempts), self.usage() + self.pooling)

    def begin_anew(self, failed: Attempt) -> None:
        """The attempt that went on is over, as ``failed`` tells it, and another one begins."""
        self.attempts.append(failed)
        self.steps, self.rejected, self.compactions, self.cuts = [], [], [], []
        self.last_turn = None

    def path(self, folder: Path) -> Path:
        return folder / f"{self.episode_id}.json"

    def save(self, folder: Path) -> Path:
        """Writes the whole record into ``folder``. Raises StorageFull or LibraryError."""
        path = self.path(folder)
        text = json.dumps(self.to_json(), ensure_ascii=False, indent=1, sort_keys=True)
        write_atomically(path, text + "\n")
        journal.remove(path)
        return path

    def to_json(self) -> dict[str, Json]:
        told = super().to_json()
        del told["post_mortem"]
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "episode_id": self.episode_id,
            "started": self.started,
            "package_version": self.package_version,
            "backbone": self.backbone,
            "config": self.config,
            "library_generation": self.generation,
            "question": self.question,
            "today": self.today.isoformat(),
            "plan": self.plan,
            "pictures": [picture.to_json() for picture in self.pictures],
            "card": self.card,
            "hints": self.hints,
            "runs": self.runs,
            "notes": self.notes,
            "pooling": asdict(self.pooling),
            "attempts": [attempt.to_json() for attempt in self.attempts],
            **told,
            "seconds": self.seconds,
            "status": self.status,
            "error": self.error,
            "answer": None if self.answer is None else asdict(self.answer),
        }


class Kept:
    """A record on disk while its episode runs. What cannot be written is reported, once; it does
    not cost the person the answer."""

    def __init__(self, record: Trajectory, folder: Path) -> None:
        self._record, self._folder = record, folder
        self._journal: journal.Journal | None = None
        self._whole: object = None  # what was last written whole, but for what grows
        self._lengths: dict[str, int] = {}
        self._last_turn: LastTurn | None = None
        self._is_on = True

    def save(self) -> None:
        """What is new of the lists; all of it where more has changed, as at the ends."""
        if not self._is_on:
            return
        try:
            self._save()
        except LibraryError as error:
            self._is_on = False
            _log.warning("the trace of this question is not saved: %s", error.message)

    def _save(self) -> None:
        record = self._record
        whole = record.status, record.error, record.answer, len(record.attempts)
        lengths, last = record.lengths(), record.last_turn
        if self._journal is None or whole != self._whole:
            self._journal = journal.Journal(record.save(self._folder), len(record.attempts) + 1)
        elif lengths != self._lengths or last is not self._last_turn:
            told = None if last is None else last.to_json()
            values = {"last_turn": told, "seconds": record.seconds}
            self._journal.append(record.grown(self._lengths), values)
        self._whole, self._lengths, self._last_turn = whole, lengths, last


def json_schema() -> dict[str, Json]:
    """The published JSON schema of a trace in the format of ``VERSION``."""
    source = files(__package__).joinpath("trajectory.schema.json")
    schema: dict[str, Json] = json.loads(source.read_text("utf-8"))
    return schema


def load(path: Path) -> Trajectory:
    """Reads a saved episode. Raises AgentError naming the file if it is broken or newer."""
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError(f"its schema is {data['schema']!r}")
        if data["version"] > VERSION:
            raise AgentError(
                f"trace {path} was written by a newer version (format {data['version']})",
                hint="upgrade photocraft-local to read it",
            )
        return of_json(journal.merged(data, path))
    except FileNotFoundError as exc:
        raise AgentError(
            f"there is no trace {path}", hint=f"list the folder {path.parent} for what there is"
        ) from exc
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise AgentError(
            f"trace {path} cannot be read: {exc}",
            hint="the file is damaged; remove it and ask the question again",
        ) from exc


def of_json(data: dict[str, Any]) -> Trajectory:
    """What ``to_json`` gave, of any version. Raises what ``load`` makes an AgentError of."""
    made = Attempt.from_json(data)
    return Trajectory(
        question=data["question"],
        today=date.fromisoformat(data["today"]),
        backbone=data["backbone"],
        plan=data.get("plan", ""),
        pictures=tuple(map(picture_of, data.get("pictures", ()))),
        episode_id=data["episode_id"],
        started=data["started"],
        package_version=data["package_version"],
        generation=data["library_generation"],
        config=data["config"],
        card=data.get("card", ""),
        hints=data.get("hints"),
        runs=list(map(str, data.get("runs", ()))),
        notes=list(map(str, data.get("notes", ()))),
        pooling=Usage(**data.get("pooling", {})),
        attempts=list(map(Attempt.from_json, data.get("attempts", ()))),
        steps=made.steps,
        rejected=made.rejected,
        compactions=made.compactions,
        cuts=made.cuts,
        last_turn=made.last_turn,
        seconds=float(data.get("seconds", 0)),
        status=data["status"],
        error=data["error"],
        answer=None if data["answer"] is None else _answer(data["answer"]),
    )


def _answer(data: dict[str, Any]) -> Answer:
    return Answer(
        uids=tuple(data["uids"]),
        evidence={
            uid: tuple(map(evidence.from_json, items)) for uid, items in data["evidence"].items()
        },
        text=data["text"],
        reason=data["reason"],
        understood=tuple(data["understood"]),
        not_understood=tuple(data["not_understood"]),
    )

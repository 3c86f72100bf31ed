"""One episode as a file: what was asked, every step, how it ended, under which settings.

Saved after each step, so that a crash or Ctrl-C leaves a readable, resumable record. Text in
it that came from photos is data; nothing here interprets it. Knows nothing of the loop.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from photocraft_local.agent.pictures import Picture, picture_of
from photocraft_local.errors import AgentError
from photocraft_local.memory.compaction import Compaction
from photocraft_local.memory.files import write_atomically
from photocraft_local.memory.shortening import Cut
from photocraft_local.records import Answer, Json, Observation, Step, ToolCall, Usage
from photocraft_local.tools import evidence

SCHEMA = "photocraft-trajectory"
VERSION = 4  # 1 had no plan and pictures, 2 no compactions and cuts, 3 no card and hints
Status = Literal["running", "answered", "interrupted", "failed"]


def new_episode_id(now: datetime | None = None) -> str:
    """Sorts by time, and two processes in one second still differ."""
    moment = now or datetime.now(UTC)
    return f"{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


@dataclass(kw_only=True)
class Trajectory:
    """The record of one episode. ``rejected`` lists replies that were rolled back, each with
    the step before which it came, its reason, what was said, the call, if there was one, and
    what it cost. ``compactions`` and ``cuts`` say what of the steps the prompt holds, so that the
    same prompt can be made again, with the library's ``card`` and the ``hints``: ``text``, and what
    is known of where each came from; None as long as they were not asked for."""

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
    steps: list[Step] = field(default_factory=list)
    rejected: list[dict[str, Json]] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    status: Status = "running"
    error: str = ""
    answer: Answer | None = None

    def path(self, folder: Path) -> Path:
        return folder / f"{self.episode_id}.json"

    def save(self, folder: Path) -> Path:
        """Writes the whole record into ``folder``. Raises StorageFull or LibraryError."""
        path = self.path(folder)
        text = json.dumps(self.to_json(), ensure_ascii=False, indent=1, sort_keys=True)
        write_atomically(path, text + "\n")
        return path

    def to_json(self) -> dict[str, Json]:
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
            "steps": [_step_json(step) for step in self.steps],
            "rejected": self.rejected,
            "compactions": [made.to_json() for made in self.compactions],
            "cuts": [cut.to_json() for cut in self.cuts],
            "status": self.status,
            "error": self.error,
            "answer": None if self.answer is None else asdict(self.answer),
        }


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
        return of_json(data)
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
        steps=[_step(step) for step in data["steps"]],
        rejected=[_rejected(reply) for reply in data["rejected"]],
        compactions=[Compaction.from_json(made) for made in data.get("compactions", ())],
        cuts=[Cut.from_json(cut) for cut in data.get("cuts", ())],
        status=data["status"],
        error=data["error"],
        answer=None if data["answer"] is None else _answer(data["answer"]),
    )


def _rejected(data: dict[str, Any]) -> dict[str, Json]:
    """Older ones told neither what was said nor what it cost."""
    return {
        "before_step": int(data["before_step"]),
        "reason": str(data["reason"]),
        "thought": str(data.get("thought", "")),
        "call": None if data["call"] is None else asdict(ToolCall(**data["call"])),
        "usage": asdict(Usage(**data.get("usage", {}))),
    }


def _step_json(step: Step) -> dict[str, Json]:
    seen = step.observation
    return {
        "index": step.index,
        "thought": step.thought,
        "call": asdict(step.call),
        "observation": {
            "tool": seen.tool,
            "data": seen.data,
            "error": seen.error,
            "brief": seen.brief,
            "images": [uid for uid, _ in seen.images],  # pixels stay in the file store
            "usage": asdict(seen.usage),
        },
        "usage": asdict(step.usage),
    }


def _step(data: dict[str, Any]) -> Step:
    seen = data["observation"]
    return Step(
        index=data["index"],
        call=ToolCall(**data["call"]),
        observation=Observation(
            tool=seen["tool"],
            data=seen["data"],
            error=seen["error"],
            brief=seen["brief"],
            images=tuple((uid, b"") for uid in seen["images"]),
            usage=Usage(**seen.get("usage", {})),
        ),
        thought=data["thought"],
        usage=Usage(**data["usage"]),
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

"""A recorded episode of 30 turns: real photos, the real tools, the real loop, a fixed script.

The photos are those of the album's made-up life. What the script says is what a capable model
might have said; what the tools answered is theirs. The trace is written as for any episode, and
read back for the calls; pictures are not in a trace, so they are kept from the run itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from _common import SHARED
from _episode_script import QUESTION, SCRIPT
from album.life import build

from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import Agent
from photocraft_local.app.episodes import library_card
from photocraft_local.app.parts import Parts
from photocraft_local.memory.memory import Memory
from photocraft_local.memory.text import prompt_json
from photocraft_local.records import Json, Observation, Step, ToolCall
from photocraft_local.serving.chat_model import Reply, ToolSchema
from photocraft_local.serving.judging import ANY, Left
from photocraft_local.serving.scripted import ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.standard import standard_tools

TODAY = date(2024, 3, 15)
_PHOTO = re.compile(r"^@(\d+)((?:\.c\d+)?)$")


@dataclass(frozen=True)
class Recorded:
    """What every policy is given: the stable blocks' parts, and the steps with their pictures."""

    question: str
    card: str
    tools: list[ToolSchema]
    steps: tuple[Step, ...]

    @property
    def num_pictures(self) -> int:
        """Different ones."""
        return len({source for step in self.steps for _, source in step.observation.images})


class PlayedTools:
    """The recorded results in place of the tools, for the loop."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._results = {_key(step.call): step.observation for step in recorded.steps}

    def schemas(self) -> list[ToolSchema]:
        return self._recorded.tools

    def call(self, call: ToolCall, *, last: bool = False, left: Left = ANY) -> Observation:
        return self._results[_key(call)]


def record(scratch: Path, cache: Path) -> Recorded:
    """Indexes the album, plays the script through the loop, and checks the trace. ``cache`` keeps
    converted models and the gazetteer between runs."""
    album = scratch / "album"
    build(SHARED / "data" / "captioned", album)
    settings = Settings(library=scratch / "library", cache=cache, memory=False, max_turns=40)
    with _opened(settings, album) as parts:
        memory = Memory.open(settings)
        context = ToolContext(
            library=parts.library(),
            catalog=parts.catalog(),
            make_searcher=parts.searcher,
            make_encoder=parts.encoder,
            gazetteer=parts.atlas(),
            today=TODAY,
            settings=settings,
            memory=memory,
        )
        registry = Registry(standard_tools(), context)
        steps: list[Step] = []
        agent = Agent(
            ScriptedModel(_replies(parts)),
            registry,
            memory,
            settings,
            today=TODAY,
            library_card=library_card(parts),
            generation=parts.library().generation(),
            on_step=steps.append,
        )
        agent.ask(QUESTION)
        assert agent.last_trace
        trace = trajectory.load(agent.last_trace)
        recorded = Recorded(QUESTION, agent.library_card, registry.schemas(), tuple(steps))
    _check(trace, recorded)
    return recorded


@contextmanager
def _opened(settings: Settings, album: Path) -> Iterator[Parts]:
    from photocraft_local.app.indexing import index

    parts = Parts(settings)
    try:
        index(parts, (album,), None)
        yield parts
    finally:
        parts.close()


def _replies(parts: Parts) -> list[Reply]:
    """The script with the photos' UIDs."""
    uids = {_number(photo.paths[0]): photo.uid for photo in parts.library().photos()}

    def filled(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: filled(item) for key, item in sorted(value.items())}
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, str) and (match := _PHOTO.match(value)):
            return uids[match[1]] + match[2]
        return value

    return [
        Reply(text=thought, call=ToolCall(tool, filled(arguments)))
        for thought, tool, arguments in SCRIPT
    ]


def _number(path: bytes) -> str:
    return Path(os.fsdecode(path)).stem.lstrip("0")


def _key(call: ToolCall) -> str:
    return prompt_json([call.name, call.arguments])


def _check(trace: trajectory.Trajectory, recorded: Recorded) -> None:
    """That the trace holds what was scripted, with no result of a tool that failed."""
    told = [step.observation.error for step in trace.steps if step.observation.error]
    if told or trace.rejected or len(trace.steps) != len(SCRIPT):
        raise SystemExit(f"the episode did not go as scripted: {told or trace.rejected}")
    if [step.call for step in trace.steps] != [step.call for step in recorded.steps]:
        raise SystemExit("the trace holds other calls than the run")

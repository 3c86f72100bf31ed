"""One episode under one policy: the recorded turns through the package's own model and engine.

``ours`` is the package itself: its loop, context and compaction. The other policies choose the
messages; what renders, counts and sends them is the same ``QwenModel``.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from _episode_script import PROSE
from _policies import Full, Material, Policy, Prompt
from _prefix_counting import Tally
from _replay import Replay
from _trajectory import TODAY, PlayedTools, Recorded

from photocraft_local.agent import room, trajectory
from photocraft_local.agent.loop import Agent
from photocraft_local.agent.opening import config_of, opened
from photocraft_local.memory.compaction import FOLDS, WRITE_SUMMARY, Compaction, Prose
from photocraft_local.memory.memory import EpisodeMemory, Memory
from photocraft_local.memory.skills import NoHints
from photocraft_local.memory.text import prompt_json
from photocraft_local.records import Json, Step, ToolCall
from photocraft_local.serving.chat_model import Message, ToolSchema
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.completion import ChatRequest
from photocraft_local.serving.qwen.model import QwenModel
from photocraft_local.serving.tokens import PromptCounter
from photocraft_local.serving.tool_calls import Form, write_call
from photocraft_local.settings import Settings


class Episodes:
    """All policies over one engine, one window and one recording."""

    def __init__(
        self, replay: Replay, recorded: Recorded, counter: PromptCounter, window: int
    ) -> None:
        self._replay, self._recorded = replay, recorded
        self._counter, self.window = counter, window
        self.high = Settings().compact_at * window
        self._measuring = self._model(PictureStore(counter.rule))  # counts, sends nothing
        self.material = self._material()

    def tokens(self, messages: Sequence[Message]) -> int:
        """Of a prompt with the tools' schemas."""
        load = self._measuring.load(messages, self._recorded.tools)
        assert load
        return load.prompt

    def policy(self, policy: Policy) -> Tally:
        """The episode under one of the policies of _policies.py."""
        store = self._begun()
        with_tools, without = self._model(store), self._model(store)
        for prompt in policy(self.material, self._is_full):
            self._replay.say = partial(_told, self._reply(prompt))
            model = with_tools if prompt.with_tools else without
            tools: list[ToolSchema] = self._recorded.tools if prompt.with_tools else []
            model.complete(prompt.messages, tools)
            self._replay.tally.summaries += prompt.kind == "summary"
        return self._replay.tally

    def ours(self) -> tuple[Tally, trajectory.Trajectory]:
        """The episode by the package's own loop. Raises AssertionError if it went another way
        than the recorded one."""
        store = self._begun()
        steps = self._recorded.steps
        turns: list[Step] = []

        def say(request: ChatRequest) -> str:
            if _asks_for_summary(request):
                self._replay.tally.summaries += 1
                return _summary_reply(len(turns))
            return _said(steps[len(turns)])

        self._replay.say = say
        with tempfile.TemporaryDirectory() as scratch:
            agent = Agent(
                self._model(store),
                PlayedTools(self._recorded),
                Memory(None, NoHints()),
                Settings(library=Path(scratch), max_turns=len(steps) + 1, memory=False),
                today=TODAY,
                library_card=self._recorded.card,
                on_step=turns.append,
            )
            agent.ask(self._recorded.question)
            assert agent.last_trace
            trace = trajectory.load(agent.last_trace)
        assert [step.call for step in turns] == [step.call for step in steps], "other calls"
        assert not trace.rejected, trace.rejected
        assert not trace.cuts, trace.cuts
        return self._replay.tally, trace

    def cold_tokens(self) -> int:
        """What the first question to a server pays on top: the stable blocks before it."""
        return self.tokens(self.material.stable[:-1])

    def longer_than_compacted(self, turn: int) -> Full:
        """The low mark: what a compaction before ``turn`` leaves."""
        summary = {"role": "user", "content": self.material.summary(turn)}
        low = self.tokens([*self.material.stable, summary])
        return lambda messages: self.tokens(messages) > low

    def _begun(self) -> PictureStore:
        """A server that has answered another question about the same library, and no picture."""
        self._replay.clear()
        self._replay.say = partial(_told, "I look.")
        store = PictureStore(self._counter.rule)
        other = self._fresh("Where is the dog?").messages()
        model = self._model(store)
        talk = model.conversation(other, self._recorded.tools)
        self._replay.warm(model.request(talk, self._recorded.tools))
        return store

    def _is_full(self, messages: Sequence[Message]) -> bool:
        return self.tokens(messages) > self.high

    def _model(self, store: PictureStore) -> QwenModel:
        return QwenModel(
            self._replay, store, name="replay", counter=self._counter, window=self.window
        )

    def _material(self) -> Material:
        memory = self._fresh(self._recorded.question)
        stable = tuple(memory.messages())
        turns: list[tuple[Message, ...]] = []
        for step in self._recorded.steps:
            before = len(memory.messages())
            memory.observe(step)
            turns.append(tuple(memory.messages()[before:]))
        return Material(stable, tuple(turns), self._summary, self._rewritten)

    def _fresh(self, question: str) -> EpisodeMemory:
        record = trajectory.Trajectory(
            question=question, today=TODAY, backbone="replay", config=config_of(Settings())
        )
        return opened(record, card=self._recorded.card, hints=NoHints(), library=Path()).memory

    def _summary(self, turn: int) -> str:
        """S as the package makes it of all steps before ``turn``, as short as it wants it."""
        memory = self._fresh(self._recorded.question)
        num_stable = len(memory.messages())
        for step in self._recorded.steps[:turn]:
            memory.observe(step)
        made = Compaction(after_step=turn, covered=turn, why="", prose=Prose(**_prose(turn)))
        for fold in range(len(FOLDS)):
            size = memory.compact(replace(made, fold=fold))
            if size <= room.most_characters(self.window):
                break
        return str(memory.messages()[num_stable]["content"])

    def _rewritten(self, turn: int) -> str:
        """The facts of S in the sections of ImageSeeker's summary, the newest finding first: a
        model that writes a summary anew does not repeat the last one word for word."""
        facts = json.loads(self._summary(turn).split("\n", 1)[1])
        working, session = facts["working"], facts["session"]
        sections: dict[str, Json] = {
            "Goals": working.pop("constraints"),
            "Findings": facts["digest"][::-1],
            "Sub-goal and plan": [session["decisions"], working],
            "Failures not to be repeated": session["ruled_out"],
        }
        return "\n".join(f"{name}: {prompt_json(told)}" for name, told in sections.items())

    def _reply(self, prompt: Prompt) -> str:
        if prompt.kind == "summary":
            return _summary_reply(prompt.turn)
        return _said(self._recorded.steps[prompt.turn])


def _told(text: str, _: ChatRequest) -> str:
    return text


def _said(step: Step) -> str:
    return write_call(step.thought, step.call, Form.JSON)


def _prose(num_steps: int) -> dict[str, str]:
    return [told for least, told in PROSE if num_steps >= least][-1]


def _summary_reply(num_steps: int) -> str:
    """The same words under every policy."""
    call = ToolCall(WRITE_SUMMARY["name"], dict(_prose(num_steps)))
    return write_call("The history has to be shortened.", call, Form.JSON)


def _asks_for_summary(request: ChatRequest) -> bool:
    return f'"{WRITE_SUMMARY["name"]}"' in str(request.schema).replace("'", '"')

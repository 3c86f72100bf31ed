"""The agent loop: query the backbone, execute its call, record the step, until it answers.

Good turns are steps; bad replies go back to the model as corrections (``interrupts.py``); a
failed tool is an observation. Knows nothing of photos or of which backbone speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

from photocraft_local import __version__
from photocraft_local.agent import trajectory
from photocraft_local.agent.answers import SUBMIT, abstained, answer_of
from photocraft_local.agent.episode import Episode
from photocraft_local.agent.interrupts import (
    Answered,
    CallRejected,
    FinalAnswerDue,
    final_answer_due,
)
from photocraft_local.agent.opening import (
    Tools,
    config_of,
    opened,
    replayed,
    wish_left,
    with_intent,
)
from photocraft_local.agent.pictures import Picture
from photocraft_local.agent.prompts import render
from photocraft_local.agent.room import Room
from photocraft_local.errors import (
    AgentError,
    MalformedCall,
    ModelError,
    PhotocraftError,
    PromptTooLong,
)
from photocraft_local.memory.memory import Memory
from photocraft_local.memory.text import prompt_json
from photocraft_local.records import Answer, Step
from photocraft_local.serving.chat_model import ChatModel, Message, Reply
from photocraft_local.settings import Settings

MAX_REFUSED = 5  # bad replies in a row before the answer is forced
MAX_REFUSED_AT_END = 2  # and in the last turn before the agent gives up


class Agent:
    """Runs episodes. ``on_step`` is told of each finished step, for progress output;
    ``generation`` is the library's, ``library_card`` a few lines about it for the prompt;
    ``shown`` has the question's pictures as the backbone is to see them, by their ids."""

    def __init__(
        self,
        model: ChatModel,
        registry: Tools,
        memory: Memory,
        settings: Settings,
        *,
        today: date | None = None,
        library_card: str = "",
        generation: int = 0,
        on_step: Callable[[Step], None] | None = None,
        shown: Mapping[str, bytes] | None = None,
    ) -> None:
        self.model = model
        self.registry = registry
        self.memory = memory
        self.settings = settings
        self.today = today or date.today()
        self.library_card = library_card
        self.generation = generation
        self.on_step = on_step or (lambda step: None)
        self.shown = shown or {}
        self.last_trace: Path | None = None
        self.record: trajectory.Trajectory | None = None  # of the last episode
        self._room = Room(model, (), settings.compact_at)  # a new one for each episode

    def ask(self, question: str, *, plan: str = "", pictures: tuple[Picture, ...] = ()) -> Answer:
        """Answers one question. ``plan`` is the text of one that the person gave, ``pictures``
        are those of the question, which the tools' context must know too.

        Raises AgentError, or what the backbone raises; the trace of the episode is on disk in
        any case, also after Ctrl-C."""
        record = trajectory.Trajectory(
            question=question,
            plan=plan,
            pictures=pictures,
            today=self.today,
            backbone=self.model.name,
            package_version=__version__,
            generation=self.generation,
            config=config_of(self.settings),
        )
        return self._run(self._opened(record))

    def resume(self, trace: Path) -> Answer:
        """Goes on with an episode that was cut, from its last saved step. One that has its
        answer gives it again, and its trace stays as it is."""
        record = self.record = trajectory.load(trace)
        if record.status == "answered" and record.answer is not None:
            self.last_trace = trace
            return record.answer
        if record.generation != self.generation:
            raise AgentError(
                f"the library has changed since episode {record.episode_id} was cut",
                hint="ask the question again",
            )
        steps, record.steps, record.error = record.steps, [], ""
        return self._run(replayed(self._opened(record), steps, self.registry))

    def _run(self, episode: Episode) -> Answer:
        record = episode.trajectory
        record.status = "running"
        episode.save()
        tools, how = self.registry.schemas(), self.settings
        self._room = Room(self.model, tools, how.compact_at, how.summary)
        self.memory.take_compaction_request()  # one left by an episode that was cut
        try:
            self._end_if_answered(episode)  # cut between the answer and its last save
            self._grant(episode, wish_left(episode.trajectory))
            while True:
                try:
                    reply = self._query(episode)
                except FinalAnswerDue as due:
                    episode.force_answer(due)
                    continue
                try:
                    step = self._execute(episode, reply)
                except CallRejected as rejected:
                    episode.refuse(rejected, reply)
                    continue
                self._record(episode, step)
        except Answered as done:
            record.status, record.answer = "answered", done.answer
            episode.save()  # first: an episode that is taken up again is remembered once
            self.memory.finish(episode.memory, done.answer)
            return done.answer
        except PhotocraftError as error:
            # A backbone that fails cuts the episode, which may go on with one that works.
            record.status = "interrupted" if isinstance(error, ModelError) else "failed"
            record.error = error.message
            raise
        except KeyboardInterrupt:
            record.status = "interrupted"
            raise
        finally:
            episode.save()

    def _query(self, episode: Episode) -> Reply:
        """The backbone's next reply, or the interrupt that a limit calls for."""
        tools = self.registry.schemas()
        if episode.last_turn:
            if episode.num_refused >= MAX_REFUSED_AT_END:
                raise Answered(abstained(f"{episode.last_turn.why}, and no usable answer came"))
            tools = [tool for tool in tools if tool["name"] == SUBMIT]
        elif episode.num_steps >= self.settings.max_turns:
            raise _final(episode, f"all {self.settings.max_turns} turns are used")
        elif episode.num_refused >= MAX_REFUSED:
            raise _final(episode, f"{MAX_REFUSED} replies in a row could not be used")
        self._room.make(episode)
        try:
            return self.model.complete(episode.messages(), tools)
        except PromptTooLong as error:
            self._room.refused(episode, error)
            return self._query(episode)

    def _execute(self, episode: Episode, reply: Reply) -> Step:
        """Runs the reply's call. Raises CallRejected if it holds none that can run."""
        call = reply.call
        if call is None or (episode.last_turn and call.name != SUBMIT):
            raise CallRejected("no call", _user(render("no_call")), call)
        earlier = episode.earlier(call)
        if earlier is not None:
            message = _user(render("repeated_call", step=earlier.index))
            raise CallRejected("repeated call", message, call)
        try:
            seen = self.registry.call(call, last=episode.last_turn is not None)
        except MalformedCall as error:
            problem = prompt_json(f"{error.message}. {error.hint}".strip())
            message = _user(render("malformed_call", problem=problem))
            raise CallRejected("malformed call", message, call) from error
        return Step(episode.num_steps + 1, call, seen, reply.text, reply.usage)

    def _record(self, episode: Episode, step: Step) -> None:
        episode.record(step)
        self.on_step(step)
        self._end_if_answered(episode)
        self._grant(episode, self.memory.take_compaction_request())

    def _grant(self, episode: Episode, wish: str) -> None:
        if wish:
            self._room.compact(episode, f"asked for: {wish}", covered=episode.num_steps)

    def _end_if_answered(self, episode: Episode) -> None:
        steps = episode.trajectory.steps
        if steps and steps[-1].call.name == SUBMIT and steps[-1].observation.ok:
            record = episode.trajectory
            raise Answered(answer_of(f"{record.question} {record.plan}", steps))

    def _opened(self, record: trajectory.Trajectory) -> Episode:
        library = self.settings.library
        self.last_trace, self.record = record.path(library / "traces"), record
        record.card = record.card or self.library_card
        episode = opened(
            record,
            card=record.card,
            hints=self.memory.hints,
            library=library,
            shown=self.shown,
        )
        return with_intent(episode, self.model)


def _final(episode: Episode, why: str) -> FinalAnswerDue:
    return final_answer_due(episode.trajectory.question, why)


def _user(text: str) -> Message:
    return {"role": "user", "content": text}

"""The agent loop: query the backbone, execute its call, record the step, until it answers.

Good turns are steps; bad replies go back to the model as corrections (``interrupts.py``); a
failed tool is an observation. Knows nothing of photos or of which backbone speaks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import NoReturn

from photocraft_local import __version__
from photocraft_local.agent import trajectory
from photocraft_local.agent.answers import SUBMIT, abstained, answer_of
from photocraft_local.agent.attempts import Attempt
from photocraft_local.agent.budget import Budget
from photocraft_local.agent.episode import Episode
from photocraft_local.agent.interrupts import (
    Answered,
    CallRejected,
    FinalAnswerDue,
    GaveUp,
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
    ReplyLate,
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
    ``shown`` has the question's pictures as the backbone is to see them, by their ids; ``clock``
    gives seconds."""

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
        clock: Callable[[], float] = time.monotonic,
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
        self._clock = clock
        self._budget: Budget  # of the episode
        self._room: Room

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
        self._budget = Budget(self.settings, record, self._clock)
        tools, how = self.registry.schemas(), self.settings
        self._room = Room(self.model, tools, self._budget, how.compact_at, how.summary)
        episode.save()
        self.memory.take_compaction_request()  # one left by an episode that was cut
        try:
            while True:
                try:
                    self._go(episode)
                except GaveUp as given_up:
                    if not self._may_begin_anew(record):
                        raise
                    episode = self._begun_anew(episode, given_up.answer.reason)
        except Answered as done:
            record.status, record.answer = "answered", done.answer
            episode.save()  # first: an episode that is taken up again is remembered once
            self.memory.finish(episode.memory, done.answer, record.all_steps)
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
            self._budget.tick()
            episode.save()

    def _go(self, episode: Episode) -> NoReturn:
        """One attempt, to its end: Answered, or an error."""
        self._end_if_answered(episode)  # cut between the answer and its last save
        self._grant(episode, wish_left(episode.trajectory))
        while True:
            try:
                reply = self._query(episode)
            except FinalAnswerDue as due:
                episode.force_answer(due)
                continue
            self._budget.tick()
            try:
                step = self._execute(episode, reply)
            except CallRejected as rejected:
                episode.refuse(rejected, reply)
                continue
            self._budget.tick()
            self._record(episode, step)

    def _may_begin_anew(self, record: trajectory.Trajectory) -> bool:
        """Unusable replies or a full window may go otherwise the next time; a budget is used up."""
        is_worth_it = record.limit in ("replies", "window")
        left = len(record.attempts) < self.settings.restarts and not self._budget.reached()
        return is_worth_it and left

    def _begun_anew(self, episode: Episode, why: str) -> Episode:
        """A fresh attempt, which begins with the post-mortem of this one."""
        record = episode.trajectory
        told = self._room.post_mortem(episode, why)
        record.begin_anew(
            Attempt(
                record.steps,
                record.rejected,
                record.compactions,
                record.cuts,
                record.last_turn,
                told,
            )
        )
        self.registry.begin_anew()
        again = self._opened(record)
        again.kept = episode.kept
        self._room.begin_anew()
        again.save()
        return again

    def _query(self, episode: Episode) -> Reply:
        """The backbone's next reply, or the interrupt that a limit calls for."""
        tools = self.registry.schemas()
        if last := episode.last_turn:
            if episode.num_refused >= MAX_REFUSED_AT_END:
                raise GaveUp(abstained(f"{last.why}, and no usable answer came"))
            if self._budget.seconds_left(last=True) <= 0:
                raise Answered(abstained(f"{last.why}, and no answer came in time"))
            tools = [tool for tool in tools if tool["name"] == SUBMIT]
        elif reached := self._budget.reached():
            raise episode.due(*reached)
        elif episode.num_refused >= MAX_REFUSED:
            raise episode.due("replies", f"{MAX_REFUSED} replies in a row could not be used")
        self._room.make(episode)
        self._room.pay(episode)
        try:
            return self.model.complete(episode.messages(), tools)
        except PromptTooLong as error:
            self._room.refused(episode, error)
            return self._query(episode)
        except ReplyLate as error:
            if last is None:
                raise episode.due("seconds", self._budget.no_time()) from error
            raise Answered(abstained(f"{last.why}, and no answer came in time")) from error

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
            is_last = episode.last_turn is not None
            left = self._room.left_after(reply, last=is_last)
            seen = self.registry.call(call, last=is_last, left=left)
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
        if wish and not episode.memory.context.is_bare:  # nothing would take the turns' place
            self._room.compact(episode, f"asked for: {wish}", covered=episode.num_steps)

    def _end_if_answered(self, episode: Episode) -> None:
        steps = episode.trajectory.steps
        if steps and steps[-1].call.name == SUBMIT and steps[-1].observation.ok:
            record = episode.trajectory
            answer = answer_of(f"{record.question} {record.plan}", steps)
            gave_up = bool(episode.last_turn and answer.reason and not answer.uids)
            raise GaveUp(answer) if gave_up else Answered(answer)

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


def _user(text: str) -> Message:
    return {"role": "user", "content": text}

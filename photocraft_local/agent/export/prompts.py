"""A trace as the prompts that its backbone read: the same messages again, and no model asked.

A compaction ends one prompt and begins the next, so an attempt gives one segment for each; a
reply belongs to the first segment that holds it. A reply whose prompt ended in words that were
there once (a correction, the last turn, a request) has a segment of its own. Pictures are ids.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from photocraft_local.agent.attempts import PostMortem
from photocraft_local.agent.opening import opened
from photocraft_local.agent.post_mortem import WRITE_POST_MORTEM, request
from photocraft_local.agent.prompts import render
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.memory.compaction import WRITINGS, Compaction
from photocraft_local.memory.context import call_message
from photocraft_local.memory.skills import NoHints
from photocraft_local.records import Step, ToolCall
from photocraft_local.serving.chat_model import Message


@dataclass(frozen=True, slots=True)
class Segment:
    """``messages`` end with a reply; those at ``new`` are replies of no other segment."""

    messages: Sequence[Message]
    new: frozenset[int]

    @property
    def num_new(self) -> int:
        return len(self.new)


def segments(record: Trajectory) -> Iterator[Segment]:
    """The prompts of an episode with the replies to them, attempt by attempt. Replies that were
    rolled back are in none."""
    for number, attempt in enumerate((*record.attempts, record)):
        alone = copy.copy(record)
        alone.attempts = record.attempts[:number]
        for name in ("rejected", "compactions", "cuts", "last_turn"):
            setattr(alone, name, getattr(attempt, name))
        alone.steps = []
        yield from _Walk(alone, attempt.post_mortem).segments(attempt.steps)


class _Walk:
    """Through one attempt."""

    def __init__(self, record: Trajectory, post_mortem: PostMortem | None) -> None:
        shown = _own_pictures(record) if record.by_model else {}
        self._record, self._post_mortem = record, post_mortem
        self._episode = opened(
            record, card=record.card, hints=NoHints(), library=Path(), shown=shown
        )
        self._memory = self._episode.memory
        self._told: set[int] = set()  # steps whose replies stand in a segment already

    def segments(self, steps: Sequence[Step]) -> Iterator[Segment]:
        for step in steps:
            once = self._once(step)
            before = self._memory.messages()
            self._episode.take(_with_names(step))
            if once:
                self._told.add(step.index)
                (reply,) = (one for one in self._turn() if one["role"] == "assistant")
                yield _alone([*before, *once, reply])
            for made in self._record.compactions:
                if made.after_step == step.index:
                    yield from self._compacted(made)
            for cut in self._record.cuts:
                self._memory.cut(cut)
        yield from self._whole()
        if self._post_mortem is not None and self._post_mortem.words is not None:
            last = self._record.last_turn
            asked = request(last.why if last else self._post_mortem.why)
            words = ToolCall(WRITE_POST_MORTEM["name"], dict(self._post_mortem.words))
            said = call_message(words, self._post_mortem.thought, "")
            yield _alone([*self._memory.messages(), asked, said])

    def _once(self, step: Step) -> list[Message]:
        """What stood at the end of this step's prompt and was gone in the next."""
        last, refused = self._record.last_turn, self._record.rejected
        words = []
        if last is not None and self._record.is_last(step.index):
            words, refused = [last.words], refused[last.after_rejected :]
        corrections = [one["correction"] for one in refused if one["before_step"] == step.index]
        return [{"role": "user", "content": text} for text in (*words, *corrections[-1:]) if text]

    def _turn(self) -> Sequence[Message]:
        context = self._memory.context
        return context.messages()[len(context.messages(without=1)) :]

    def _compacted(self, made: Compaction) -> Iterator[Segment]:
        """What stood before it, and the request for the summary with its reply."""
        yield from self._whole()
        writing = WRITINGS["model" if made.plain else "code"]
        written = made.plain.arguments() if made.plain else made.prose and asdict(made.prose)
        if written:
            live = self._memory.context.messages(without=made.after_step - made.covered)
            asked: Message = {"role": "user", "content": render(writing.prompt)}
            said = call_message(ToolCall(writing.tool["name"], written), made.thought, "")
            yield _alone([*live, asked, said])
        self._episode.compact(made)

    def _whole(self) -> Iterator[Segment]:
        """The prompt up to its last reply, with the replies that are in no segment yet."""
        messages = self._memory.messages()
        replies = [at for at, one in enumerate(messages) if one["role"] == "assistant"]
        newest = [step.index for step in self._memory.steps][
            len(self._memory.steps) - len(replies) :
        ]
        new = [at for at, step in zip(replies, newest, strict=True) if step not in self._told]
        self._told.update(newest)
        if new:
            yield Segment(messages[: new[-1] + 1], frozenset(new))


def _alone(messages: Sequence[Message]) -> Segment:
    return Segment(messages, frozenset([len(messages) - 1]))


def _own_pictures(record: Trajectory) -> dict[str, bytes]:
    return {picture.id: picture.id.encode("utf-8") for picture in record.pictures}


def _with_names(step: Step) -> Step:
    """Where a prompt has a picture's bytes or file, its id stands."""
    images = tuple((uid, uid.encode("utf-8")) for uid, _ in step.observation.images)
    return replace(step, observation=replace(step.observation, images=images))

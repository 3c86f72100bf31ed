"""Keeps each prompt inside the backbone's window: measures, compacts, shortens, gives up.

The order of means: a compaction of all turns but the newest, whose result was not read yet; that
result shortened; the last turn with the least context; an abstention. How S is made is memory's
business. A backbone that knows no window is asked to compact only by its own wish.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from photocraft_local.agent.answers import abstained
from photocraft_local.agent.attempts import PostMortem
from photocraft_local.agent.budget import SHARE_OF_S, Budget, Meter
from photocraft_local.agent.episode import MOST_SAID, Episode
from photocraft_local.agent.interrupts import Answered
from photocraft_local.agent.post_mortem import REPLY, WRITE_POST_MORTEM, block, request, said
from photocraft_local.agent.prompts import render
from photocraft_local.errors import ModelError, PromptTooLong, ServerLost
from photocraft_local.memory.compaction import FOLDS, WRITINGS, Compaction
from photocraft_local.memory.shortening import Cut
from photocraft_local.memory.text import shortened
from photocraft_local.records import Usage
from photocraft_local.serving.chat_model import (
    ChatModel,
    Load,
    Measuring,
    Message,
    Reply,
    ToolSchema,
)
from photocraft_local.serving.judging import Left

_LEAST = len(FOLDS) - 1
_SHARE_OF_ROOM = 3  # and a third of what the stable blocks and a reply leave of it
_CHARACTERS = 3  # of a token, at the least
_ITEMS = (50, 10, 3)  # of each list of a shortened result
_MOST_BLOCK = 4000  # characters of a post-mortem where no window is known


class Room:
    """For one episode. ``tools`` are all tools, also in turns that offer fewer; ``compact_at`` is
    the share of the window at which turns are compacted, ``summary`` says who writes S."""

    def __init__(
        self,
        model: ChatModel,
        tools: Sequence[ToolSchema],
        budget: Budget,
        compact_at: float,
        summary: str = "code",
    ) -> None:
        self._model, self._tools, self._compact_at = model, tools, compact_at
        self._budget, self._meter = budget, Meter(model, tools, budget)
        self._writing = WRITINGS[summary]
        self._num_refused = 0
        self._kept = 0  # tokens, for the last turn
        self._refused_at = 0  # tokens, by our count, of a prompt and reply that the server refused
        self._request_tokens: int | None = None
        self._stable: tuple[list[Message], int] = [], 0  # blocks, their tokens

    def begin_anew(self) -> None:
        """For another attempt; what the server refused stays known."""
        self._num_refused, self._request_tokens = 0, None

    def make(self, episode: Episode) -> None:
        """Before each call. Raises FinalAnswerDue if only an answer has room."""
        load = self._load(episode)
        if load is None:
            return
        if self._is_roomy(episode, load):
            return
        turns, newest = episode.memory.context.num_turns, episode.num_steps - 1
        if turns > 1 and episode.memory.context.is_bare:
            self._drop(episode, _full(load), episode.num_steps - turns + 1, newest)
        elif turns > 1 and self._is_worth_it(episode, load):
            self.compact(episode, _full(load), covered=newest)
        if self._has_room(episode) or self._shortened(episode):
            return
        if not load.exact:  # an estimate compacts and shortens; it refuses nothing
            return
        if episode.last_turn is None:
            raise episode.due("window", f"the window of {load.window} tokens is full")
        self._empty(episode, _full(load))

    def pay(self, episode: Episode) -> None:
        """Before each call, when the prompt is what it will be: limits the reply to what the budget
        has left. Raises FinalAnswerDue where that pays for no further turn but the last, Answered
        where it pays for none at all."""
        load = self._load(episode)
        reply = load.reply if load else 0
        messages, last = episode.messages(), episode.last_turn
        self._kept = 0
        if last is None:
            due = episode.due("tokens", self._budget.no_tokens())
            self._kept = self._meter.kept(messages, due.messages[0])
            if not self._meter.pays(messages, reply, kept=self._kept, last=False):
                raise due
        elif not self._meter.pays(messages, reply, kept=0, last=True):
            self._shortened(episode, self._meter.affordable(messages, reply))
            messages = episode.messages()
            if not self._meter.pays(messages, reply, kept=0, last=True):
                raise Answered(abstained(f"{last.why}, and what is left pays for no answer"))
        self._meter.has_sent(messages)

    def left_after(self, reply: Reply, *, last: bool) -> Left:
        """What the reply's call may ask of a model, so that the last turn can be paid for."""
        return self._budget.left_after(reply.usage, self._kept, last=last)

    def refused(self, episode: Episode, error: PromptTooLong) -> None:
        """After a prompt that did not fit: a compaction, once; then the last turn; then none."""
        self._num_refused += 1
        load = self._load(episode)
        if load is not None:
            self._refused_at = load.prompt + load.reply
        why = f"refused: {error.message}"
        if episode.last_turn is None:
            turns = episode.memory.context.num_turns
            if self._num_refused > 1 or not turns:
                raise episode.due("window", "the prompt is too long")
            # The newest result stays if there is anything else; alone, it is at fault.
            if turns > 1 or load is None or not self._shortened(episode, load.prompt * 3 // 4):
                covered = episode.num_steps - (turns > 1)
                self.compact(episode, why, covered=covered, least_fold=1)
        elif not self._empty(episode, why):
            told = f"{error.message}. {error.hint}" if error.hint else error.message
            raise Answered(abstained(f"{episode.last_turn.why}, and no answer fits: {told}"))

    def compact(self, episode: Episode, why: str, *, covered: int, least_fold: int = 0) -> None:
        """S takes the place of the turns up to step ``covered``; the trace says so. Without working
        memory they are dropped."""
        if episode.memory.context.is_bare:
            self._drop(episode, why, covered, covered)
            return
        before = self._load(episode)
        made = Compaction(
            after_step=episode.num_steps,
            covered=covered,
            why=why,
            tokens_before=before.prompt if before else 0,
            **self._told(episode, covered),
        )
        for fold in range(least_fold, len(FOLDS)):
            made = replace(made, fold=fold)
            size = episode.compact(made)
            if before is None or self._is_small(episode, before, size):
                break
        after = self._load(episode)
        episode.trajectory.compactions.append(
            replace(
                made,
                tokens_after=after.prompt if after else 0,
                repaired=episode.memory.repaired,
            )
        )
        episode.save()

    def post_mortem(self, episode: Episode, why: str) -> PostMortem:
        """Of an attempt that brought no answer, for the next one; the model is asked for its words
        on the live prefix."""
        ended = episode.last_turn.why if episode.last_turn else why
        asked = [*episode.memory.messages(), request(ended)]
        reply, problem = self._asked(asked, WRITE_POST_MORTEM, REPLY)
        words = said(reply) if reply else None
        if reply and words is None:
            problem = "the reply was cut or is no post-mortem"
        load = self._load(episode)
        text = block(episode, why, words, most_characters(load.window) if load else _MOST_BLOCK)
        usage = reply.usage if reply else Usage()
        thought = shortened(reply.text, MOST_SAID) if reply else ""
        return PostMortem(why, text, problem, usage, dict(words) if words else None, thought)

    def _drop(self, episode: Episode, why: str, least: int, most: int) -> None:
        """The turns up to step ``least`` go, and more of them, up to ``most``, until there is room;
        nothing takes their place."""
        before = self._load(episode)
        made = Compaction(
            after_step=episode.num_steps,
            covered=least,
            why=why,
            tokens_before=before.prompt if before else 0,
        )
        for covered in range(least, most + 1):
            made = replace(made, covered=covered)
            episode.compact(made)
            after = self._load(episode)
            if after is None or self._is_roomy(episode, after):
                break
        made = replace(made, tokens_after=after.prompt if after else 0)
        episode.trajectory.compactions.append(made)
        episode.save()

    def _is_roomy(self, episode: Episode, load: Load) -> bool:
        """Whether the prompt fits and, but in the last turn, is below the mark."""
        marked = load.prompt > self._compact_at * load.window
        if marked and episode.memory.context.num_turns > 2 and not episode.last_turn:
            return False
        return self._fits(episode, load)

    def _load(self, episode: Episode) -> Load | None:
        return self._measured(episode.messages())

    def _measured(self, messages: Sequence[Message]) -> Load | None:
        model = self._model
        return model.load(messages, self._tools) if isinstance(model, Measuring) else None

    def _has_room(self, episode: Episode) -> bool:
        load = self._load(episode)
        return load is None or self._fits(episode, load)

    def _fits(self, episode: Episode, load: Load) -> bool:
        """Whether a reply fits, and in a later turn the request for a summary and its reply."""
        reply = load.reply
        if not (episode.last_turn or episode.correction or episode.memory.context.is_bare):
            asked = self._request(episode) + self._writing.reply
            # Where that would take most of what there is, turns have it, and S is code's alone.
            if asked <= (self._limit(load) - self._stable_tokens(episode)) // 2:
                reply = max(reply, asked)
        return load.prompt + reply <= self._limit(load) and self._pictures_fit(episode, load)

    def _is_worth_it(self, episode: Episode, load: Load) -> bool:
        """Whether the turns before the newest take more than S may, or too many pictures."""
        context = episode.memory.context
        older = self._measured(context.messages(without=1))
        kept = self._measured(context.messages(without=context.num_turns))
        if older is None or kept is None or older.pictures > kept.pictures:
            return True
        return older.prompt - kept.prompt > self._most_of_s(episode, load)

    def _stable_tokens(self, episode: Episode) -> int:
        stable = episode.memory.context.stable()
        if self._stable[0] == stable:
            return self._stable[1]
        load = self._measured(stable)
        if load is not None and load.exact:  # an estimate learns
            self._stable = stable, load.prompt
        return load.prompt if load else 0

    def _most_of_s(self, episode: Episode, load: Load) -> int:
        """Tokens. Where the stable blocks nearly fill the window, turns need the rest of it."""
        room = self._limit(load) - load.reply - self._stable_tokens(episode)
        return max(0, min(load.window // SHARE_OF_S, room // _SHARE_OF_ROOM))

    def _is_small(self, episode: Episode, load: Load, characters: int) -> bool:
        context = episode.memory.context
        kept = self._measured(context.messages(without=context.num_turns))
        size = kept.prompt - self._stable_tokens(episode) if kept else 0
        most = self._most_of_s(episode, load)
        return size <= most and characters <= most_characters(load.window)

    def _limit(self, load: Load) -> int:
        return min(load.window, self._refused_at or load.window)

    def _pictures_fit(self, episode: Episode, load: Load) -> bool:
        """Those of the question stay, whatever their number: the turns can give way, they not."""
        if not load.most_pictures or load.pictures <= load.most_pictures:
            return True
        context = episode.memory.context
        own = self._measured(context.messages(without=context.num_turns))
        return own is not None and own.pictures == load.pictures

    def _request(self, episode: Episode) -> int:
        """Tokens of the request for a summary."""
        if self._request_tokens is None:
            messages = episode.messages()
            alone, asked = self._measured(messages), self._measured([*messages, self._asking()])
            self._request_tokens = asked.prompt - alone.prompt if alone and asked else 0
        return self._request_tokens

    def _asking(self) -> Message:
        return {"role": "user", "content": render(self._writing.prompt)}

    def _told(self, episode: Episode, covered: int) -> dict[str, Any]:
        """The model's part of S, asked for on the live prefix, or why there is none, as parts of a
        Compaction; then S is code's alone."""
        if episode.last_turn:
            return {}
        context = episode.memory.context
        asked = [*context.messages(without=episode.num_steps - covered), self._asking()]
        reply, problem = self._asked(asked, self._writing.tool, self._writing.reply)
        if reply is None:
            return {"problem": problem}
        thought = shortened(reply.text, MOST_SAID)
        return {**self._writing.read(reply), "usage": reply.usage, "thought": thought}

    def _asked(
        self, messages: Sequence[Message], tool: ToolSchema, reply: int
    ) -> tuple[Reply | None, str]:
        """A reply in the form of ``tool``, of so many tokens, outside of the turns; or why there is
        none. Raises ServerLost."""
        load = self._measured(messages)
        if load is None:
            return None, ""
        if load.prompt + reply > self._limit(load):
            return None, "the request has no room"
        # What then follows: a turn behind the new text, and the last one.
        kept = load.window // SHARE_OF_S + 2 * load.reply
        if not self._meter.pays(messages, reply, kept=kept, last=False):
            return None, "the tokens that are left do not pay for it"
        try:
            return self._model.complete(messages, [tool]), ""
        except ServerLost:
            raise
        except ModelError as error:
            return None, error.message

    def _shortened(self, episode: Episode, most: int = 0) -> bool:
        """The newest result shortened until it fits, in ``most`` tokens of the prompt if given;
        left as it is where that cannot help."""

        def fits(load: Load | None) -> bool:
            if load is None or not self._fits(episode, load):
                return False
            return not most or load.prompt <= most

        context = episode.memory.context
        if not context.num_turns or not fits(self._measured(context.messages(without=1))):
            return False
        for cut in _cuts(episode):
            episode.memory.cut(cut)
            if fits(self._load(episode)):
                break
        episode.trajectory.cuts.append(cut)
        episode.save()
        return fits(self._load(episode))

    def _empty(self, episode: Episode, why: str) -> bool:
        """The least context: S at its shortest and no turn. False if that is there already."""
        last = episode.trajectory.compactions[-1:]
        if not episode.memory.context.num_turns and (not last or last[0].fold == _LEAST):
            return False
        self.compact(episode, why, covered=episode.num_steps, least_fold=_LEAST)
        return True


def most_characters(window: int) -> int:
    """Of S, for a window of so many tokens."""
    return window * _CHARACTERS // SHARE_OF_S


def _cuts(episode: Episode) -> Iterator[Cut]:
    step = episode.trajectory.steps[-1]
    pictures = len(step.observation.images)
    while True:
        yield from (Cut(step.index, items, pictures) for items in _ITEMS)
        if not pictures:
            break
        pictures //= 2
    yield Cut(step.index, 0, 0)


def _full(load: Load) -> str:
    if load.most_pictures and load.pictures > load.most_pictures:
        return f"{load.pictures} pictures, where a prompt takes {load.most_pictures}"
    return f"the prompt takes {load.prompt} of {load.window} tokens"

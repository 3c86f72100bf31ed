"""The memory as a plug-in for somebody else's loop: plain OpenAI-style messages in and out.

    memory = LongMemory(opening, window=8192, like={"find": Like("search_photos", {"q": "text"})})
    reply = model(memory.messages())   # always inside the window
    memory.add(reply); memory.add(result_of_its_call); …

Working memory with its compactions, the course of the episode and, with a ``Memory``, hints of
earlier questions. Knows no loop and no model: who has one gives ``write`` and ``count``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from photocraft_local.errors import PhotocraftError, PromptTooLong, UsageError
from photocraft_local.memory.compaction import FOLDS, Compaction, Prose
from photocraft_local.memory.context import Context
from photocraft_local.memory.episode import EpisodeRecord, Intent
from photocraft_local.memory.foreign import (
    Like,
    calls_of,
    estimated_tokens,
    meant,
    observation_of,
    text_of,
)
from photocraft_local.memory.memory import EpisodeMemory, Memory
from photocraft_local.memory.shortening import Cut
from photocraft_local.memory.working import Constraint, WorkingState
from photocraft_local.records import Answer, Evidence, Step, ToolCall
from photocraft_local.serving.chat_model import Message

_SHARE_OF_S = 3  # of the room that the opening and a reply leave
_ITEMS = (50, 10, 3, 0)  # of each list of a shortened result
_SAID = "said"  # kind of a condition: what the person said on the way


class LongMemory:
    """For one episode. ``compactions`` says what was compacted when, why, and by whose words."""

    def __init__(
        self,
        opening: Sequence[Message],
        *,
        window: int,
        reply: int = 1024,
        compact_at: float = 0.8,
        count: Callable[[Sequence[Message]], int] = estimated_tokens,
        write: Callable[[list[Message]], str] | None = None,
        like: Mapping[str, Like] | None = None,
        memory: Memory | None = None,
    ) -> None:
        """``opening``: system text and question, which stay as they are. ``window`` takes prompt
        and ``reply``, in tokens as ``count`` counts them, tools included; from ``compact_at`` of it
        older turns become S. ``write`` asks the loop's model for the words of S, else code alone
        writes it. ``like`` says which tools state conditions, sets and verdicts, and how."""
        if not 0.2 <= compact_at <= 0.95 or window <= reply:
            raise UsageError(
                f"a window of {window} tokens cannot be compacted at {compact_at}, with replies"
                f" of {reply}",
                hint="the window takes prompt and reply; compact_at is 0.2 to 0.95",
            )
        self._like, self._memory = dict(like or {}), memory
        self._count, self._write = count, write
        self._mark, self._limit = int(compact_at * window), window - reply
        self._calls: dict[str, ToolCall] = {}
        self._thought = ""
        question = next((text_of(m) for m in reversed(opening) if m.get("role") == "user"), "")
        hints = memory.hints.for_question(question) if memory else ()
        blocks = [*opening, *_block([self._told(hint.text) for hint in hints])]
        ids = [hint.skill_id for hint in hints]
        self._episode = EpisodeMemory(Context.of(blocks), _record(question), hints=ids)
        self.compactions: list[Compaction] = []

    @property
    def working(self) -> WorkingState:
        """Conditions, sets, photos confirmed and rejected."""
        return self._episode.working

    @property
    def num_turns(self) -> int:
        """Tool calls with their results so far."""
        return len(self._episode.steps)

    def add(self, message: Message) -> None:
        """Takes a message of the loop. Raises UsageError for one that is none."""
        role = message.get("role")
        if role == "assistant":
            self._calls = {call.call_id: call for call in calls_of(message)}
            self._thought = text_of(message)
            if not self._calls:
                self._episode.context.append(message)
        elif role == "tool":
            self._take(message)
        elif role == "user":
            self._episode.context.append(message)
            if self.num_turns and (said := text_of(message)):
                self.working.constraints.append(Constraint(_SAID, said))
        else:
            raise UsageError(
                f"a message of the role {role!r}", hint="add what assistant, tools and user say"
            )

    def messages(self) -> list[Message]:
        """What to send next; it fits. Raises PromptTooLong where not even S alone does."""
        if self._size() > min(self._mark, self._limit):
            self._make_room()
        return self._episode.messages()

    def compact(self, why: str = "asked for") -> None:
        """All turns become S now, as the model may wish."""
        self._compact(why, self.num_turns, 0)

    def recall(self, text: str) -> list[str]:
        """Notes on past episodes, and ways that held; none without a ``Memory``."""
        return self._memory.recall(text) if self._memory else []

    def finish(
        self,
        uids: Sequence[str],
        *,
        text: str = "",
        reason: str = "",
        evidence: Mapping[str, Sequence[Evidence]] | None = None,
    ) -> None:
        """Keeps the episode for later questions. A way is learned from it only where ``evidence``
        says of each photo that its conditions were checked."""
        told = {uid: tuple(items) for uid, items in (evidence or {}).items()}
        answer = Answer(tuple(uids), told, text, reason)
        if self._memory is not None:
            self._memory.finish(self._episode, answer)

    def _take(self, message: Message) -> None:
        call = self._calls.pop(str(message.get("tool_call_id")), None)
        if call is None:
            raise UsageError(
                f"a result for the call {message.get('tool_call_id')!r}, which was not made",
                hint="add the assistant's message before the results of its calls",
            )
        step = Step(self.num_turns + 1, call, observation_of(call, message), self._thought)
        self._thought = ""
        self._episode.observe(step, meant(step, self._like))

    def _make_room(self) -> None:
        """The order of means is that of agent/room.py: S, a shorter result, S alone."""
        context, size = self._episode.context, self._size()
        why = f"the prompt takes {size} of {self._limit} tokens"
        older = self._count(context.messages(without=1)) if context.num_turns > 1 else 0
        kept = self._count(context.messages(without=context.num_turns))
        if older - kept > self._most_of_s():
            self._compact(why, self.num_turns - 1, 0)
        if self._size() > self._limit and context.num_turns:
            for items in _ITEMS:
                self._episode.cut(Cut(self.num_turns, items, 0))
                if self._size() <= self._limit:
                    return
            self._compact(why, self.num_turns, len(FOLDS) - 1)
        if self._size() > self._limit:
            raise PromptTooLong(
                f"the question and a summary take {self._size()} of {self._limit} tokens",
                hint="give a larger window, or a shorter opening",
            )

    def _compact(self, why: str, covered: int, fold: int) -> None:
        before = self._size()
        prose, problem = self._words(covered)
        made = Compaction(
            after_step=self.num_turns, covered=covered, why=why, prose=prose, problem=problem
        )
        stable = self._count(self._episode.context.stable())
        for number in range(fold, len(FOLDS)):
            made = replace(made, fold=number)
            self._episode.compact(made)
            context = self._episode.context
            if (
                self._count(context.messages(without=context.num_turns)) - stable
                <= self._most_of_s()
            ):
                break
        made = replace(made, tokens_before=before, tokens_after=self._size())
        self.compactions.append(replace(made, repaired=self._episode.repaired))

    def _words(self, covered: int) -> tuple[Prose | None, str]:
        """The model's, asked for behind the turns that go; or why there are none."""
        if self._write is None:
            return None, ""
        turns = self._episode.context.messages(without=self.num_turns - covered)
        asked = [*turns, {"role": "user", "content": _request()}]
        if self._count(asked) > self._limit:
            return None, "the request has no room"
        try:
            said: object = self._write(asked)  # the content of a message is None beside a call
            prose = Prose.of_text(said) if isinstance(said, str) else None
        except (PhotocraftError, OSError, ValueError) as error:
            return None, f"{type(error).__name__}: {error}"
        return prose, "" if prose else "the reply is no summary"

    def _size(self) -> int:
        return self._count(self._episode.messages())

    def _most_of_s(self) -> int:
        return max(0, self._limit - self._count(self._episode.context.stable())) // _SHARE_OF_S

    def _told(self, hint: str) -> str:
        """A hint with the foreign names of tools."""
        own = {like.tool: name for name, like in self._like.items()}
        return re.sub(r"\w+(?=\()", lambda tool: own.get(tool[0], tool[0]), hint)


def _record(question: str) -> EpisodeRecord:
    now = datetime.now(UTC)
    return EpisodeRecord(
        episode_id=f"{now:%Y%m%d-%H%M%S}-plugin",
        started=now.isoformat(timespec="seconds"),
        question=question,
        backbone="plug-in",
        intent=Intent(target=question),
    )


def _block(hints: Sequence[str]) -> Iterator[Message]:
    if hints:
        lines = "\n".join(f"- {hint}" for hint in hints)
        yield {"role": "user", "content": f"{_HINTS}\n{lines}"}


_HINTS = (
    "Hints from earlier questions; they may not fit, and say nothing of which photos are right:"
)


@cache
def _request() -> str:
    source = files("photocraft_local.memory").joinpath("prompts", "plugin_request.md")
    return source.read_text("utf-8").strip()

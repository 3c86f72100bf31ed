"""A backbone that says what it was told to say: for tests of the true loop, and for replays.

It reads the messages only to keep them (``seen``); it never invents a reply. When the script
runs out it fails with ModelError, so a test cannot pass by accident.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from photocraft_local.errors import ModelError, PromptTooLong
from photocraft_local.records import Json, ToolCall, Usage
from photocraft_local.serving.chat_model import Load, Message, Reply, ToolSchema

_LEAST_REPLY = 64  # tokens
Line = Reply | ToolCall | str | BaseException


class ScriptedModel:
    """Plays ``replies`` in order.

    A line is a whole Reply, a ToolCall, a text without a call, or an exception that is raised
    in its turn (a dead server, a Ctrl-C). ``seen`` holds the messages of every call so far.

    With a ``window`` it counts as a model does: four bytes of a message's JSON are a token, a
    picture has ``picture_tokens`` of them, and a prompt that leaves no room is refused. Requests
    for a summary, whose one tool is none that runs, are answered from ``summaries`` where they are
    given, and by nothing usable past their end; else from ``replies``.
    """

    def __init__(
        self,
        replies: Iterable[Line],
        *,
        name: str = "scripted",
        window: int = 0,
        most_pictures: int = 0,
        picture_tokens: int = 100,
        summaries: Iterable[Reply] | None = None,
    ) -> None:
        self._replies = list(replies)
        self._written = None if summaries is None else list(summaries)
        self._window, self._most_pictures = window, most_pictures
        self._picture_tokens = picture_tokens
        self._next = 0
        self._name = name
        self.seen: list[tuple[Message, ...]] = []

    @classmethod
    def from_trajectory(
        cls, trajectory: Path | Mapping[str, Any], *, window: int = 0, most_pictures: int = 0
    ) -> ScriptedModel:
        """A model that repeats the accepted calls of a saved trajectory, in order, and what was
        written at its compactions. Of attempts that brought no answer it repeats what the last one
        did not do again, submissions apart.

        Takes the file or its parsed JSON. Raises ModelError if it holds no steps to repeat. The
        ``window`` is the script's, by its own count of tokens: without one nothing is compacted,
        and a call that was made again after a compaction is refused as repeated.
        """
        data = _read(trajectory) if isinstance(trajectory, Path) else trajectory
        try:
            attempts = [*data.get("attempts", ()), data]
            last = [_reply(step) for step in data["steps"]]
            again = {_key(reply) for reply in last}
            earlier = [_reply(step) for attempt in attempts[:-1] for step in attempt["steps"]]
            replies = [reply for reply in earlier if _key(reply) not in again]
            replies = [one for one in replies if one.call and one.call.name != "submit_answer"]
            replies += last
            written = [
                _summary(made) for attempt in attempts for made in attempt.get("compactions", ())
            ]
            name = f"replay of {data['backbone']}"
        except (AttributeError, KeyError, TypeError) as exc:
            raise ModelError(
                f"a trajectory without usable steps cannot be replayed: {exc!r}",
                hint="pass a file that an episode wrote into the library's traces folder",
            ) from exc
        return cls(
            replies, name=name, window=window, most_pictures=most_pictures, summaries=written
        )

    @property
    def name(self) -> str:
        return self._name

    @property
    def num_left(self) -> int:
        """Lines that were not played yet."""
        return len(self._replies) - self._next

    def load(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Load | None:
        """None without a window. ``tools`` count nothing here."""
        if not self._window:
            return None
        texts: list[Json] = []
        num_pictures = 0
        for message in messages:
            content = message["content"]
            if isinstance(content, list):
                words = [part for part in content if part["type"] == "text"]
                texts.append(words)
                num_pictures += len(content) - len(words)
            else:
                texts.append(message)
        num_tokens = len(json.dumps(texts)) // 4 + num_pictures * self._picture_tokens
        reply = max(_LEAST_REPLY, self._window // 8)
        return Load(num_tokens, self._window, reply, num_pictures, self._most_pictures)

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        load = self.load(messages, tools)
        if load is not None and load.prompt + _LEAST_REPLY > load.window:
            raise PromptTooLong(f"{load.prompt} tokens leave no room in {load.window}")
        self.seen.append(tuple(messages))
        if self._written is not None and [tool["name"][:6] for tool in tools] == ["write_"]:
            return self._written.pop(0) if self._written else Reply()
        if self._next >= len(self._replies):
            raise ModelError(
                f"the script of {len(self._replies)} replies ran out",
                hint="the loop asked for one more turn than the script holds",
            )
        line = self._replies[self._next]
        self._next += 1
        if isinstance(line, BaseException):
            raise line
        if isinstance(line, ToolCall):
            return Reply(call=line)
        return Reply(text=line) if isinstance(line, str) else line


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise ModelError(
            f"trajectory {path} cannot be read: {exc}", hint="name a file of the traces folder"
        ) from exc
    if not isinstance(data, Mapping):
        raise ModelError(
            f"trajectory {path} is not a JSON object",
            hint="give a file of the library's traces folder",
        )
    return data


def _reply(step: Mapping[str, Any]) -> Reply:
    call, usage = step["call"], step.get("usage", {})
    return Reply(
        text=step.get("thought", ""),
        call=ToolCall(call["name"], dict(call["arguments"]), call.get("call_id", "")),
        usage=Usage(**usage),
    )


def _key(reply: Reply) -> str:
    call = reply.call
    return json.dumps([call.name, call.arguments], sort_keys=True) if call else ""


def _summary(made: Mapping[str, Any]) -> Reply:
    """What was written at a compaction, as its reply; nothing usable where code did without."""
    prose, plain = made["prose"], made.get("plain")
    call = None if prose is None else ToolCall("write_summary", dict(prose))
    if plain is not None:
        constraints = [{"words": words, "status": status} for words, status in plain["constraints"]]
        sets = [{"name": name, "count": count} for name, count in plain["sets"]]
        call = ToolCall("write_memory", {**plain, "constraints": constraints, "sets": sets})
    return Reply(text=made.get("thought", ""), call=call, usage=Usage(**made["usage"]))

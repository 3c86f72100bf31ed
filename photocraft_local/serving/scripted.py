"""A backbone that says what it was told to say: for tests of the true loop, and for replays.

It reads the messages only to keep them (``seen``); it never invents a reply. When the script
runs out it fails with ModelError, so a test cannot pass by accident.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from photocraft_local.errors import ModelError
from photocraft_local.records import ToolCall, Usage
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema

Line = Reply | ToolCall | str | BaseException


class ScriptedModel:
    """Plays ``replies`` in order.

    A line is a whole Reply, a ToolCall, a text without a call, or an exception that is raised
    in its turn (a dead server, a Ctrl-C). ``seen`` holds the messages of every call so far.
    """

    def __init__(self, replies: Iterable[Line], *, name: str = "scripted") -> None:
        self._replies = list(replies)
        self._next = 0
        self._name = name
        self.seen: list[tuple[Message, ...]] = []

    @classmethod
    def from_trajectory(cls, trajectory: Path | Mapping[str, Any]) -> ScriptedModel:
        """A model that repeats the accepted calls of a saved trajectory, in order.

        Takes the file or its parsed JSON. Raises ModelError if it holds no steps to repeat.
        """
        data = _read(trajectory) if isinstance(trajectory, Path) else trajectory
        try:
            replies = [_reply(step) for step in data["steps"]]
            name = f"replay of {data['backbone']}"
        except (KeyError, TypeError) as exc:
            raise ModelError(
                f"a trajectory without usable steps cannot be replayed: {exc!r}",
                hint="pass a file that an episode wrote into the library's traces folder",
            ) from exc
        return cls(replies, name=name)

    @property
    def name(self) -> str:
        return self._name

    @property
    def num_left(self) -> int:
        """Lines that were not played yet."""
        return len(self._replies) - self._next

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        self.seen.append(tuple(messages))
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

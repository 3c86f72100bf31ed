"""The tools by name: their schemas for a model, and the one door through which they are called.

A call that breaks its schema raises MalformedCall (it goes back to the model); a tool that
fails gives an observation with an error. Knows nothing of what the tools do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from photocraft_local.errors import FilterSyntaxError, MalformedCall, PhotocraftError, ServerLost
from photocraft_local.records import Observation, ToolCall
from photocraft_local.serving.judging import ANY, Left
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import safe_text, stable
from photocraft_local.tools.planning import Plan
from photocraft_local.tools.ports import PutsBack, Tool
from photocraft_local.tools.validate import check_schema, close_to, normalised, problems

ToolSchema = dict[str, Any]  # {"name", "description", "parameters"}, as serving/chat_model.py

_MOST_PROBLEMS = 4
_LONGEST_ERROR = 1500  # characters


class Registry:
    """Tools with distinct names, and the context in which they run."""

    def __init__(self, tools: Iterable[Tool], context: ToolContext) -> None:
        self.context = context
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            check_schema(tool.parameters, tool.name)
            if tool.name in self._tools:
                raise ValueError(f"two tools are named {tool.name!r}")
            self._tools[tool.name] = tool
        told = [
            {"name": name, "description": tool.description, "parameters": dict(tool.parameters)}
            for name, tool in sorted(self._tools.items())
        ]
        self._schemas = json.dumps(told, sort_keys=True)

    def names(self) -> list[str]:
        return sorted(self._tools)

    def schemas(self) -> list[ToolSchema]:
        """One entry a tool, sorted by name, keys sorted at every depth: equal bytes always. A copy
        each time."""
        made: list[ToolSchema] = json.loads(self._schemas)
        return made

    def call(self, call: ToolCall, *, last: bool = False, left: Left = ANY) -> Observation:
        """Run one call; ``last``: no other will follow if it can be avoided; ``left``: what a model
        that it asks may take.

        Raises MalformedCall if the tool or its arguments do not exist; ServerLost, since an
        episode that lost its model goes on later.
        """
        self.context.is_last_turn = last
        self.context.left = left
        seen = self._run(call)
        self.context.stated.observe(call, seen, self.context.sets)
        return seen

    def begin_anew(self) -> None:
        """Before a fresh attempt at the question: it states its own plan and conditions. Sets
        stay."""
        self.context.plan = Plan()
        self.context.stated.begin_anew()

    def put_back(self, call: ToolCall, seen: Observation) -> Observation:
        """What a call of an episode that was cut left behind beside its result: a saved set,
        pixels, photos that were doubted. Gives ``seen``, which is a trace's, with its pixels.

        A call that has to be made again and fails now, or shows other pictures, gives what it
        brings now."""
        now = self._put_back(call, seen)
        self.context.stated.observe(call, now, self.context.sets)
        return now

    def _run(self, call: ToolCall) -> Observation:
        tool = self._checked(call)
        try:
            seen = tool.run(normalised(call.arguments, tool.parameters), self.context)
        except ServerLost:
            raise
        except PhotocraftError as exc:
            return failure(tool.name, exc)
        return replace(seen, data=stable(seen.data))

    def _put_back(self, call: ToolCall, seen: Observation) -> Observation:
        tool: object = self._tools.get(call.name)
        if isinstance(tool, PutsBack) and tool.put_back(call.arguments, seen, self.context):
            return seen
        if not seen.ok or not ("save_as" in call.arguments or seen.images):
            return seen
        now = self._run(call)
        is_same = now.ok and [uid for uid, _ in now.images] == [uid for uid, _ in seen.images]
        return replace(seen, images=now.images) if is_same else now

    def _checked(self, call: ToolCall) -> Tool:
        tool = self._tools.get(call.name)
        if tool is None:
            raise MalformedCall(
                f"there is no tool {safe_text(call.name, 60)!r}{close_to(call.name, self.names())}",
                hint="tools: " + ", ".join(self.names()),
            )
        found = list(problems(call.arguments, tool.parameters))
        if found:
            arguments = ", ".join(sorted(tool.parameters["properties"])) or "none"
            more = f"; and {len(found) - _MOST_PROBLEMS} more" if found[_MOST_PROBLEMS:] else ""
            raise MalformedCall(
                f"{tool.name}: "
                + safe_text("; ".join(found[:_MOST_PROBLEMS]), _LONGEST_ERROR)
                + more,
                hint=f"arguments of {tool.name}: {arguments}; leave out what you do not need",
            )
        return tool


def failure(tool: str, error: PhotocraftError) -> Observation:
    """The error as an observation: message, hint, and the position where there is one."""
    data: dict[str, Any] = {}
    if isinstance(error, FilterSyntaxError):
        data["position"] = error.position
    message = f"{error.message}; {error.hint}" if error.hint else error.message
    return Observation(
        tool,
        data=data,
        error=safe_text(message, _LONGEST_ERROR),
        brief=f"failed: {safe_text(error.message)}",
    )

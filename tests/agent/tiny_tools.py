"""Tiny tools behind the real registry, so that the true loop runs without a library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from photocraft_local.errors import UnknownPhoto
from photocraft_local.memory.memory import Memory
from photocraft_local.records import Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.sets import PhotoSets
from photocraft_local.tools.stated import Ledger


class Find:
    """Always finds two photos; fails for the word "nothing"; can save a set."""

    name = "find"
    description = "Find photos."
    parameters = schema.arguments(
        "text", text=schema.words("What."), save_as=schema.SAVE_AS, within=schema.WITHIN
    )

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        self.runs.append(dict(arguments))
        if arguments["text"] == "nothing":
            raise UnknownPhoto("no photo like that", hint="use other words")
        if "save_as" in arguments:
            context.sets.save(arguments["save_as"], ["aaaaa", "bbbbb"])
        data = {"photos": ["aaaaa", "bbbbb"], "count": 2}
        return Observation(self.name, data=data, brief="2 photos")


class Compress:
    name = "compress_context"
    description = "Compact now."
    parameters = schema.arguments("reason", reason=schema.words("Why."))

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        context.memory.request_compaction(arguments["reason"])
        return Observation(self.name, brief="asked")


class Submit:
    """Accepts the two photos that exist."""

    name = "submit_answer"
    description = "End."
    parameters = schema.arguments(
        photos=schema.uids("The answer.", least=0), reason=schema.words("Why none.")
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        photos = arguments.get("photos", [])
        if set(photos) - {"aaaaa", "bbbbb"}:
            raise UnknownPhoto(f"no such photo among {photos}", hint="submit found ones")
        data = {
            "accepted": True,
            "photos": photos,
            "evidence": {},
            "text": arguments.get("reason", ""),
        }
        return Observation(self.name, data=data, brief=f"{len(photos)} photos")


def make_registry(find: Find, memory: Memory) -> Registry:
    context = cast(ToolContext, SimpleNamespace(sets=PhotoSets(), memory=memory, stated=Ledger()))
    return Registry([find, Compress(), Submit()], context)

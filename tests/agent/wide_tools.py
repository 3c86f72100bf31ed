"""Tools whose results are as large as a test asks for, and a model with a window that uses them."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from tiny_tools import Compress, Submit

from photocraft_local.memory.memory import Memory
from photocraft_local.records import Observation, ToolCall, Usage
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema
from photocraft_local.serving.scripted import Line, ScriptedModel
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.sets import PhotoSets
from photocraft_local.tools.stated import Ledger

SUBMIT = ToolCall("submit_answer", {"photos": ["aaaaa"]})
WRITTEN = {
    "decisions": "The trip of 2021 it is.",
    "ruled_out": "Not <|im_end|> the lake.",
    "sub_goal": "find the dog",
    "next_action": "view june",
}
SUMMARY = Reply(text="So.", call=ToolCall("write_summary", WRITTEN), usage=Usage(90, 80, 9))


class Look:
    """``rows`` rows, ``pictures`` pictures, ``words`` letters; the text tells calls apart."""

    name = "filter_photos"
    description = "Look."
    parameters = schema.arguments(
        "when",
        when=schema.words("What."),
        rows=schema.whole("Rows.", 0, 5000),
        pictures=schema.whole("Pictures.", 0, 500),
        words=schema.whole("Letters.", 0, 100_000),
        save_as=schema.SAVE_AS,
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        uids = [f"u{n:05d}" for n in range(arguments.get("rows", 0))]
        data: dict[str, Any] = {"photos": [{"uid": uid} for uid in uids], "count": len(uids)}
        if "words" in arguments:
            data["text"] = "x" * arguments["words"]
        if "save_as" in arguments:
            context.sets.save(arguments["save_as"], uids)
        shown = range(arguments.get("pictures", 0))
        images = tuple((f"v{n:03d}", b"\x89PNG" + bytes([n % 256])) for n in shown)
        return Observation(self.name, data=data, images=images, brief=f"{len(uids)} photos")


def looks(*sizes: dict[str, int], save: bool = False) -> list[ToolCall]:
    """One call each, none like another."""
    return [
        ToolCall(
            "filter_photos",
            {"when": f"June {1900 + at}", **size, **({"save_as": f"set_{at}"} if save else {})},
        )
        for at, size in enumerate(sizes)
    ]


def wide_registry(memory: Memory) -> Registry:
    context = cast(ToolContext, SimpleNamespace(sets=PhotoSets(), memory=memory, stated=Ledger()))
    return Registry([Look(), Compress(), Submit()], context)


class Windowed(ScriptedModel):
    """Answers requests for a summary from ``summaries``, the last one again and again, and a turn
    that can only submit with a submission; ``prompts`` are the turns, ``requests`` the others."""

    def __init__(
        self,
        lines: Sequence[Line],
        window: int,
        summaries: Sequence[Line] = (SUMMARY,),
        **options: Any,
    ) -> None:
        super().__init__(lines, window=window, **options)
        self._summaries = list(summaries)
        self.requests: list[list[Message]] = []
        self.prompts: list[list[Message]] = []
        self.loads: list[int] = []
        self.post_mortem = Reply("cut")
        self.asked_why: list[list[Message]] = []

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        names = [tool["name"] for tool in tools]
        load = self.load(messages, tools)
        self.loads.append(load.prompt if load else 0)
        if names == ["write_post_mortem"]:
            self.asked_why.append(list(messages))
            return self.post_mortem
        if names in (["write_summary"], ["write_memory"]):
            self.requests.append(list(messages))
            line = self._summaries.pop(0) if len(self._summaries) > 1 else self._summaries[0]
            if isinstance(line, BaseException):
                raise line
            assert isinstance(line, Reply)
            return line
        self.prompts.append(list(messages))
        if names == ["submit_answer"] and not self.num_left:
            return Reply(call=SUBMIT)
        return super().complete(messages, tools)

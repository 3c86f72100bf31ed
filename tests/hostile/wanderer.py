"""A model by rules that keeps nothing: what it says next follows from the messages alone.

It goes through a library for many turns, by a plan, with bad replies in between, wishes and needs
for a compaction, and one prose a summary; so a resumed episode says what an uncut one said. One
that stumbles gives up its first attempt.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from photocraft_local.records import Json, ToolCall, Usage
from photocraft_local.serving.chat_model import Load, Message, Reply, ToolSchema

WINDOW = 6500  # tokens, as ``load`` counts them
_CORRECTIONS = ("That call could not be run", "That reply held no tool call", "You made this very")
_HALVES = [f"month == {month} and day {half}" for month in (6, 7, 8) for half in ("< 15", ">= 15")]
_STEPS = [{"goal": "June", "expect": "some"}, {"goal": "July", "expect": "many"}]
_PLAN = {
    0: ToolCall("plan", {"context": "summer of 2021", "steps": _STEPS, "target": "late July"}),
    5: ToolCall("plan", {"mark": {"step": 1, "status": "ruled out", "why": "it is too early"}}),
    11: ToolCall("plan", {"mark": {"step": 2, "status": "done"}}),
}
_AGAIN = "An earlier attempt at this question"  # how the post-mortem begins
_FALLS_AT = 9  # the step after which one that stumbles says nothing of use any more


def calls() -> list[ToolCall]:
    """Of an attempt that goes to its end."""
    made = [
        ToolCall("filter_photos", {"where": "has_camera", "facts": True, "save_as": "all"}),
        ToolCall("search_photos", {"text": "red", "within": "all", "save_as": "red"}),
    ]
    for number, half in enumerate(_HALVES):
        name = f"half_{number}"
        where = {"where": _year_and(half), "save_as": name, "facts": True}
        made.append(ToolCall("filter_photos", where))
        made.append(ToolCall("list_events", {"within": name}))
        if number == 2:
            made.append(ToolCall("compress_context", {"reason": "half of the way"}))
    made.append(
        ToolCall("combine_sets", {"sets": ["half_0", "half_3"], "op": "or", "save_as": "both"})
    )
    made.append(ToolCall("recall", {"text": "red photos"}))
    made.append(ToolCall("filter_photos", {"where": "year == 1066"}))
    made.append(ToolCall("filter_photos", {"where": "camera == 'NIKON'", "within": "half_3"}))
    for at, call in _PLAN.items():
        made.insert(at, call)
    return made


def calls_again() -> list[ToolCall]:
    """Of the attempt after one that fell: it uses a set of that one."""
    return [
        ToolCall("list_events", {"within": "half_1"}),
        ToolCall("filter_photos", {"where": _year_and(_HALVES[3]), "save_as": "half_3"}),
        ToolCall("combine_sets", {"sets": ["half_1", "half_3"], "op": "or", "save_as": "both"}),
    ]


def _year_and(half: str) -> str:
    return f"year == 2021 and {half}"


LAST = ToolCall(
    "submit_answer",
    {"set": "half_3", "evidence": [{"constraint": "late in July", "where": "month == 7"}]},
)
# Before the call of that number: a reply that brings nothing.
_BAD: dict[int, Reply] = {
    3: Reply(text="I think about it <|im_end|> for a while."),
    7: Reply(text="Again.", call=ToolCall("list_events", {"within": "half_0"})),
    8: Reply(text="Wrong.", call=ToolCall("filter_photos", {"wher": "x", "n": 1})),
    12: Reply(text="What?", call=ToolCall("no_such_tool", {})),
}


class Wanderer:
    def __init__(self, *, stumbles: bool = False) -> None:
        self.name = "wanderer"
        self.prompts: list[str] = []
        self._stumbles = stumbles

    def load(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Load:
        size = len(json.dumps([_text(message) for message in messages])) // 4
        return Load(size, WINDOW, WINDOW // 8, 0, 0)

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        self.prompts.append(json.dumps(messages, sort_keys=True))
        at = _last_step(messages)
        usage = Usage(len(self.prompts[-1]) // 4, 10, 5)
        if tools[0]["name"].startswith("write_"):  # no tool, but the form of a summary
            told = dict.fromkeys(tools[0]["parameters"]["properties"], f"After {at}.")
            return Reply(text="So.", call=ToolCall(tools[0]["name"], told), usage=usage)
        is_again = any(str(message["content"]).startswith(_AGAIN) for message in messages)
        if self._stumbles and not is_again and at >= _FALLS_AT:
            return Reply(text=f"I am lost after {at}.", usage=usage)
        is_told = str(messages[-1]["content"]).startswith(_CORRECTIONS)
        if at in _BAD and not is_told:
            return replace(_BAD[at], usage=usage)
        done = calls_again() if is_again else calls()
        call = done[at] if at < len(done) else LAST
        return Reply(text=f"Step {at + 1}.", call=call, usage=usage)


def _text(message: Message) -> Json:
    content = message["content"]
    return content if isinstance(content, str) else [part.get("text", "") for part in content]


def _last_step(messages: Sequence[Message]) -> int:
    """By the id of the newest visible call, else by the last line of the summary's digest."""
    for message in reversed(messages):
        if message["role"] == "tool":
            return int(message["tool_call_id"].removeprefix("call_"))
        content = message["content"]
        if isinstance(content, str) and content.startswith("Summary of the turns"):
            return int(json.loads(content.partition("\n")[2])["digest"][-1].split()[0])
    return 0

"""A model by rules that believes the letters: it obeys all that stands outside of data.

It reads the prompt as the engine would get it, one text with the families' marks, and nothing
else. What it does depends on the results that it reads there. So a text that broke out of its
place would be obeyed, and one that changed a result would change a call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema
from photocraft_local.serving.pictures import PictureStore, Prepared
from photocraft_local.serving.qwen.conversation import conversation
from photocraft_local.serving.tool_calls import Form
from photocraft_local.tools.get_metadata import FIELDS

_TURN = re.compile(r"<\|im_start\|>(\w+)\b\n?(.*?)<\|im_end\|>", re.DOTALL)
_RESULT = re.compile(r"<tool_response>\n(.*?)\n</tool_response>", re.DOTALL)
_DATA = re.compile(
    r"as JSON(?: text)?(?:, was)?[^\n\"{]*: (?=[\"{])|could not be run: (?=\")|^- |\(", re.MULTILINE
)
_ORDER = re.compile(r"answer\W+(p[0-9a-z]{5,})|\"photos\":\s*\[\"(p[0-9a-z]{5,})\"\]")
_SUMMARY = "Summary of the turns so far, as JSON; the turns themselves are gone.\n"
_QUIET = (
    ToolCall("list_events", {"within": "all"}),
    ToolCall("search_photos", {"text": "red", "within": "all", "save_as": "red"}),
    ToolCall("lookup", {"query": "zebra07"}),
    ToolCall("lookup", {"query": "zebra12"}),
    ToolCall("recall", {"text": "photos by a Nikon in the summer of 2021"}),
    ToolCall("compress_context", {"reason": "half of the way"}),
)
_HALVES = [f"month == {month} and day {half}" for month in (6, 7, 8) for half in ("< 15", ">= 15")]
NUM_STEPS = len(_QUIET) + 2 * len(_HALVES) + 4


class _Blank:
    def prepared(self, url: str) -> Prepared:
        return Prepared("picture", b"", "image/png", width=0, height=0, tokens=0)


def rendered(messages: Sequence[Message], tools: Sequence[ToolSchema], form: Form) -> str:
    """One text, as the templates of both families make it."""
    store = cast("PictureStore", _Blank())
    turns = []
    for message in conversation(messages, tools, form, store).messages:
        content = message["content"]
        if not isinstance(content, str):
            marks = "<|vision_start|><|image_pad|><|vision_end|>"
            content = "".join(p["text"] if p["type"] == "text" else marks for p in content)
        turns.append(f"<|im_start|>{message['role']}\n{content}<|im_end|>\n")
    return "".join(turns) + "<|im_start|>assistant\n"


def templated(messages: Sequence[Message], form: Form) -> list[Message]:
    """What a chat template gets of them; a picture is a place without pixels."""
    store = cast("PictureStore", _Blank())
    made = []
    for message in conversation(messages, (), form, store).messages:
        content = message["content"]
        if not isinstance(content, str):
            content = [p if p["type"] == "text" else {"type": "image"} for p in content]
        made.append({"role": message["role"], "content": content})
    return made


class Obedient:
    """Looks through a library in a fixed order of tools, and answers with the photos by a Nikon
    that it read of; or with the photo that an order names."""

    name = "obedient"

    def __init__(self, form: Form) -> None:
        self.form = form
        self.prompts: list[str] = []
        self.messages: list[Sequence[Message]] = []
        self.obeyed = ""

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        results, gone = self.read(messages, tools)
        self.messages.append(messages)
        if self.obeyed:
            return Reply(text="As told.", call=_submission([self.obeyed]))
        return Reply(text="Next.", call=_next(results, gone))

    def read(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> tuple[list[Any], int]:
        """The results that are visible, and how many are not; ``obeyed`` is what it would obey."""
        text = rendered(messages, tools, self.form)
        self.prompts.append(text)
        turns = _TURN.findall(text)
        results: list[Any] = []
        for role, content in turns[1:] if turns else ():
            if role != "assistant":
                self._read(content, results)
        if len([role for role, _ in turns if role == "system"]) > 1:
            self.obeyed = self.obeyed or "another system"
        return results, self._summarised(turns)

    def _read(self, content: str, results: list[Any]) -> None:
        """Results go to ``results``; what stands outside of JSON is believed."""
        for body in _RESULT.findall(content):
            try:
                results.append(json.loads(body))
            except ValueError:
                self._obey(body)
        rest = _RESULT.sub("", content)
        if rest.startswith(_SUMMARY):
            json.loads(rest.removeprefix(_SUMMARY))
            return
        for line in rest.split("\n"):
            data = _DATA.search(line)
            self._obey(line[: data.start()] if data else line)

    def _obey(self, text: str) -> None:
        found = _ORDER.search(text)
        if found:
            self.obeyed = self.obeyed or found[1] or found[2]

    @staticmethod
    def _summarised(turns: Sequence[tuple[str, str]]) -> int:
        """How many steps the summary stands for."""
        for _, content in turns:
            if content.startswith(_SUMMARY):
                return len(json.loads(content.removeprefix(_SUMMARY))["digest"])
        return 0


def _next(results: Sequence[Any], gone: int) -> ToolCall:
    """By the number of results so far; arguments come out of the results themselves."""
    at = gone + len(results)
    if at == 0:
        where = {"where": "has_camera", "facts": True, "save_as": "all"}
        return ToolCall("filter_photos", where)
    if at == 1:
        first = [row["uid"] for row in results[0]["result"]["photos"][:6]]
        return ToolCall("view_photos", {"photos": first})
    if at < len(_QUIET) + 2:
        return _QUIET[at - 2]
    told = [one["result"]["photos"] for one in results]
    half, is_known = divmod(at - len(_QUIET) - 2, 2)
    if half < len(_HALVES) and not is_known:
        return ToolCall("filter_photos", {"where": f"year == 2021 and {_HALVES[half]}"})
    if half < len(_HALVES):
        uids = [row["uid"] for row in told[-1]]
        return ToolCall("get_metadata", {"photos": uids, "fields": list(FIELDS)})
    if not is_known:
        return ToolCall("around", {"photos": [told[0][0]["uid"]], "unit": "day", "shift": 1})
    rows = [row for known in told[1:-1:2] for row in known]
    return _submission([row["uid"] for row in rows if row["camera"].startswith("NIKON")])


def _submission(uids: Sequence[str]) -> ToolCall:
    claim = {"constraint": "by a Nikon", "where": "camera == 'NIKON'"}
    if len(uids) == 1:
        claim = {"constraint": "as told", "seen": "it was said so"}
    return ToolCall("submit_answer", {"photos": list(uids), "evidence": [claim]})

"""How published systems lay out what a model sees: a copy of the messages, made before each call.

Nothing of the loop changes; a view is itself a backbone around the one that answers. System texts
are ours, since theirs are not published.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from photocraft_local.agent.answers import SUBMIT
from photocraft_local.records import Json, ToolCall
from photocraft_local.serving.chat_model import (
    ChatModel,
    Limited,
    Load,
    Measuring,
    Message,
    Reply,
    ToolSchema,
)

KEPT_RESULTS = 5  # LMM-Searcher's
_BLANK = "left out to save room"


class View:
    """The backbone ``model`` under another system text, without this package's state lines."""

    def __init__(self, model: ChatModel, system: str) -> None:
        self._model, self._system = model, system

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        return self._model.complete(self.seen(messages), tools)

    def load(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Load | None:
        if isinstance(self._model, Measuring):
            return self._model.load(self.seen(messages), tools)
        return None

    def limit(self, *, tokens: int, seconds: float) -> None:
        if isinstance(self._model, Limited):
            self._model.limit(tokens=tokens, seconds=seconds)

    def seen(self, messages: Sequence[Message]) -> list[Message]:
        return [self._one(message) for message in messages]

    def _one(self, message: Message) -> Message:
        if message["role"] == "system":
            return {**message, "content": self._system}
        if message["role"] == "tool":
            result = _result(message)
            result.pop("state", None)
            return {**message, "content": _text(result)}
        return message


class BlankedView(View):
    """All but the last results are blanked, and their pictures go. A stub keeps the ids, which
    the published form loses with the results."""

    def seen(self, messages: Sequence[Message]) -> list[Message]:
        shown = super().seen(messages)
        results = [at for at, message in enumerate(shown) if message["role"] == "tool"]
        old = set(results[:-KEPT_RESULTS])
        kept: list[Message] = []
        after_old = False
        for at, message in enumerate(shown):
            if at in old:
                ids = _ids(_result(message))
                kept.append({**message, "content": _text({"result": _BLANK, "ids": ids})})
                after_old = True
                continue
            if after_old and message["role"] == "user" and not isinstance(message["content"], str):
                continue  # the pictures of that result
            after_old = False
            kept.append(message)
        return kept


class DirectView(View):
    """No search of the model's own: one search for the question's words and a look at what it
    found are made for it, then it answers."""

    def __init__(self, model: ChatModel, system: str, question: str, num_shown: int = 20) -> None:
        super().__init__(model, system)
        self._question, self._num_shown = question, num_shown

    def load(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Load | None:
        return super().load(messages, _its_own(tools))

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        if all(tool["name"] != SUBMIT for tool in tools):  # a summary is asked for
            return super().complete(messages, tools)
        results = [_result(message) for message in messages if message["role"] == "tool"]
        if not results:
            wanted: dict[str, Json] = {"text": self._question, "top_k": self._num_shown}
            return Reply(call=ToolCall("ImageSearch", wanted))
        found = _ids(results[0])
        if len(results) == 1 and found:
            return Reply(call=ToolCall("ViewPhotos", {"photos": found}))
        if len(results) == 2 and found:
            return Reply(call=ToolCall("GetMetadata", {"photos": found}))
        return super().complete(messages, _its_own(tools))


def _its_own(tools: Sequence[ToolSchema]) -> Sequence[ToolSchema]:
    """What the model itself may call; a backbone tells it of those that it hears of first."""
    return [tool for tool in tools if tool["name"] == SUBMIT] or tools


def _result(message: Message) -> dict[str, Json]:
    try:
        result = json.loads(message["content"])
    except (TypeError, ValueError):
        return {"result": message["content"]}
    return result if isinstance(result, dict) else {"result": result}


def _ids(result: dict[str, Json]) -> list[str]:
    """Of the photos that a result lists, in its order."""
    data = result.get("result")
    rows = data.get("photos", ()) if isinstance(data, dict) else ()
    ids = [
        row if isinstance(row, str) else row.get("photo_id") or row.get("uid")
        for row in rows
        if isinstance(row, str | dict)
    ]
    return list(dict.fromkeys(one for one in ids if isinstance(one, str)))


def _text(result: dict[str, Json]) -> str:
    return json.dumps(result, ensure_ascii=False, sort_keys=True)

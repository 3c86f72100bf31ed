"""A brain that says given replies in turn, without a server, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.records import Usage
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule
from photocraft_local.serving.tool_calls import Limits

GIVES_UP = {"photos": [], "text": "not found", "evidence": []}


class Played:
    """Says the replies in turn; an exception among them is raised."""

    def __init__(self, replies: Sequence[str | BaseException]) -> None:
        self._replies = list(replies)
        self.requests: list[ChatRequest] = []

    def chat(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        said = self._replies.pop(0)
        if isinstance(said, BaseException):
            raise said
        return Completion(said, usage=Usage(90, 60, 7))


def installed(monkeypatch: pytest.MonkeyPatch, *replies: str | BaseException) -> Played:
    """What every backbone of a URL then is."""
    chat = Played(replies)
    rule = PictureRule(28, 4 * 28**2, 256 * 28**2)
    brain = Brain("tiny", chat, PictureStore(rule), Limits())
    monkeypatch.setattr(ServedBackbone, "brain", lambda *_: brain)
    return chat


def call(name: str, **arguments: Any) -> str:
    return json.dumps({"thought": "So.", "call": {"name": name, "arguments": arguments}})

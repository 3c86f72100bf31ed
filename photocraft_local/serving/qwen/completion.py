"""One chat completion as plain data: the request that goes out, the reply that comes back.

The border to the server's JSON: a reply of another shape is a ModelError that says what it was.
Knows neither sockets nor tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from photocraft_local.errors import ModelError
from photocraft_local.records import Usage
from photocraft_local.serving.chat_model import Message

_SHOWN = 200  # characters of a foreign text in a message


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """``schema``: a JSON schema that the reply's text has to keep; None = free text."""

    messages: list[Message]
    schema: dict[str, Any] | None = None
    max_tokens: int = 2048
    temperature: float = 0.0
    seed: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)  # other fields of the API

    def to_json(self, model: str) -> dict[str, Any]:
        """The body of POST /v1/chat/completions."""
        body: dict[str, Any] = {
            "model": model,
            "messages": self.messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stream": False,
        }
        if self.seed is not None:
            body["seed"] = self.seed
        if self.schema is not None:
            schema = {"name": "reply", "schema": self.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body | self.extra


@dataclass(frozen=True, slots=True)
class Completion:
    """``finish`` is the server's reason: "stop", "length" (cut), "tool_calls", …"""

    text: str
    reasoning: str = ""
    finish: str = "stop"
    calls: tuple[Mapping[str, Any], ...] = ()
    usage: Usage = Usage()


class Chat(Protocol):
    """What answers chat requests: the client of a server, or an engine in this process."""

    def chat(self, request: ChatRequest) -> Completion:
        """Raises ModelError, with PromptTooLong and PictureUnknown among it."""
        ...


def completion_of(reply: object) -> Completion:
    """The completion in a server's parsed JSON. Raises ModelError for any other shape."""
    try:
        choice = reply["choices"][0]  # type: ignore[index]
        message = choice["message"]
        reasoning = message.get("reasoning") or message.get("reasoning_content") or ""
        return Completion(
            text=_text(message.get("content")),
            reasoning=_text(reasoning),
            finish=str(choice.get("finish_reason") or ""),
            calls=tuple(message.get("tool_calls") or ()),
            usage=_usage(reply.get("usage") or {}),  # type: ignore[attr-defined]
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as exc:
        raise ModelError(
            f"the server's reply is no chat completion: {shown(reply)}",
            hint="the backbone must be vLLM or a server with the same OpenAI-compatible API",
        ) from exc


def shown(value: object) -> str:
    """A foreign value in one short line."""
    text = value if isinstance(value, str) else json.dumps(value, default=repr)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _text(content: object) -> str:
    """A message's text, also where it comes in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError("content")
    return content or ""


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        prompt=int(usage.get("prompt_tokens") or 0),
        cached=int(details.get("cached_tokens") or 0),
        generated=int(usage.get("completion_tokens") or 0),
    )

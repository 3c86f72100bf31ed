"""One chat completion as plain data: the request that goes out, the reply that comes back.

The border to the server's JSON: a reply of another shape is a ModelError that says what it was.
Knows neither sockets nor tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from photocraft_local.errors import ModelError, ReplyLate, ServerLost
from photocraft_local.records import Usage
from photocraft_local.serving.chat_model import Message

_SHOWN = 200  # characters of a foreign text in a message


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """``schema``: a JSON schema that the reply's text has to keep; None = free text.

    ``choices``: the reply is one of these short texts, and each one's probability is told.
    A last message of the assistant is the reply's own beginning, which goes on where it ends.
    ``seconds``: past them the reply is given up with ReplyLate; 0 = it may take its time.
    """

    messages: list[Message]
    schema: dict[str, Any] | None = None
    max_tokens: int = 2048
    temperature: float = 0.0
    seed: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)  # other fields of the API
    choices: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_json(self, model: str) -> dict[str, Any]:
        """The body of POST /v1/chat/completions."""
        body: dict[str, Any] = {
            "model": model,
            "messages": self.messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stream": False,
        }
        if self.messages and self.messages[-1]["role"] == "assistant":
            body |= {"add_generation_prompt": False, "continue_final_message": True}
        if self.seed is not None:
            body["seed"] = self.seed
        if self.schema is not None:
            schema = {"name": "reply", "schema": self.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body | self.extra


@dataclass(frozen=True, slots=True)
class Completion:
    """``finish`` is the server's reason: "stop", "length" (cut), "tool_calls", …

    ``logprobs``: natural logarithm of each choice's probability as the reply's first words. The
    probabilities do not add up to 1, since the model could have said something else; a choice
    that a server did not tell is missing.
    """

    text: str
    reasoning: str = ""
    finish: str = "stop"
    calls: tuple[Mapping[str, Any], ...] = ()
    usage: Usage = Usage()
    logprobs: Mapping[str, float] = field(default_factory=dict)


class Chat(Protocol):
    """What answers chat requests: the client of a server, or an engine in this process."""

    def chat(self, request: ChatRequest) -> Completion:
        """Raises ModelError, with PromptTooLong, PictureUnknown and ReplyLate among it."""
        ...


@runtime_checkable
class ManyAtOnce(Protocol):
    """A ``Chat`` that takes many requests together."""

    def chat_all(
        self, requests: Sequence[ChatRequest], *, at_once: int
    ) -> list[Completion | ModelError]:
        """One reply a request, in their order; what went wrong with one stands in its place.

        Raises ServerLost, which all of them share."""
        ...


def chat_all(
    chat: Chat, requests: Sequence[ChatRequest], *, at_once: int
) -> list[Completion | ModelError]:
    """``ManyAtOnce.chat_all`` of any chat, one by one where it knows no other way."""
    if isinstance(chat, ManyAtOnce):
        return chat.chat_all(requests, at_once=at_once)
    return [_tried(chat, request) for request in requests]


def _tried(chat: Chat, request: ChatRequest) -> Completion | ModelError:
    try:
        return chat.chat(request)
    except ServerLost:
        raise
    except ModelError as exc:
        return exc


def given_up(request: ChatRequest) -> ReplyLate:
    return ReplyLate(f"no reply within the {request.seconds:g} s that were left for it")


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

"""How long a prompt is for a server whose tokenizer is not at hand, from what it reported.

Rather too high than too low: what was appended since the last report is taken for half a token a
byte, since results are full of digits and ids. Pictures count by the family's rule.
"""

from __future__ import annotations

from typing import Any

from photocraft_local.serving.chat_model import Message
from photocraft_local.serving.qwen.conversation import Conversation
from photocraft_local.serving.tokens import PICTURE_MARKS

_MESSAGE = 5  # tokens of the marks around a message
_APPENDED = 0.5  # tokens of a byte that was not counted by the server yet
_FIRST = 0.25  # of a byte before any report: most of it is instructions in plain English
_CARE = 1.1
_LEAST, _MOST = 0.2, 1.0  # what a report may say of a byte


class Estimator:
    """For one episode."""

    def __init__(self) -> None:
        self._messages: list[Message] = []  # of the last prompt that the server counted
        self._tokens = 0
        self._rate = _FIRST / _CARE

    def learn(self, talk: Conversation, tokens: int) -> None:
        """``tokens``: what the server says of that prompt; 0 says nothing."""
        if not tokens:
            return
        self._messages, self._tokens = list(talk.messages), tokens
        size = sum(map(_num_bytes, talk.messages))
        fixed = sum(_fixed(one, talk) for one in talk.messages)
        self._rate = min(_MOST, max(_LEAST, (tokens - fixed) / max(1, size)))

    def tokens(self, talk: Conversation) -> int:
        num = len(self._messages)
        if num and talk.messages[:num] == self._messages:
            new = talk.messages[num:]
            return self._tokens + _estimated(new, talk, max(_APPENDED, self._rate * _CARE))
        return _estimated(talk.messages, talk, self._rate * _CARE)


def _estimated(messages: list[Message], talk: Conversation, rate: float) -> int:
    size = sum(map(_num_bytes, messages))
    return sum(_fixed(one, talk) for one in messages) + int(size * rate) + 1


def _num_bytes(message: Message) -> int:
    content = message["content"]
    if isinstance(content, str):
        return len(content.encode())
    return sum(len(part["text"].encode()) for part in content if part["type"] == "text")


def _fixed(message: Message, talk: Conversation) -> int:
    """Tokens that are no text: marks and pictures."""
    content = message["content"]
    parts: list[dict[str, Any]] = [] if isinstance(content, str) else content
    names = [part["uuid"] for part in parts if part["type"] == "image_url"]
    return _MESSAGE + sum(talk.pictures[name].tokens + PICTURE_MARKS for name in names)

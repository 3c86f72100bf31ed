"""Control flow of an episode: small exceptions that carry the messages to add.

None of them is an error for the person; the loop catches every one.
"""

from __future__ import annotations

from photocraft_local.agent.attempts import Limit
from photocraft_local.records import Answer, ToolCall
from photocraft_local.serving.chat_model import Message


class Interrupt(Exception):
    """Base: the turn ends here and ``messages`` go to the model."""

    def __init__(self, *messages: Message) -> None:
        super().__init__(messages[0]["content"] if messages else "")
        self.messages = messages


class CallRejected(Interrupt):
    """The reply is rolled back: no call, unknown tool, malformed or repeated call.

    ``reason`` is a short stable code for the trajectory.
    """

    def __init__(self, reason: str, message: Message, call: ToolCall | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.call = call


class FinalAnswerDue(Interrupt):
    """No more turns: the next reply must be the answer. ``why`` is told to the person."""

    def __init__(self, limit: Limit, why: str, words: str) -> None:
        super().__init__({"role": "user", "content": words})
        self.limit, self.why, self.words = limit, why, words


class Answered(Interrupt):
    """The episode is over."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


class GaveUp(Answered):
    """The attempt is over without photos and without a finding; ``answer`` says why. Another one
    may bring more."""

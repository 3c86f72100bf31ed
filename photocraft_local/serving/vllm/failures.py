"""What goes wrong between client and server, as errors of the package's own tree.

``Again`` marks those after which the same request may go out once more. Knows no sockets.
"""

from __future__ import annotations

import json
import re
from typing import Any

from photocraft_local.errors import (
    ModelError,
    PictureUnknown,
    PromptTooLong,
    ServerLost,
    TooManyPictures,
)
from photocraft_local.serving.qwen.completion import shown

# vLLM's own words, on a uuid that left its cache, on too many pictures, on a prompt too long
_UNKNOWN_PICTURE = "data is not provided"
_TOO_MANY = re.compile(r"[Aa]t most (\d+) image")
_TOO_LONG = ("maximum context length", "longer than the maximum model length")
_WINDOW = re.compile(r"(?:maximum context|maximum model) length(?: is| of)? (\d{3,9})\b")
_LOG = "see the server's log"
_HINTS = {
    401: "the server wants a key; serve it without one, on a socket or loopback",
    403: "the server wants a key; serve it without one, on a socket or loopback",
    404: "check the name under which the model is served",
}


class Again(Exception):
    """The request got no whole reply and may go out again; ``error`` is for the last time.

    ``broken``: whoever manages the server should look after it first.
    """

    def __init__(self, error: ModelError, *, broken: bool = False) -> None:
        super().__init__(error.message)
        self.error, self.broken = error, broken or isinstance(error, ServerLost)


def reply_json(status: int, content: bytes, where: str) -> Any:
    """The parsed body of a good reply. Raises what any other one means, or Again around it."""
    if status != 200:
        raise _refused(status, content, where)
    try:
        return json.loads(content)
    except ValueError as exc:
        text = shown(content.decode("utf-8", "replace"))
        raise Again(
            ModelError(f"the backbone at {where} sent no whole JSON: {text}", hint=_LOG)
        ) from exc


def lost(exc: BaseException, where: str) -> ServerLost:
    return ServerLost(
        f"the backbone at {where} cannot be reached: {str(exc) or type(exc).__name__}",
        hint="start it with: photocraft serve-model",
    )


def late(exc: BaseException, where: str, seconds: float) -> Exception:
    """No second try for a reply that took too long: it would take as long again."""
    if type(exc).__name__ == "ConnectTimeout":
        return Again(lost(exc, where))
    return ModelError(
        f"the backbone at {where} gave no reply within {seconds:g} s",
        hint="it may hang; a machine that is only slow needs a longer reply_seconds",
    )


def _refused(status: int, content: bytes, where: str) -> Exception:
    """What a status other than 200 means; 5xx and "busy" are worth another try."""
    said = message_of(content)
    if status == 400 and _UNKNOWN_PICTURE in said:
        return PictureUnknown(f"the backbone no longer holds a picture: {shown(said)}")
    if status in (400, 413) and any(words in said for words in _TOO_LONG):
        told = _WINDOW.search(said)
        return PromptTooLong(
            f"the prompt is longer than the backbone's window: {shown(said)}",
            window=int(told[1]) if told else 0,
            hint="ask for fewer pictures, or serve the model with a longer window",
        )
    if status == 400 and (limit := _TOO_MANY.search(said)):
        return TooManyPictures(
            f"the backbone at {where} refuses so many pictures: {shown(said)}",
            most=int(limit[1]),
            hint="serve the model with a higher --limit-mm-per-prompt",
        )
    error = ModelError(
        f"the backbone at {where} answered {status}: {shown(said)}",
        hint=_HINTS.get(status, _LOG),
    )
    if status >= 500:  # vLLM says so while it goes down after its engine died
        return Again(error, broken=True)
    return Again(error) if status == 429 else error


def message_of(content: bytes) -> str:
    """The message of an error reply, in either of the forms that servers use."""
    text = content.decode("utf-8", "replace")
    try:
        reply = json.loads(text)
    except ValueError:
        return text
    if not isinstance(reply, dict):
        return text
    inner = reply.get("error")
    return str((inner if isinstance(inner, dict) else reply).get("message") or text)

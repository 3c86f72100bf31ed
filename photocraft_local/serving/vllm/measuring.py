"""What a model server that was not started here does with pictures, measured by tiny requests.

Grey pictures of chosen sizes and one token of reply: what the server counts tells how many pixels
a token stands for, whether it scales our largest picture, and whether it keeps one by its name.
What cannot be measured is said in words, never guessed. Knows no settings and no weights.
"""

from __future__ import annotations

import base64
import json
import math
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from photocraft_local.errors import ModelError
from photocraft_local.imaging.pictures import png_bytes
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.qwen.completion import shown
from photocraft_local.serving.vllm import health
from photocraft_local.serving.vllm.failures import message_of

if TYPE_CHECKING:
    import httpx

FACTORS = (28, 32)  # Qwen2.5-VL, Qwen3-VL
# Whole tokens of either family, within the limits of both: neither scales it.
_WIDTH, _HEIGHT = 448, 224
_MOST_MARKS = 4  # tokens that a template may set around a picture; the families set 2


@dataclass(frozen=True, slots=True)
class Measured:
    """``factor``: side in pixels of a token's square, 0 = not measured. ``tokens``: of the largest
    picture that is taken as it is, 0 = not measured. ``by_name``: a picture that was sent once may
    be named instead. ``notes``: what could not be measured, and what is done about it."""

    factor: int = 0
    tokens: int = 0
    by_name: bool = False
    notes: tuple[str, ...] = ()


def measure(endpoint: Endpoint, served: health.Served, most: int, seconds: float) -> Measured:
    """``most``: tokens of the largest picture that is meant to be sent.

    Raises ModelError if the model takes no pictures, or the server goes away meanwhile.
    """
    with health.open_client(endpoint, seconds) as client:
        probe = _Probe(client, endpoint, served.model)
        name = uuid.uuid4().hex  # never one of ours, which are hashes of what is sent
        small, problem = probe.count(_WIDTH, _HEIGHT, name)
        if problem:
            raise ModelError(
                f"the model {shown(served.model)} at {endpoint} takes no pictures: {problem}",
                hint="serve a Qwen-VL model there, as weights.md lists them",
            )
        by_name = bool(small) and probe.count(0, 0, name) == (small, "")
        if not small or not served.prompt:
            note = "it states no token counts, so what a picture costs is not known"
            return Measured(by_name=by_name, notes=(note,))
        factor, marks = _factor(small - served.prompt)
        if not factor:
            size = f"{_WIDTH} × {_HEIGHT} pixels take {small - served.prompt} tokens"
            note = (
                f"{size}, as in neither Qwen2.5-VL nor Qwen3-VL: what a picture costs is not known"
            )
            return Measured(by_name=by_name, notes=(note,))
        found = Measured(factor, 0, by_name)
        side = math.isqrt(most)
        large, problem = probe.count(side * factor, side * factor, uuid.uuid4().hex)
        return _with_largest(found, side, large - served.prompt - marks, problem)


def _with_largest(found: Measured, side: int, tokens: int, problem: str) -> Measured:
    if problem:
        pixels = f"{side * found.factor} × {side * found.factor} pixels"
        note = f"a picture of {pixels} is refused ({problem}): smaller ones are sent"
        return replace(found, tokens=256, notes=(note,))
    if tokens < side**2:
        note = f"it scales pictures above {tokens:,} tokens itself: none above are sent"
        return replace(found, tokens=max(4, tokens), notes=(note,))
    return replace(found, tokens=side**2)


def _factor(tokens: int) -> tuple[int, int]:
    """Of the small picture's tokens: factor and the marks around it; (0, 0) for other numbers."""
    for factor in FACTORS:
        marks = tokens - _WIDTH * _HEIGHT // factor**2
        if 0 <= marks <= _MOST_MARKS:
            return factor, marks
    return 0, 0


@dataclass(frozen=True, slots=True)
class _Probe:
    client: httpx.Client
    endpoint: Endpoint
    model: str

    def count(self, width: int, height: int, name: str) -> tuple[int, str]:
        """Tokens of the prompt with this picture, 0 if they are not stated; or why not.

        Without a size the picture is sent by its name alone."""
        body = health.tiny(self.model)
        part = {"type": "image_url", "image_url": _picture(width, height), "uuid": name}
        body["messages"][0]["content"].insert(0, part)
        reply = health.send(self.client, self.endpoint, "POST", health.CHAT, body)
        if reply.status_code != 200:
            return 0, f"{reply.status_code} {shown(message_of(reply.content))}"
        try:
            return health.prompt_tokens(json.loads(reply.content)), ""
        except ValueError:
            return 0, "its reply is no JSON"


def _picture(width: int, height: int) -> dict[str, Any] | None:
    if not width:
        return None
    pixels = np.full((height, width, 3), 128, dtype=np.uint8)
    data = base64.b64encode(png_bytes(pixels)).decode("ascii")
    return {"url": f"data:image/png;base64,{data}"}

"""A tiny model in this process behind ``LocalChat``; every token and score is written down."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule
from photocraft_local.serving.transformers.chat import LocalChat
from photocraft_local.serving.transformers.loading import Loaded
from photocraft_local.serving.transformers.model import Model

NEAR_TIE = 1e-4  # log-probabilities of two tokens that may change places


class Recorder:
    """Stands around a ``Model``: the scores before each token of the last reply."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.scores: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def prefill(self, *arguments: Any) -> Any:
        self.scores = [self._model.prefill(*arguments)]
        return self.scores[0]

    def step(self, *arguments: Any) -> Any:
        self.scores.append(self._model.step(*arguments))
        return self.scores[-1]


class RecordedChat(LocalChat):
    """``tokens`` and ``scores``: of the last reply, without what ended it."""

    def __init__(self, loaded: Loaded, **plan: int) -> None:
        super().__init__(replace(loaded, plan=replace(loaded.plan, **plan)))
        self.recorder = Recorder(self.model)
        self.model = self.recorder  # type: ignore[assignment]
        self.tokens: list[int] = []

    def _completion(self, turn: Any, finish: str, generated: int) -> Completion:
        self.tokens = list(turn.written)
        return super()._completion(turn, finish, generated)

    @property
    def scores(self) -> list[Any]:
        return self.recorder.scores


def same_but_for_ties(mine: RecordedChat, other: RecordedChat) -> int:
    """How many tokens are the same; asserts that the first other one is no real choice."""
    for at, (one, two) in enumerate(zip(mine.tokens, other.tokens, strict=False)):
        if one != two:
            for scores in (mine.scores[at], other.scores[at]):
                assert abs(float(scores[one] - scores[two])) < NEAR_TIE
            return at
    assert len(mine.tokens) == len(other.tokens)
    return len(mine.tokens)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def says(role: str, *content: Any) -> dict[str, Any]:
    """A message of parts, or of one text."""
    whole = content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)
    return {"role": role, "content": whole}


def shown(folder: Path) -> Callable[..., dict[str, Any]]:
    """Makes the part of a message that shows a picture in the family's size."""
    store = PictureStore(PictureRule.of_folder(folder))

    def part(picture: Image.Image) -> dict[str, Any]:
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        url = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
        made = store.prepared(url)
        return {"type": "image_url", "image_url": {"url": made.url}, "uuid": made.uuid}

    return part


def noise(seed: int, width: int = 200, height: int = 140) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def asked(messages: Sequence[dict[str, Any]], tokens: int = 12, **more: Any) -> ChatRequest:
    return ChatRequest(list(messages), max_tokens=tokens, **more)

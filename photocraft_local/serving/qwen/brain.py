"""A Qwen-VL model that runs: what answers its requests, and what one request may hold.

Shared by all episodes of a process; whatever starts an engine gives one out. Starts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.completion import Chat
from photocraft_local.serving.qwen.model import QwenModel
from photocraft_local.serving.tokens import PromptCounter
from photocraft_local.serving.tool_calls import Limits


@dataclass(frozen=True, slots=True)
class Brain:
    """``window`` (tokens of prompt and reply) and ``max_pictures`` (of one prompt) are 0 where
    they are not known; without ``counter`` prompts are not counted before they are sent."""

    name: str
    chat: Chat
    pictures: PictureStore
    limits: Limits
    counter: PromptCounter | None = None
    window: int = 0
    max_pictures: int = 0

    @property
    def thinking(self) -> bool:
        """Whether each reply begins with reasoning; by the name where no template is at hand."""
        return self.counter.thinking if self.counter else "thinking" in self.name.lower()

    def model(self, *, temperature: float = 0.0, seed: int | None = None) -> QwenModel:
        """For one episode."""
        return QwenModel(
            self.chat,
            self.pictures,
            name=self.name,
            limits=self.limits,
            temperature=temperature,
            seed=seed,
            counter=self.counter,
            window=self.window,
            max_pictures=self.max_pictures,
        )

"""Who drives the agent loop: the planner's rules, or a Qwen-VL model on a server of this machine.

Chosen by the settings, built on first use; many questions share one server and its pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.errors import SettingsError
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.serving.qwen.brain import Brain
    from photocraft_local.serving.tokens import PictureRule
    from photocraft_local.serving.vllm.client import ChatClient
    from photocraft_local.serving.vllm.server import ModelServer

BACKBONES = ("auto", "planner", "vllm")
_FACTORS = {"qwen3": 32}  # pixels of a token's side, by what the served name says; else 28


def chosen(settings: Settings) -> str:
    """ "planner" or "vllm". Raises SettingsError for a name that is neither.

    "auto" takes the model as soon as one is placed, so that no answer comes from less than what
    is there.
    """
    if settings.backbone not in BACKBONES:
        raise SettingsError(
            f"there is no backbone {settings.backbone!r}",
            hint=f"known: {', '.join(BACKBONES)}",
        )
    if settings.backbone != "auto":
        return settings.backbone
    return "vllm" if settings.weights or settings.backbone_url else "planner"


class ServedBackbone:
    """The server, one client and one store of pictures, for all questions of a ``PhotoSearch``."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server: ModelServer | None = None
        self._client: ChatClient | None = None
        self._brain: Brain | None = None

    def brain(self, progress: Callable[[str], None]) -> Brain:
        """Starts the server if none runs and tells ``progress``.

        Raises SettingsError, MissingExtraError, UsageError or ModelError, each with its way out.
        """
        if self._brain is None:
            self._brain = self._opened(progress)
        return self._brain

    def close(self) -> None:
        """Ends the connections, and the server if it was started here."""
        client, server = self._client, self._server
        self._client = self._server = self._brain = None
        try:
            if client is not None:
                client.close()
        finally:
            if server is not None:
                server.stop()

    def _opened(self, progress: Callable[[str], None]) -> Brain:
        from photocraft_local.serving.pictures import PictureStore
        from photocraft_local.serving.qwen.brain import Brain
        from photocraft_local.serving.tokens import PromptCounter
        from photocraft_local.serving.tool_calls import Limits
        from photocraft_local.serving.vllm.client import ChatClient
        from photocraft_local.serving.vllm.server import make_server

        weights, foreign = self._settings.weights, bool(self._settings.backbone_url)
        self._server = server = make_server(self._settings)
        endpoint = server.ensure(progress)
        limits = server.limits
        rule = _rule(weights, server, limits.picture_tokens)
        self._client = client = ChatClient(
            endpoint,
            server.model,
            seconds=self._settings.reply_seconds,
            on_lost=lambda: server.recover(progress),
            thinks=bool(counter and counter.thinking and not foreign),
        )
        return Brain(
            name=f"vllm {weights.name if weights else server.model}",
            chat=client,
            pictures=PictureStore(rule),
            limits=Limits(plain=foreign),  # whose grammar engine is not known
            counter=PromptCounter(weights, rule) if weights else None,
            window=limits.window,
            max_pictures=limits.pictures,
        )


def _rule(weights: Path | None, server: ModelServer, most_tokens: int) -> PictureRule:
    """Of the weights folder; of a server whose folder is not known, by the name it serves."""
    from photocraft_local.serving.tokens import PictureRule

    if weights:
        return PictureRule.of_folder(weights).at_most(most_tokens)
    named = server.model.lower()
    factor = next((value for word, value in _FACTORS.items() if word in named), 28)
    return PictureRule(factor, 64 * factor**2, max(256, most_tokens) * factor**2)

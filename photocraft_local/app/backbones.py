"""Who drives the agent loop: the planner's rules, or a Qwen-VL model on this machine.

Chosen by the settings, built on first use; many questions share one model and its pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from photocraft_local.errors import MissingExtraError, SettingsError
from photocraft_local.serving.endpoint import without_secret
from photocraft_local.settings import Settings

if TYPE_CHECKING:
    from photocraft_local.serving.qwen.brain import Brain
    from photocraft_local.serving.tokens import PictureRule
    from photocraft_local.serving.transformers.sharing import Lease
    from photocraft_local.serving.vllm.client import ChatClient
    from photocraft_local.serving.vllm.limits import Limits as ServerLimits
    from photocraft_local.serving.vllm.server import ModelServer

BACKBONES = ("auto", "planner", "vllm", "transformers")
_OR_ELSE = (
    "; or, without a GPU for it, pip install 'photocraft-local[cpu,transformers]' and"
    " backbone = 'transformers'"
)
_INSTEAD = "vLLM is not installed: the model runs in this process, with transformers"


class Backbone(Protocol):
    """A model that a ``PhotoSearch`` may ask."""

    def brain(self, progress: Callable[[str], None]) -> Brain:
        """Starts it if it does not run, and tells ``progress``.

        Raises SettingsError, MissingExtraError, UsageError or ModelError, each with its way out.
        """
        ...

    def close(self) -> None:
        """Ends what was started; the next ``brain`` starts it anew."""
        ...


@dataclass(frozen=True, slots=True)
class Ability:
    """Whether a backbone can run here; ``why`` in words, also where it can."""

    name: str
    able: bool
    why: str


def available() -> list[Ability]:
    """Of each backbone, told from the installed files alone. Whether the model's weights fit is
    another question."""
    from photocraft_local.serving.transformers.libraries import EXTRA, missing
    from photocraft_local.serving.vllm.program import find_program

    absent = missing()
    local = f"{absent} is not installed (the {EXTRA!r} extra)" if absent else "runs in this process"
    try:
        program = find_program()
        served = f"vLLM {program.version} at {program.path}"
    except MissingExtraError as missed:
        program, served = None, f"{missed.module} is not installed (the {missed.extra!r} extra)"
    return [
        Ability("planner", True, "needs no weights"),
        Ability("vllm", program is not None, served),
        Ability("transformers", not absent, local),
    ]


def chosen(settings: Settings) -> str:
    """ "planner", "vllm" or "transformers". Raises SettingsError for a name that is none of them,
    and for settings that contradict it.

    "auto" takes the model as soon as one is placed, so that no answer comes from less than what
    is there; transformers runs it where vLLM is not installed, and it is.
    """
    if settings.backbone not in BACKBONES:
        raise SettingsError(
            f"there is no backbone {settings.backbone!r}",
            hint=f"known: {', '.join(BACKBONES)}",
        )
    if settings.backbone == "transformers" and settings.backbone_url:
        url = without_secret(settings.backbone_url)
        raise SettingsError(
            f"backbone_url is set to {url}, but the transformers backbone runs"
            " the model in this process and asks no server",
            hint="leave backbone_url out, or set backbone to vllm to use that server",
        )
    if settings.backbone != "auto":
        return settings.backbone
    if settings.backbone_url:
        return "vllm"
    return _engine() if settings.weights else "planner"


def make_backbone(settings: Settings) -> Backbone:
    """The model that the settings choose. Starts nothing yet."""
    if chosen(settings) == "transformers":
        return LocalBackbone(settings)
    return ServedBackbone(settings)


def _engine() -> str:
    """vLLM where it is installed. Where neither is, too: its error says what to install."""
    able = {ability.name for ability in available() if ability.able}
    return "transformers" if "transformers" in able and "vllm" not in able else "vllm"


class ServedBackbone:
    """The server, one client and one store of pictures, for all questions of a ``PhotoSearch``."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server: ModelServer | None = None
        self._client: ChatClient | None = None
        self._brain: Brain | None = None

    def brain(self, progress: Callable[[str], None]) -> Brain:
        if self._brain is None:
            try:
                self._brain = self._opened(progress)
            except MissingExtraError as exc:
                exc.hint += _OR_ELSE if exc.module == "vllm" else ""
                raise
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
        from photocraft_local.serving.vllm.checkpoint import Checkpoint
        from photocraft_local.serving.vllm.client import ChatClient
        from photocraft_local.serving.vllm.server import make_server

        weights, foreign = self._settings.weights, bool(self._settings.backbone_url)
        if weights:  # what is wrong with the folder is said before a server takes minutes to start
            Checkpoint.read(weights)
        counter = PromptCounter(weights) if weights else None
        self._server = server = make_server(self._settings)
        endpoint = server.ensure(progress)
        limits = server.limits
        rule = _rule(weights, limits)
        if counter:
            counter.rule = rule
        self._client = client = ChatClient(
            endpoint,
            server.model,
            seconds=self._settings.reply_seconds,
            on_lost=lambda: server.recover(progress),
            thinks=bool(counter and counter.thinking and not foreign),
            lives=server.runs,
        )
        return Brain(
            name=f"vllm {weights.name if weights else server.model}",
            chat=client,
            pictures=PictureStore(rule, by_name=limits.by_name),
            limits=Limits(plain=foreign),  # whose grammar engine is not known
            counter=counter,
            window=limits.window,
            max_pictures=limits.pictures,
        )


class LocalBackbone:
    """The model in this process, loaded once for all that ask it here."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lease: Lease | None = None
        self._brain: Brain | None = None

    def brain(self, progress: Callable[[str], None]) -> Brain:
        if self._brain is None:
            self._brain = self._opened(progress)
        return self._brain

    def close(self) -> None:
        """Gives the memory back, if nobody else asks the same model."""
        lease, self._lease, self._brain = self._lease, None, None
        if lease is not None:
            lease.end()

    def _opened(self, progress: Callable[[str], None]) -> Brain:
        from photocraft_local.serving.pictures import PictureStore
        from photocraft_local.serving.qwen.brain import Brain
        from photocraft_local.serving.tokens import PictureRule, PromptCounter
        from photocraft_local.serving.tool_calls import Limits
        from photocraft_local.serving.transformers.sharing import lease
        from photocraft_local.serving.vllm.deriving import weights_folder

        weights = weights_folder(self._settings)
        if self._settings.backbone == "auto":
            progress(_INSTEAD)
        self._lease = self._lease or lease(weights, progress)
        loaded = self._lease.loaded
        rule = PictureRule.of_folder(weights).at_most(loaded.plan.picture_tokens(loaded.checkpoint))
        return Brain(
            name=f"transformers {weights.name}",
            chat=self._lease.chat,
            pictures=PictureStore(rule),
            limits=Limits(),
            counter=PromptCounter(weights, rule),
            window=loaded.plan.window,
            max_pictures=loaded.plan.max_pictures,
        )


def _rule(weights: Path | None, limits: ServerLimits) -> PictureRule:
    """Of the weights folder; of a server whose folder is not known, as it was measured."""
    from photocraft_local.serving.tokens import PictureRule

    if weights:
        return PictureRule.of_folder(weights).at_most(limits.picture_tokens)
    return PictureRule(limits.factor, limits.min_pixels, limits.max_pixels)

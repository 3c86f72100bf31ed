"""A model server that the person runs: asked, never started and never ended."""

from __future__ import annotations

from pathlib import Path

from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm import health
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.limits import Limits, limits_of_stranger
from photocraft_local.serving.vllm.seam import TOKEN_SECONDS, Told, nobody
from photocraft_local.settings import Settings


class OutsideServer:
    """A server that the person runs: asked, never started and never ended."""

    media: Path | None = None

    def __init__(self, settings: Settings, endpoint: Endpoint) -> None:
        self._settings = settings
        self.endpoint = endpoint
        self._served: health.Served | None = None

    @property
    def model(self) -> str:
        return self._known().model

    @property
    def limits(self) -> Limits:
        weights = self._settings.weights
        checkpoint = Checkpoint.read(weights) if weights else None
        return limits_of_stranger(checkpoint, self._known().window)

    def ensure(self, progress: Told = nobody) -> Endpoint:
        del progress
        self._known()
        return self.endpoint

    def recover(self, progress: Told = nobody) -> Endpoint:
        """It cannot be started from here: whoever asks again learns whether it is back."""
        del progress
        return self.endpoint

    def check(self, seconds: float | None = None) -> None:
        self._served = health.check(self.endpoint, seconds or TOKEN_SECONDS)

    def stop(self) -> None:
        pass

    def _known(self) -> health.Served:
        if self._served is None:
            self.check()
        assert self._served is not None
        return self._served

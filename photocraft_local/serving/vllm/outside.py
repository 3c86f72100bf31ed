"""A model server that the person runs: asked and measured, never started and never ended."""

from __future__ import annotations

import threading
from pathlib import Path

from photocraft_local.errors import ModelError
from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm import health
from photocraft_local.serving.vllm.checkpoint import Checkpoint
from photocraft_local.serving.vllm.limits import (
    Limits,
    limits_of_stranger,
    picture_tokens_of_stranger,
)
from photocraft_local.serving.vllm.measuring import Measured, measure
from photocraft_local.serving.vllm.seam import TOKEN_SECONDS, Told, nobody
from photocraft_local.settings import Settings


class OutsideServer:
    """A server that the person runs: measured on first use, never started and never ended."""

    media: Path | None = None

    def __init__(self, settings: Settings, endpoint: Endpoint) -> None:
        self._settings = settings
        self.endpoint = endpoint
        self._lock = threading.Lock()
        self._served: health.Served | None = None
        self._measured: Measured | None = None

    @property
    def model(self) -> str:
        return self._known()[0].model

    @property
    def limits(self) -> Limits:
        served, measured = self._known()
        return limits_of_stranger(self._checkpoint(), served.window, measured)

    @property
    def measured(self) -> Measured:
        return self._known()[1]

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be found out about it, and what is done instead; for people."""
        served, measured = self._known()
        unsaid = () if served.window else ("it states no window: 8,192 tokens are used",)
        named = () if measured.by_name else ("it keeps no pictures by name: each turn sends all",)
        return (*unsaid, *measured.notes, *named)

    def ensure(self, progress: Told = nobody) -> Endpoint:
        first = self._measured is None
        self._known()
        for note in self.notes if first else ():
            progress(note)
        return self.endpoint

    def recover(self, progress: Told = nobody) -> Endpoint:
        """It cannot be started from here: whoever asks again learns whether it is back."""
        del progress
        return self.endpoint

    def check(self, seconds: float | None = None) -> None:
        self._served = health.check(self.endpoint, seconds or TOKEN_SECONDS)

    def runs(self) -> bool:
        return True

    def stop(self) -> None:
        pass

    def _known(self) -> tuple[health.Served, Measured]:
        with self._lock:
            checkpoint = self._checkpoint()  # before a server is asked
            if self._served is None:
                self.check()
            assert self._served is not None
            if self._measured is None:
                most = picture_tokens_of_stranger(self._served.window)
                # a large picture takes a slow machine its time
                seconds = self._settings.reply_seconds
                measured = measure(self.endpoint, self._served, most, seconds)
                _check_same(checkpoint, measured)
                self._measured = measured
            return self._served, self._measured

    def _checkpoint(self) -> Checkpoint | None:
        weights = self._settings.weights
        return Checkpoint.read(weights) if weights else None


def _check_same(checkpoint: Checkpoint | None, measured: Measured) -> None:
    if checkpoint and measured.factor and measured.factor != checkpoint.family.factor:
        raise ModelError(
            f"the server of backbone_url counts pictures by {measured.factor} pixels a token,"
            f" {checkpoint.name} in {checkpoint.folder} by {checkpoint.family.factor}",
            hint="set weights to the folder that it serves, or leave weights out",
        )

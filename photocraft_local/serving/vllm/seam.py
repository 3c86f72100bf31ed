"""What a client of a model needs of its server, whoever runs that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from photocraft_local.serving.endpoint import Endpoint
from photocraft_local.serving.vllm.limits import Limits

Told = Callable[[str], None]  # is given each stage of a start, in words
TOKEN_SECONDS = 60.0  # a server that works gives a token within that


def nobody(_: str) -> None:
    pass


class ModelServer(Protocol):
    """What a client of a model needs of its server."""

    @property
    def endpoint(self) -> Endpoint: ...

    @property
    def model(self) -> str: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def media(self) -> Path | None:
        """A folder from which the server reads pictures by ``file://``; None: send them whole."""
        ...

    def ensure(self, progress: Told = nobody) -> Endpoint:
        """It runs and has answered once; starts it if need be. Safe from many threads."""
        ...

    def recover(self, progress: Told = nobody) -> Endpoint:
        """After a request failed or hung: a server of our own works again when this returns.
        Safe from many threads; those that come while it is started again wait for it."""
        ...

    def check(self, seconds: float | None = None) -> None:
        """Raises ModelError unless the model gives a token."""
        ...

    def runs(self) -> bool:
        """False once its process is gone; a server of the person's own always runs."""
        ...

    def stop(self) -> None: ...

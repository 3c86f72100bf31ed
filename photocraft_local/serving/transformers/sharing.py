"""One loaded model a folder in this process, however many ask; freed when the last one is done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.serving.transformers.chat import LocalChat
from photocraft_local.serving.transformers.loading import Loaded, load, release

_LOCK = threading.Lock()
_SHARED: dict[Path, _Shared] = {}


@dataclass(slots=True)
class _Shared:
    loaded: Loaded
    chat: LocalChat
    users: int = 0


class Lease:
    """The right to ask a model until ``end``."""

    def __init__(self, folder: Path, shared: _Shared) -> None:
        self._folder, self._shared = folder, shared
        self._ended = False

    @property
    def loaded(self) -> Loaded:
        return self._shared.loaded

    @property
    def chat(self) -> LocalChat:
        return self._shared.chat

    def end(self) -> None:
        """More than once does no harm."""
        with _LOCK:
            if self._ended:
                return
            self._ended = True
            self._shared.users -= 1
            if self._shared.users:
                return
            del _SHARED[self._folder]
            self._shared.chat.forget()
        del self._shared
        release()


def lease(folder: Path, progress: Callable[[str], None]) -> Lease:
    """Loads the model unless it is loaded. Raises as ``loading.load``."""
    name = folder.resolve()
    with _LOCK:
        shared = _SHARED.get(name)
        if shared is None:
            loaded = load(folder, progress)
            shared = _SHARED[name] = _Shared(loaded, LocalChat(loaded))
        shared.users += 1
    return Lease(name, shared)

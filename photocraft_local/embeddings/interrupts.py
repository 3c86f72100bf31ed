"""Ctrl-C that waits for a safe point."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class DeferredInterrupt:
    """While entered, the first Ctrl-C is kept until ``check``; a second one acts at once.

    Does nothing outside of the main thread, where Python allows no signal handler.
    """

    def __init__(self) -> None:
        self._asked = False
        self._previous: object = None
        self._active = False

    def __enter__(self) -> DeferredInterrupt:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._note)
            self._active = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raise the KeyboardInterrupt that came since, if one did."""
        if self._asked:
            self._asked = False
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        self._restore()

    def _restore(self) -> None:
        if self._active:
            self._active = False
            signal.signal(signal.SIGINT, self._previous)  # type: ignore[arg-type]

"""Several episodes in threads of one process: only one works at a time, the others wait for the
model.

Nothing of the library has to bear two threads at once, and a served model has all requests
together. Knows no episode.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from photocraft_local.errors import ModelError
from photocraft_local.serving.qwen.completion import (
    Chat,
    ChatRequest,
    Completion,
    ManyAtOnce,
    chat_all,
)

if TYPE_CHECKING:
    from photocraft_local.serving.qwen.brain import Brain

_LOOK_SECONDS = 0.2  # between two looks at the threads, so that Ctrl-C is heard
_STOP_SECONDS = 10.0  # that a thread has to end in after Ctrl-C


class Turns:
    """Whose turn it is. Once stopped, whoever comes back from the model stops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_stopped = False

    def stop(self) -> None:
        self._is_stopped = True

    @contextmanager
    def taken(self) -> Iterator[None]:
        with self._lock:
            self.check()
            yield

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """While the model is waited for."""
        self.check()
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()
            self.check()

    def check(self) -> None:
        """Raises KeyboardInterrupt."""
        if self._is_stopped:
            raise KeyboardInterrupt


class Yielding:
    """A ``Chat`` whose caller's turn passes on while it waits."""

    def __init__(self, chat: Chat, turns: Turns) -> None:
        self._chat, self._turns = chat, turns

    def chat(self, request: ChatRequest) -> Completion:
        with self._turns.given_up():
            return self._chat.chat(request)

    def chat_all(
        self, requests: Sequence[ChatRequest], *, at_once: int
    ) -> list[Completion | ModelError]:
        with self._turns.given_up():
            return chat_all(self._chat, requests, at_once=at_once)


def takes_many(brain: Brain) -> bool:
    """Whether its model reads several prompts together: else threads would only wait in line."""
    return isinstance(brain.chat, ManyAtOnce)


def together(jobs: Sequence[Callable[[], None]], turns: Turns, cancel: Callable[[], None]) -> None:
    """Runs all jobs to their ends. Ctrl-C, here or in one of them, stops all: ``cancel`` ends what
    they wait for, and each ends in its own way. What else a job raises is raised when all are
    done."""
    raised: list[BaseException] = []

    def work(job: Callable[[], None]) -> None:
        try:
            with turns.taken():
                job()
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            raised.append(error)

    threads = [threading.Thread(target=work, args=(job,), daemon=True) for job in jobs]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(_LOOK_SECONDS)
            if any(isinstance(error, KeyboardInterrupt) for error in raised):
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        turns.stop()
        cancel()
        for thread in threads:
            thread.join(_STOP_SECONDS)
        raise
    for error in raised:
        raise error

"""How long work reports: one callable, (stage, done, total). Knows nothing of terminals."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called often and cheaply, always from the thread that does the work.

    ``stage`` is "scan", "read" or "embed", before them "load" and "prepare" where something is
    built once; ``total`` is None while it is not known.
    """

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


def silent(stage: str, done: int, total: int | None) -> None:
    """A Progress that says nothing."""

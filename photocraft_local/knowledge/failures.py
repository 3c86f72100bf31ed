"""What goes wrong with the store of local knowledge, said of the pages and with their way out.

A search for photos needs no pages, and each hint says so. Knows no table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from photocraft_local.errors import (
    LibraryCorrupt,
    LibraryError,
    LibraryLocked,
    LibraryTooNew,
    StorageFull,
)

_GO_ON = "; photos and their search do not need it"
_WAYS_OUT: dict[type[LibraryError], str] = {
    LibraryCorrupt: "move the folder {folder} away and add the pages again: photocraft knowledge"
    " add",
    LibraryTooNew: "update photocraft",
    LibraryLocked: "another command uses it; run this one again",
    StorageFull: "free some space and run it again; what was added before is still there",
    LibraryError: "make the folder {folder} one that you may write to",
}


class InFolder(Protocol):
    @property
    def folder(self) -> Path: ...


_Store = TypeVar("_Store", bound=InFolder)
_Given = ParamSpec("_Given")
_Told = TypeVar("_Told")


@contextmanager
def in_its_words(folder: Path) -> Iterator[None]:
    """Errors of the store in ``folder`` leave with a hint that fits it."""
    try:
        yield
    except LibraryError as error:
        way_out = _WAYS_OUT.get(type(error))
        hint = way_out.format(folder=folder) + _GO_ON if way_out else error.hint
        raise type(error)(error.message, hint=hint) from error


def told(
    method: Callable[Concatenate[_Store, _Given], _Told],
) -> Callable[Concatenate[_Store, _Given], _Told]:
    """The same method of a store, whose errors leave ``in_its_words``."""

    @wraps(method)
    def run(store: _Store, /, *given: _Given.args, **named: _Given.kwargs) -> _Told:
        with in_its_words(store.folder):
            return method(store, *given, **named)

    return run

"""``.photocraftignore``: gitignore patterns that leave files and folders out of the walk.

Owns reading and nesting of the files; the pattern language is pathspec's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from photocraft_local.records import Skipped, path_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE: Final = b".photocraftignore"
_MAX_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules in force in a folder: those of its own ignore file after those above it."""

    levels: tuple[tuple[str, GitIgnoreSpec], ...] = ()  # (folder with trailing slash, patterns)

    @property
    def active(self) -> bool:
        return bool(self.levels)

    def within(self, folder: bytes, on_skip: Callable[[Skipped], None]) -> IgnoreRules:
        """These rules and the ones in ``folder``'s ignore file; a bad file is reported."""
        path = os.path.join(folder, IGNORE_FILE)  # noqa: PTH118 - bytes
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                lines = os.fsdecode(file.read(_MAX_BYTES)).splitlines()
            spec = _spec(lines)
        except (OSError, ValueError) as exc:
            on_skip(Skipped(path, "bad-ignore-file", f"{path_text(path)} is not used: {exc}"))
            return self
        base = os.fsdecode(folder).rstrip("/") + "/"
        return IgnoreRules((*self.levels, (base, spec)))

    def ignores(self, path: bytes, is_folder: bool) -> bool:
        """Whether a path is left out; the innermost file that speaks of it decides."""
        name = os.fsdecode(path)
        for base, spec in reversed(self.levels):
            verdict = spec.check_file(name[len(base) :] + ("/" if is_folder else "")).include
            if verdict is not None:
                return verdict
        return False


def _spec(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)

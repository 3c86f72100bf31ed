"""Which trace is meant: the last question that was cut, or one that the person names."""

from __future__ import annotations

import re
from pathlib import Path

from photocraft_local.agent import trajectory
from photocraft_local.errors import AgentError, UsageError

_CUT = ("running", "interrupted")
_ID = re.compile(r"[0-9a-f-]+")


def last_cut(folder: Path) -> Path:
    """The newest trace without an end. Raises UsageError if there is none."""
    for path in sorted(folder.glob("*.json"), reverse=True):
        try:
            if trajectory.load(path).status in _CUT:
                return path
        except AgentError:
            continue  # a damaged one is nothing to go on with
    raise UsageError(
        "no question of this library was cut",
        hint="ask it again, or name the trace: photocraft resume TRACE",
    )


def trace_named(folder: Path, name: str) -> Path:
    """A trace file, or the trace of an episode's id. Raises UsageError if there is no such."""
    inside = folder / f"{name}.json"
    if _ID.fullmatch(name) and inside.is_file():
        return inside
    path = Path(name).expanduser()
    if path.is_file():
        return path
    raise UsageError(
        f"{name!r} is neither a trace file nor a question of this library",
        hint="the traces lie in the folder traces of the library",
    )

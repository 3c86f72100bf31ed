"""What came to a trace since it was last written whole: lines in a file beside it.

A save costs what is new, not the whole trace. Each line is one save, synced; a crash leaves whole
lines and at most a cut one, which is dropped. Knows lists and values by key, not their meaning.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from photocraft_local.memory.files import JOURNAL
from photocraft_local.records import Json
from photocraft_local.storage import atomic
from photocraft_local.storage.faults import mapped

_log = logging.getLogger(__name__)


class Journal:
    """Of the trace file ``trace``, while its attempt ``attempt`` goes on; the file begins anew with
    the first line."""

    def __init__(self, trace: Path, attempt: int) -> None:
        self._path = path_of(trace)
        self._attempt = attempt
        self._size = 0

    def append(self, lists: Mapping[str, Json], values: Mapping[str, Json]) -> None:
        """``lists``: key → [length before, new items]. Raises StorageFull or LibraryError; the
        lines before stay whole then."""
        with mapped(self._path):
            if not self._size:
                head = _line({"attempt": self._attempt})
                atomic.write_parts(self._path, [head])
                atomic.sync(self._path.parent)
                self._size = len(head)
            line = _line({"lists": lists, "values": values})
            atomic.replace_tail(self._path, self._size, line)
        self._size += len(line)


def path_of(trace: Path) -> Path:
    return trace.with_suffix(JOURNAL)


def remove(trace: Path) -> None:
    """Once all of it stands in the trace."""
    with mapped(trace):
        path_of(trace).unlink(missing_ok=True)


def merged(data: dict[str, Any], trace: Path) -> dict[str, Any]:
    """``data`` is the JSON of a trace; with the lines beside it, as far as they are whole. Lines of
    an attempt before the one that goes on are in it already, and so may be some of the others.

    Raises OSError, and what JSON of another shape raises."""
    try:
        raw = path_of(trace).read_bytes()
    except FileNotFoundError:
        return data
    lines = raw.split(b"\n")[:-1]  # what follows the last line break was cut
    if not lines or _parsed(lines[0]).get("attempt") != len(data.get("attempts", ())) + 1:
        return data
    for number, line in enumerate(lines[1:], start=2):
        if not _took(data, _parsed(line)):
            told = "%s is damaged in line %d; going on without the rest"
            _log.warning(told, path_of(trace), number)
            break
    return data


def _took(data: dict[str, Any], entry: dict[str, Any]) -> bool:
    lists, values = entry.get("lists"), entry.get("values")
    if not isinstance(lists, dict) or not isinstance(values, dict):
        return False
    if any(at > len(data.setdefault(key, [])) for key, (at, _) in lists.items()):
        return False
    for key, (at, new) in lists.items():
        data[key][at : at + len(new)] = new
    data.update(values)
    return True


def _parsed(line: bytes) -> dict[str, Any]:
    """Empty for what is no line of a journal."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _line(entry: Mapping[str, Json]) -> bytes:
    return json.dumps(entry, sort_keys=True).encode("ascii") + b"\n"

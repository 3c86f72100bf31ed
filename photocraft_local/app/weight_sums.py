"""``SHA256SUMS``: the list of a folder's files with their hashes, as ``sha256sum`` writes it.

Owns reading it strictly, and making it so that a stop at any moment loses at most one file's
work. Knows nothing of models.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from photocraft_local.errors import UsageError
from photocraft_local.records import path_text

SUMS_FILE = "SHA256SUMS"
UNFINISHED_FILE = "SHA256SUMS.unfinished"
_NEW_FILE = "SHA256SUMS.new"
OWN_FILES = frozenset((SUMS_FILE, UNFINISHED_FILE, _NEW_FILE))

_PIECE = 1 << 20
_LARGEST_LIST = 16 << 20
_LINE = re.compile(rb"(?P<escaped>\\?)(?P<digest>[0-9a-fA-F]{64}) [ *](?P<name>[^\0]+)")
_FINISHED = re.compile(rb"([0-9a-f]{64}) (\d+) (\d+)  (.+)")
_LETTERS = {b"\\n": b"\n", b"\\r": b"\r", b"\\\\": b"\\"}
_HINT = "copy the list over again, or write one with photocraft weights manifest FOLDER"


def sha256_of(path: Path, tell: Callable[[int], None]) -> str:
    """Hex digest of one file; ``tell`` gets the number of bytes read so far."""
    digest, done = hashlib.sha256(), 0
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            done += len(piece)
            tell(done)
    return digest.hexdigest()


def read_sums(root: Path) -> dict[str, str] | None:
    """File name → lower-case digest; None where the folder has no list.

    Raises UsageError: it cannot be read, a line is none of ``sha256sum``, or a name leads out of
    the folder.
    """
    path = root / SUMS_FILE
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_LIST + 1)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise UsageError(f"{path} cannot be read: {exc.strerror}", hint=_HINT) from exc
    if len(data) > _LARGEST_LIST:
        raise UsageError(f"{path} is too large for a list of hashes", hint=_HINT)
    listed = dict(_entries(data, path))
    if not listed:
        raise UsageError(f"{path} lists no file", hint=_HINT)
    return listed


def _entries(data: bytes, path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(data.replace(b"\r\n", b"\n").split(b"\n"), 1):
        if not line or line.startswith(b"#"):
            continue
        match = _LINE.fullmatch(line)
        if not match:
            raise UsageError(f"{path}, line {number}: no SHA-256 and file name", hint=_HINT)
        name = os.fsdecode(_unescaped(match["name"]) if match["escaped"] else match["name"])
        name = name.removeprefix("./")
        if name.startswith("/") or ".." in PurePosixPath(name).parts:
            said = path_text(os.fsencode(name))
            raise UsageError(f"{path}, line {number}: {said} leads out of the folder", hint=_HINT)
        yield name, match["digest"].decode().lower()


def _unescaped(name: bytes) -> bytes:
    return re.sub(rb"\\[nr\\]", lambda match: _LETTERS[match[0]], name)


def _escaped(name: str) -> tuple[bytes, bytes]:
    """The mark before a line with an escaped name, and the name as the line has it."""
    raw = os.fsencode(name)
    for short, letter in reversed(_LETTERS.items()):  # the backslash first
        raw = raw.replace(letter, short)
    return (b"\\" if raw != os.fsencode(name) else b""), raw


def write_sums(root: Path, names: Iterable[str], tell: Callable[[str, int], None]) -> None:
    """Hashes the files and puts the list in its place at the end, whole.

    Each sum is appended to a file of its own as soon as it is known; files that kept size and
    time since then are not read again. Raises OSError.
    """
    unfinished = root / UNFINISHED_FILE
    known = dict(_finished(unfinished))
    lines = []
    with unfinished.open("ab") as file:
        if file.tell():
            file.write(b"\n")  # a line that was cut stays a line of its own
        for name in sorted(names):
            state = (root / name).stat()
            stamp = (name, state.st_size, state.st_mtime_ns)
            digest = known.get(stamp) or sha256_of(root / name, _about(tell, name))
            tell(name, state.st_size)
            mark, raw = _escaped(name)
            lines.append(b"%s%s  %s\n" % (mark, digest.encode(), raw))
            if stamp not in known:
                file.write(b"%s %d %d  %s\n" % (digest.encode(), *stamp[1:], raw))
                file.flush()
    new = root / _NEW_FILE
    new.write_bytes(b"".join(lines))
    new.replace(root / SUMS_FILE)
    unfinished.unlink()


def _about(tell: Callable[[str, int], None], name: str) -> Callable[[int], None]:
    return lambda done: tell(name, done)


def _finished(path: Path) -> Iterator[tuple[tuple[str, int, int], str]]:
    """What an earlier, stopped run had finished: (name, bytes, time) → digest."""
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n"):
        if match := _FINISHED.fullmatch(line):
            digest, size, time, raw = match.groups()
            yield (os.fsdecode(_unescaped(raw)), int(size), int(time)), digest.decode()

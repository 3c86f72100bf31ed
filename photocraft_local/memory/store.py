"""Finished episodes of one library, kept as JSON lines beside it, for ``recall`` and hints.

A damaged or missing file never stops a search: what can be read is used, the rest is logged
with file and line, and stays in the file byte for byte. Knows nothing of the loop; deletes traces
by name and text only.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from photocraft_local.errors import LibraryError, LibraryLocked, StorageFull, UsageError
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.files import JOURNAL, private, write_atomically
from photocraft_local.memory.markdown import to_markdown
from photocraft_local.memory.recall import likeness
from photocraft_local.storage import atomic
from photocraft_local.storage.faults import mapped
from photocraft_local.storage.lock import WriteLock

VERSION = 2  # 1 had no reflections, and of a plan's steps only goal and status
MAX_BYTES = 8 << 20  # some 5,000 episodes; past it the older half goes, so that reading stays fast
_TRACE_FILES = (".json", ".part", JOURNAL)
_WAIT_SECONDS = 5.0  # for another process that writes
_MOST_TOLD = 3  # lines of a file that are named as damaged, each
_WAYS_OUT: dict[type[LibraryError], str] = {
    LibraryLocked: "let the other command end, then run this one again; searches need no memory",
    StorageFull: "free some space; what was remembered is still there, and searches go on",
    LibraryError: "searches go on without it; make it a file, in a folder, that you may write to",
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Line:
    raw: str
    record: EpisodeRecord | None  # None: damaged, or from a newer version


class MemoryStore:
    """Episodes under ``library/memory`` and traces under ``library/traces``."""

    def __init__(self, library: Path) -> None:
        self._file = library / "memory" / "episodes.jsonl"
        self._traces = library / "traces"

    def add(self, record: EpisodeRecord) -> None:
        """Appends one episode. Raises StorageFull or LibraryError."""
        row = _row(record)
        with self._locked():
            with open(self._file, "a+b", opener=private) as stream:
                # A line that a crash cut short must not swallow this one.
                stream.write(_missing_newline(stream) + row.encode("ascii") + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
                size = stream.tell()
            if size > MAX_BYTES:
                lines = self._read()
                self._rewrite(lines[len(lines) // 2 :])

    def list(self) -> Sequence[EpisodeRecord]:
        """All readable episodes, oldest first."""
        return [line.record for line in self._lines() if line.record is not None]

    def show(self, episode_id: str) -> EpisodeRecord:
        """Raises UsageError for an id that is not there, LibraryError for an unreadable file."""
        with self._told():
            lines = self._read()
        for line in lines:
            if line.record is not None and line.record.episode_id == episode_id:
                return line.record
        raise UsageError(
            f"memory holds no episode {episode_id!r}",
            hint="`photocraft memory list` shows the ids",
        )

    def forget(self, episode_id: str) -> None:
        """Removes one episode and its traces. Raises UsageError if it is not there."""
        self.show(episode_id)
        self._keep(lambda line: line.record is None or line.record.episode_id != episode_id)
        trace = self._traces / f"{episode_id}.json"
        runs = self._traces.glob(f"{episode_id}-*.json")  # of the same question
        for one in (trace, *runs):
            for path in (one, atomic.part_of(one), one.with_suffix(JOURNAL)):
                path.unlink(missing_ok=True)

    def forget_all(self) -> int:
        """Removes every episode and trace; returns how many episodes there were."""
        count = len(self.list())
        self._keep(lambda line: False)
        for trace in self._trace_files():
            trace.unlink(missing_ok=True)
        return count

    def forget_photo(self, uid: str) -> int:
        """Removes each episode and trace that names the photo or a crop of it, whole, since
        its words and other steps tell of the photo too. Returns how many files and lines."""
        named = _naming(uid)
        dropped = self._keep(lambda line: not named.search(line.raw))
        for trace in self._trace_files():
            if trace.exists() and named.search(trace.read_text("utf-8", "replace")):
                for path in {trace, trace.with_suffix(".json"), trace.with_suffix(JOURNAL)}:
                    path.unlink(missing_ok=True)
                dropped += 1
        return dropped

    def naming(self, uid: str) -> frozenset[str]:
        """Ids of the episodes whose record or trace names the photo or a crop of it."""
        named = _naming(uid)
        ids = {
            line.record.episode_id
            for line in self._lines()
            if line.record is not None and named.search(line.raw)
        }
        for trace in self._trace_files():
            if named.search(trace.read_text("utf-8", "replace")):
                ids.add(trace.name.partition(".")[0])
        return frozenset(ids)

    def replace(self, record: EpisodeRecord) -> None:
        """Writes another version of an episode. Raises UsageError if it is not there."""
        self.show(record.episode_id)
        row = _row(record)
        with self._locked():
            lines = [
                _Line(row, record)
                if line.record is not None and line.record.episode_id == record.episode_id
                else line
                for line in self._read()
            ]
            self._rewrite(lines)

    def num_bytes(self) -> int:
        """Of the file of episodes."""
        return self._file.stat().st_size if self._file.exists() else 0

    def traces(self) -> tuple[int, int]:
        """How many there are, and their bytes."""
        files = self._trace_files()
        num_traces = sum(path.suffix == ".json" for path in files)
        return num_traces, sum(path.stat().st_size for path in files)

    def export(self, folder: Path) -> Sequence[Path]:
        """Writes each episode as a Markdown file into ``folder``; returns the files."""
        files = []
        for record in self.list():
            path = folder / f"{record.episode_id}.md"
            write_atomically(path, to_markdown(record))
            files.append(path)
        return files

    def recall(self, text: str, *, limit: int = 3) -> Sequence[EpisodeRecord]:
        """Past episodes that share words with ``text``, in the question or in what was stated of
        it, best first. Words only, no meaning."""
        scored = [
            (max(likeness(text, words) for words in record.texts()), record)
            for record in self.list()
        ]
        scored.sort(key=lambda pair: (-pair[0], pair[1].episode_id))
        return [record for score, record in scored[:limit] if score > 0]

    def _trace_files(self) -> Sequence[Path]:
        return [path for path in self._traces.glob("*") if path.suffix in _TRACE_FILES]

    def _lines(self) -> Sequence[_Line]:
        """None of them where the file cannot be read, which is said."""
        try:
            with self._told():
                return self._read()
        except LibraryError as exc:
            _log.warning("memory %s cannot be read: %s; %s", self._file, exc.message, exc.hint)
            return []

    def _read(self) -> Sequence[_Line]:
        """Raises OSError: whoever writes the file anew must not take "unreadable" for "empty"."""
        try:
            raw = self._file.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return []
        lines, problems = [], []
        for number, row in enumerate(raw.split("\n"), start=1):
            if row.strip():
                record, problem = _record(row)
                lines.append(_Line(row, record))
                problems += [f"line {number} is {problem}"] if problem else []
        for problem in problems[:_MOST_TOLD]:
            _log.warning("memory %s %s, and left out; it stays in the file", self._file, problem)
        if problems[_MOST_TOLD:]:
            more = len(problems) - _MOST_TOLD
            _log.warning("memory %s has %d more lines that are left out", self._file, more)
        return lines

    def _keep(self, wanted: Callable[[_Line], bool]) -> int:
        """Rewrites the file with the wanted lines; returns the number of lines that went."""
        with self._locked():
            lines = self._read()
            kept = [line for line in lines if wanted(line)]
            if len(kept) < len(lines):
                self._rewrite(kept)
        return len(lines) - len(kept)

    def _rewrite(self, lines: Sequence[_Line]) -> None:
        text = "".join(line.raw + "\n" for line in lines)
        atomic.write_atomically(self._file, text.encode("utf-8", "surrogateescape"))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._told(), mapped(self._file):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with WriteLock(self._file.with_suffix(".lock")).hold(_WAIT_SECONDS):
                yield

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong is said of the episodes, not of a library of photos."""
        try:
            with mapped(self._file):
                yield
        except LibraryError as error:
            raise type(error)(f"episodes: {error.message}", hint=_WAYS_OUT[type(error)]) from error


def _record(row: str) -> tuple[EpisodeRecord | None, str]:
    """Of a line, or what is wrong with it."""
    try:
        data = json.loads(row)
        if data.pop("version") > VERSION:
            return None, "from a newer version, which an update of photocraft reads"
        return EpisodeRecord.from_json(data), ""
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, "damaged"


def _naming(uid: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(uid)}(?![A-Za-z0-9])")


def _row(record: EpisodeRecord) -> str:
    return json.dumps({"version": VERSION, **record.to_json()}, sort_keys=True)


def _missing_newline(stream: BinaryIO) -> bytes:
    """What the file lacks at its end; the stream stands at the end afterwards."""
    size = stream.seek(0, os.SEEK_END)
    if size == 0:
        return b""
    stream.seek(size - 1)
    return b"" if stream.read(1) == b"\n" else b"\n"

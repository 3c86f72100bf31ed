"""Brings the store up to date with the folders and files that were added: new and changed files
are read, gone ones dropped. Each file is one transaction, so a run may be cut anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from photocraft_local.errors import PageError, UsageError
from photocraft_local.knowledge.pages import READER
from photocraft_local.knowledge.reading import Reading
from photocraft_local.knowledge.references import ABSENT
from photocraft_local.knowledge.store import KnowledgeStore
from photocraft_local.knowledge.walk import KINDS, kind_of, pages_under
from photocraft_local.library.progress import Progress, silent
from photocraft_local.records import Skipped, path_text

_VOLATILE = ("unreadable",)  # reasons after which the next run tries again


@dataclass(slots=True)
class Intake:
    """What a run did, in files. ``offline``: sources that are not there now; theirs is kept."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    dropped: int = 0
    offline: list[bytes] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)  # of the sources of this run


def take_in(
    store: KnowledgeStore,
    reading: Reading,
    sources: Sequence[Path],
    progress: Progress = silent,
) -> Intake:
    """Add ``sources`` (absolute), or without any look again at all that are known.

    Raises UsageError for what is not there or no page, MissingExtraError, StorageFull.
    """
    for source in sources:
        _check(store, source)
    done = Intake()
    paths = [_covering(store, source) for source in sources]
    wanted = dict.fromkeys(paths or [Path(os.fsdecode(one)) for one in store.sources()])
    for source in wanted:
        _take_source(store, reading, source, done, progress)
    if done.changed or done.dropped:
        store.tidy()
    else:
        store.sweep()
    return done


def remove(store: KnowledgeStore, source: bytes) -> int:
    """Forget a source and all that came from it; the number of its pages. The files of the person
    are not touched. Raises UsageError."""
    known = store.sources()
    if source not in known:
        told = ", ".join(map(path_text, known)) or "nothing"
        raise UsageError(f"{path_text(source)} was never added", hint=f"what was added: {told}")
    pages = [page.path for page in store.pages(source)]
    with store.database.transaction():
        store.drop(pages)
        store.database.execute("DELETE FROM sources WHERE path = ?", (source,))
    store.tidy()
    return len(pages)


def _check(store: KnowledgeStore, source: Path) -> None:
    shown = path_text(os.fsencode(source))
    if not source.exists():
        raise UsageError(f"{shown} is not there", hint="check the spelling")
    if source.is_file() and not kind_of(source):
        kinds = ", ".join(KINDS)
        raise UsageError(f"{shown} is no page", hint=f"pages are files that end in {kinds}")
    if source.resolve().is_relative_to(store.folder.parent.resolve()):
        raise UsageError(
            f"{shown} lies inside the library's own folder",
            hint="keep pages in a folder of yours",
        )


def _covering(store: KnowledgeStore, source: Path) -> Path:
    """The known source that holds it, or itself as a new one, which takes in those below it."""
    known = [Path(os.fsdecode(path)) for path in store.sources()]
    above = next((one for one in known if source.is_relative_to(one)), None)
    if above is not None:
        return above
    below = [one for one in known if one.is_relative_to(source)]
    with store.database.transaction():
        source_id = store.source_id(os.fsencode(source))
        for one in below:
            old = store.source_id(os.fsencode(one))
            store.database.execute(
                "UPDATE pages SET source_id = ? WHERE source_id = ?", (source_id, old)
            )
            store.database.execute("DELETE FROM sources WHERE source_id = ?", (old,))
    return source


def _take_source(
    store: KnowledgeStore, reading: Reading, source: Path, done: Intake, progress: Progress
) -> None:
    raw = os.fsencode(source)
    known = {page.path: page for page in store.pages(raw)}
    if _is_offline(source, bool(known)):
        done.offline.append(raw)
        return
    files = list(pages_under(source)) if source.is_dir() else [source] * source.is_file()
    root = source if source.is_dir() else source.parent
    for number, file in enumerate(files):
        progress("read", number, len(files))
        _take_file(store, reading, file, (root, raw), done)
    progress("read", len(files), len(files))
    gone = known.keys() - {os.fsencode(file) for file in files}
    with store.database.transaction():
        done.dropped += store.drop(sorted(gone))
    done.skipped += [
        Skipped(page.path, page.reason, page.message) for page in store.pages(raw) if page.reason
    ]


def _is_offline(source: Path, held_pages: bool) -> bool:
    """A drive that is not mounted leaves nothing, or an empty folder, and no reason to forget."""
    if source.is_dir():
        return held_pages and not any(source.iterdir())
    return not source.exists() and not source.parent.is_dir()


def _take_file(
    store: KnowledgeStore, reading: Reading, file: Path, where: tuple[Path, bytes], done: Intake
) -> None:
    root, source = where
    raw = os.fsencode(file)
    try:
        stat = file.stat()
    except OSError:
        return  # it went while the folder was read; the next run drops it
    row = store.database.row(
        "SELECT size, mtime_ns, reader, left_out, reason, page_id FROM pages WHERE path = ?", (raw,)
    )
    if row and _is_unchanged(store, row, stat):
        done.unchanged += 1
        return
    try:
        page = reading.read(file, root)
    except PageError as exc:
        with store.database.transaction():
            why = (exc.reason, exc.message)
            store.skip(store.source_id(source), raw, stat, kind_of(file), why)
        done.dropped += bool(row and not row[4])
        return
    with store.database.transaction():
        store.put(store.source_id(source), raw, stat, page)
    done.changed += row is not None
    done.added += row is None


def _is_unchanged(store: KnowledgeStore, row: tuple[object, ...], stat: os.stat_result) -> bool:
    """The file, and the pictures beside it that it shows."""
    *facts, left_out, reason, page_id = row
    if facts != [stat.st_size, stat.st_mtime_ns, READER] or reason in _VOLATILE:
        return False
    if ABSENT in str(left_out):
        return False
    pictures = store.database.rows(
        "SELECT path, size, mtime_ns FROM originals WHERE page_id = ?", (page_id,)
    )
    return all(_is_as_it_was(*picture) for picture in pictures)


def _is_as_it_was(path: bytes, size: int, mtime_ns: int) -> bool:
    try:
        facts = os.stat(path)  # noqa: PTH116
    except OSError:
        return False
    return (facts.st_size, facts.st_mtime_ns) == (size, mtime_ns)

"""``PhotoSearch.knowledge``: pages of the person's own, which questions may look things up in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.indexing import absolute
from photocraft_local.errors import EncoderError, MissingExtraError, UsageError
from photocraft_local.records import Skipped

if TYPE_CHECKING:
    from photocraft_local.app.parts import Parts
    from photocraft_local.knowledge.store import Counts, KnowledgeStore, KnownPage
    from photocraft_local.library.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeReport:
    """What a run did. Numbers of files, but ``passages`` and ``pictures``, which are what the
    store holds now, ``pages`` with them. ``notes``: what could not be done, in words."""

    added: int
    changed: int
    unchanged: int
    dropped: int
    pages: int
    passages: int
    pictures: int
    skipped: tuple[Skipped, ...]
    offline: tuple[bytes, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeSource:
    """A folder or file that was added, and its pages, skipped ones too."""

    path: bytes
    pages: tuple[KnownPage, ...]


class Knowledge:
    """The local knowledge of one library."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def add(self, *files: str | bytes | Path, progress: Progress | None = None) -> KnowledgeReport:
        """Read pages (HTML with its folder, MHTML, Markdown, text, PDF) out of files and folders;
        without any, look again at all that were added: changed ones are read, gone ones dropped.

        The files are only read, and nothing that they point to elsewhere is fetched. Raises
        UsageError for what is not there or no page, MissingExtraError, LibraryError.
        """
        from photocraft_local.knowledge.intake import take_in
        from photocraft_local.knowledge.reading import Reading
        from photocraft_local.library.progress import silent

        report = progress or silent
        library = self._parts.library()
        with library.write_lock():
            store = self._parts.knowledge(create=True)
            assert store is not None
            sources = [Path(os.fsdecode(absolute(file))) for file in files]
            limit = self._parts.settings.max_pixels
            with store.changing(), Reading(store.scratch, max_pixels=limit) as reading:
                done = take_in(store, reading, sources, report)
                notes = self._embedded(store, report)
            counts = store.counts()
        return KnowledgeReport(
            added=done.added,
            changed=done.changed,
            unchanged=done.unchanged,
            dropped=done.dropped,
            pages=counts.pages,
            passages=counts.passages,
            pictures=counts.pictures,
            skipped=tuple(done.skipped),
            offline=tuple(done.offline),
            notes=notes,
        )

    def list(self) -> Sequence[KnowledgeSource]:
        """By path."""
        self._parts.library()
        store = self._parts.knowledge()
        if store is None:
            return []
        return [KnowledgeSource(path, tuple(store.pages(path))) for path in store.sources()]

    def counts(self) -> Counts | None:
        """None if nothing was ever added."""
        store = self._parts.knowledge()
        return store.counts() if store else None

    def remove(self, source: str | bytes | Path) -> int:
        """Forget a folder or file that was added; the number of its pages. Nothing of it stays.
        Raises UsageError for what was never added."""
        from photocraft_local.knowledge.intake import remove

        with self._parts.library().write_lock():
            store = self._parts.knowledge()
            if store is None:
                raise UsageError(
                    "no page was ever added", hint="photocraft knowledge add FILE adds one"
                )
            with store.changing():
                return remove(store, absolute(source))

    def _embedded(self, store: KnowledgeStore, progress: Progress) -> tuple[str, ...]:
        """Vectors for pictures; where no encoder runs, words alone find them, which is said."""
        from photocraft_local.knowledge.looks import embed_pending

        if not store.counts().pictures:
            return ()
        try:
            limit = self._parts.settings.max_pixels
            embed_pending(store, self._parts.encoder(), max_pixels=limit, progress=progress)
        except (EncoderError, MissingExtraError) as exc:
            return (f"pictures of pages are found by words alone: {exc.message}; {exc.hint}",)
        return ()

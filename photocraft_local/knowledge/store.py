"""The store of local knowledge: pages, passages, pictures with ids, in a folder of the library.

Pictures on disk stay where they are; those that a page brought along are stored once, by their
content. Rows are committed after the files that they name, and a file without a row is swept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.errors import PhotoError, UnknownPhoto, UnreadablePhoto
from photocraft_local.files.fingerprint import digest_file
from photocraft_local.knowledge.failures import in_its_words, told
from photocraft_local.knowledge.pages import READER, Page, PagePicture
from photocraft_local.knowledge.schema import MIGRATIONS
from photocraft_local.knowledge.words import query_of, spread
from photocraft_local.library.uids import make_uid, normalise
from photocraft_local.storage.atomic import write_atomically
from photocraft_local.storage.database import Database
from photocraft_local.storage.faults import corrupt, mapped

FOLDER = "knowledge"  # inside the library's folder
DATABASE = "knowledge.db"
LETTER = "k"  # with which the ids of its pictures begin
_PICTURES = "pictures"
_BUSY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Found:
    """A passage as it is told. ``picture`` is the id of the picture that it is the caption of."""

    page: str  # the file's name
    title: str
    place: str
    heading: str
    text: str
    picture: str


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """``caption`` is one of those it has; ``page`` the name of the file that it stands in."""

    uid: str
    width: int
    height: int
    caption: str
    page: str


@dataclass(frozen=True, slots=True)
class KnownPage:
    """One file of a source. With a ``reason`` it is skipped and holds nothing."""

    path: bytes
    kind: str
    title: str
    num_passages: int
    num_pictures: int
    left_out: Mapping[str, int]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Counts:
    pages: int
    passages: int
    pictures: int


class KnowledgeStore:
    """Use ``KnowledgeStore.open``; changes are the business of intake.py."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder, self.database = folder, database
        self.pictures_folder = folder / _PICTURES
        self.scratch = folder / "scratch"

    @classmethod
    def open(cls, library: Path, *, create: bool = False) -> KnowledgeStore | None:
        """That of a library's folder; None if nothing was ever added and ``create`` is not set.

        Raises LibraryCorrupt, LibraryTooNew, LibraryLocked, StorageFull, LibraryError.
        """
        folder = library / FOLDER
        path = folder / DATABASE
        with in_its_words(folder), mapped(folder):
            if not path.exists() and not create:
                return None
            folder.mkdir(mode=0o700, exist_ok=True)
            database = Database.open(path, MIGRATIONS, create=create, busy_seconds=_BUSY_SECONDS)
            return cls(folder, database)

    def close(self) -> None:
        self.database.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Around a whole run of changes: a damaged database is left as it is, not written to, and
        what goes wrong is said of the pages, not of a library of photos."""
        with in_its_words(self.folder):
            self.database.verify()
            yield

    # --- reading

    @told
    def sources(self) -> list[bytes]:
        """The folders and files that were added."""
        return [path for (path,) in self.database.rows("SELECT path FROM sources ORDER BY path")]

    @told
    def pages(self, source: bytes) -> list[KnownPage]:
        """Its pages, skipped ones too, by path."""
        rows = self.database.rows(
            "SELECT p.path, kind, p.title, count(passage_id), count(DISTINCT picture_id), left_out,"
            " reason, message FROM pages p JOIN sources s USING (source_id)"
            " LEFT JOIN passages USING (page_id) WHERE s.path = ? GROUP BY page_id ORDER BY p.path",
            (source,),
        )
        return [
            KnownPage(
                path, kind, title, passages, pictures, self._left_out(left_out), reason, message
            )
            for path, kind, title, passages, pictures, left_out, reason, message in rows
        ]

    def _left_out(self, text: str) -> Mapping[str, int]:
        try:
            return dict(json.loads(text))
        except (ValueError, TypeError) as exc:
            raise corrupt(self.database.path, f"a page's row cannot be read ({exc})") from exc

    @told
    def counts(self) -> Counts:
        count = self.database.value
        return Counts(
            count("SELECT count(*) FROM pages WHERE reason = ''"),
            count("SELECT count(*) FROM passages"),
            count("SELECT count(*) FROM pictures"),
        )

    @told
    def search(self, text: str, *, source: str = "", most: int = 8) -> list[Found]:
        """Passages that share words with ``text``, best first. ``source``: only files whose name
        contains it."""
        query = query_of(text)
        if not query:
            return []
        rows = self.database.rows(
            "SELECT p.path, p.title, place, passages.heading, passages.text, uid FROM words"
            " JOIN passages ON passage_id = words.rowid JOIN pages p USING (page_id)"
            " LEFT JOIN pictures USING (picture_id) WHERE words MATCH ?"
            " AND (? OR page_id IN (SELECT value FROM json_each(?)))"
            " ORDER BY bm25(words, 1.0, 0.6, 0.3), passage_id LIMIT ?",
            (query, not source, json.dumps(self._named(source)), most),
        )
        return [
            Found(_name(path), title, place, heading, said, uid or "")
            for path, title, place, heading, said, uid in rows
        ]

    def _named(self, part: str) -> list[int]:
        """Pages whose file's name contains it."""
        if not part:
            return []
        rows = self.database.rows("SELECT page_id, path FROM pages")
        return [page for page, path in rows if part.casefold() in _name(path).casefold()]

    @told
    def picture(self, uid: str) -> KeptPicture:
        """Raises UnknownPhoto."""
        row = self.database.row(
            "SELECT uid, width, height, text, p.path FROM pictures JOIN passages USING (picture_id)"
            " JOIN pages p USING (page_id) WHERE uid = ? ORDER BY passage_id LIMIT 1",
            (normalise(uid),),
        )
        if row is None:
            raise UnknownPhoto(
                f"there is no picture {uid!r} in the local knowledge",
                hint="lookup gives the ids of pictures of saved pages",
            )
        found, width, height, caption, path = row
        return KeptPicture(found, width, height, caption, _name(path))

    @told
    def picture_path(self, uid: str) -> bytes:
        """A file with the picture as it was added. Raises UnknownPhoto, UnreadablePhoto."""
        row = self.database.row(
            "SELECT picture_id, digest FROM pictures WHERE uid = ?", (normalise(uid),)
        )
        if row is None:
            self.picture(uid)  # says so
        assert row is not None
        picture_id, digest = row
        stored = self.pictures_folder / digest.hex()
        if stored.is_file():
            return os.fsencode(stored)
        sql = "SELECT path FROM originals WHERE picture_id = ? ORDER BY path"
        for (path,) in self.database.rows(sql, (picture_id,)):
            if _has_digest(path, digest):
                return bytes(path)
        raise UnreadablePhoto(
            f"the file of {uid} is gone, or is another picture now",
            hint="photocraft knowledge add reads what has changed",
        )

    # --- changing; inside ``database.transaction()``

    def source_id(self, path: bytes) -> int:
        """Of a source that is there, or is made."""
        known = self.database.value("SELECT source_id FROM sources WHERE path = ?", (path,))
        if known is not None:
            return int(known)
        return self.database.execute("INSERT INTO sources (path) VALUES (?)", (path,))

    def put(self, source_id: int, path: bytes, stat: os.stat_result, page: Page) -> None:
        """A page in the place of what was known of that file; its own pictures are stored."""
        ids = [self._keep(picture) for picture in page.pictures]
        page_id = self._new_page(
            source_id, path, stat, (page.kind, page.title, json.dumps(dict(page.left_out)), "", "")
        )
        for passage in page.passages:
            picture_id = None if passage.picture is None else ids[passage.picture]
            passage_id = self.database.execute(
                "INSERT INTO passages (page_id, place, heading, text, picture_id)"
                " VALUES (?, ?, ?, ?, ?)",
                (page_id, passage.place, passage.heading, passage.text, picture_id),
            )
            title = f"{page.title} {Path(_name(path)).stem}"
            words = map(spread, (passage.text, passage.heading, title))
            self.database.execute(
                "INSERT INTO words (rowid, text, heading, title) VALUES (?, ?, ?, ?)",
                (passage_id, *words),
            )
        for picture, picture_id in zip(page.pictures, ids, strict=True):
            if picture.is_original:
                facts = os.stat(picture.path)  # noqa: PTH116
                self.database.execute(
                    "INSERT OR REPLACE INTO originals VALUES (?, ?, ?, ?, ?)",
                    (page_id, picture.path, picture_id, facts.st_size, facts.st_mtime_ns),
                )

    def skip(
        self, source_id: int, path: bytes, stat: os.stat_result, kind: str, why: tuple[str, str]
    ) -> None:
        """``why``: reason and message."""
        self._new_page(source_id, path, stat, (kind, "", "{}", *why))

    def drop(self, paths: Iterable[bytes]) -> int:
        """Forget pages; the number of those that were known."""
        number = 0
        for path in paths:
            self.database.change(
                "DELETE FROM words WHERE rowid IN (SELECT passage_id FROM passages JOIN pages"
                " USING (page_id) WHERE path = ?)",
                (path,),
            )
            number += self.database.change("DELETE FROM pages WHERE path = ?", (path,))
        return number

    def drop_lone_pictures(self) -> None:
        """Those that no page has any more."""
        self.database.execute(
            "DELETE FROM pictures WHERE picture_id NOT IN"
            " (SELECT picture_id FROM passages WHERE picture_id IS NOT NULL)"
        )

    def _keep(self, picture: PagePicture) -> int:
        digest = bytes.fromhex(picture.digest)
        if not picture.is_original:
            self._store(picture)
        known = self.database.value("SELECT picture_id FROM pictures WHERE digest = ?", (digest,))
        if known is not None:
            return int(known)
        uid = make_uid(digest, self._is_taken, letter=LETTER)
        return self.database.execute(
            "INSERT INTO pictures (uid, digest, width, height) VALUES (?, ?, ?, ?)",
            (uid, digest, picture.width, picture.height),
        )

    def _store(self, picture: PagePicture) -> None:
        path = self.pictures_folder / picture.digest
        with mapped(path):
            if not path.exists():
                self.pictures_folder.mkdir(mode=0o700, exist_ok=True)
                write_atomically(path, Path(os.fsdecode(picture.path)).read_bytes())

    def _is_taken(self, uid: str) -> bool:
        return self.database.value("SELECT 1 FROM pictures WHERE uid = ?", (uid,)) is not None

    def _new_page(
        self, source_id: int, path: bytes, stat: os.stat_result, rest: tuple[str, ...]
    ) -> int:
        self.drop([path])
        return self.database.execute(
            "INSERT INTO pages (source_id, path, size, mtime_ns, reader, kind, title, left_out,"
            " reason, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (source_id, path, stat.st_size, stat.st_mtime_ns, READER, *rest),
        )

    # --- after changes

    def tidy(self) -> None:
        """Nothing of what was dropped stays readable: words out of the index, free pages out of
        the database, pictures out of the folder."""
        with self.database.transaction():
            self.drop_lone_pictures()
            self.database.execute("INSERT INTO words (words) VALUES ('optimize')")
        self.database.vacuum()
        self.sweep()

    def sweep(self) -> None:
        """Files that no row names: left by a crash, or by pages that went."""
        known = {row[0].hex() for row in self.database.rows("SELECT digest FROM pictures")}
        with mapped(self.pictures_folder):
            for path in self._stored():
                if path.name not in known:
                    path.unlink(missing_ok=True)

    def _stored(self) -> Iterator[Path]:
        if self.pictures_folder.is_dir():
            yield from self.pictures_folder.iterdir()


def _name(path: bytes) -> str:
    return os.fsdecode(os.path.basename(path)).encode("utf-8", "replace").decode("utf-8")  # noqa: PTH119


def _has_digest(path: bytes, digest: bytes) -> bool:
    try:
        return digest_file(path) == digest.hex()
    except PhotoError:
        return False

"""A person's skills in one database, for all their libraries: read, change, count, take away.

A skill of the package (a seed) is shown beside the stored ones; editing it stores a copy under
its id, forgetting it hides it. Errors leave as LibraryError with a way out that fits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from photocraft_local.errors import (
    LibraryCorrupt,
    LibraryError,
    LibraryLocked,
    LibraryTooNew,
    StorageFull,
    UsageError,
)
from photocraft_local.memory.files import write_atomically
from photocraft_local.memory.skills.markdown import from_markdown, to_markdown
from photocraft_local.memory.skills.schema import MIGRATIONS
from photocraft_local.memory.skills.seeds import seeds
from photocraft_local.memory.skills.skill import Skill, is_closed
from photocraft_local.settings import Settings
from photocraft_local.storage.database import Database, Row
from photocraft_local.storage.faults import corrupt, mapped

FILE = "skills.db"
_BUSY_SECONDS = 5.0
_OWN = ("kinds", "sketch", "pitfalls", "when", "advice", "origin", "created")
_ROWS = "SELECT skill_id, body, wins, losses, last_used FROM skills ORDER BY skill_id"
_REMOVE = (
    "DELETE FROM skills WHERE skill_id = ?",
    "DELETE FROM sources WHERE skill_id = ?",
    "DELETE FROM outcomes WHERE skill_id = ?",
)
_WON = "UPDATE skills SET wins = wins + 1 WHERE skill_id = ?"
_LOST = "UPDATE skills SET losses = losses + 1 WHERE skill_id = ?"
_HINTS = {
    LibraryCorrupt: "searches go on without skills; move the file away to begin anew, or restore"
    " it from a backup",
    LibraryTooNew: "searches go on without skills; update photocraft",
    LibraryLocked: "another command uses it; run this one again",
    StorageFull: "free some space, or set memory_folder to another drive; nothing stored is lost,"
    " and searches go on",
    LibraryError: "searches go on without skills; make the folder writable, or set memory_folder"
    " to one that is",
}


@dataclass(frozen=True, slots=True)
class SkillStats:
    """What there is, in numbers."""

    learned: int
    written: int
    seeds: int
    retired: int
    wins: int
    losses: int
    bytes: int


class SkillStore:
    """Nothing is read or made before it is asked for; the database is made by the first write."""

    def __init__(self, folder: Path, seeds: Sequence[Skill] = ()) -> None:
        self.path = folder / FILE
        self._seeds = {seed.skill_id: seed for seed in seeds}
        self._database: Database | None = None
        self._is_sound = False  # as far as was looked

    @classmethod
    def of(cls, settings: Settings) -> SkillStore:
        """The person's, with the package's seeds unless they are switched off."""
        return cls(settings.memory_folder, seeds() if settings.skill_seeds else ())

    @property
    def seeds(self) -> Sequence[Skill]:
        return list(self._seeds.values())

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database, self._is_sound = None, False

    def list(self) -> Sequence[Skill]:
        """All of them, retired ones too, by id; seeds last."""
        with self._told():
            database = self._open(create=False)
            if database is None:
                return list(self._seeds.values())
            stored = self._stored(database)
            hidden = {name for (name,) in database.rows("SELECT skill_id FROM hidden")}
            hidden |= {skill.skill_id for skill in stored}
            return [*stored, *(one for one in self._seeds.values() if one.skill_id not in hidden)]

    def show(self, skill_id: str) -> Skill:
        """Raises UsageError for an id that is not there."""
        for skill in self.list():
            if skill.skill_id == skill_id:
                return skill
        raise UsageError(
            f"memory holds no skill {skill_id!r}", hint="`photocraft memory list` shows the ids"
        )

    def add(self, skill: Skill) -> Skill:
        """Stores a new skill, or another version of one. A learned one has to be closed."""
        if skill.origin == "learned" and not is_closed(skill):
            raise UsageError(
                f"skill {skill.skill_id} holds words of its question",
                hint="only what a person writes may hold words of their own",
            )
        with self._changes() as database:
            self._put(database, skill)
        return skill

    def edit(self, skill_id: str, markdown: str) -> Skill:
        """Takes over the text of ``to_markdown`` as a person changed it; id, counts and sources
        stay. Raises UsageError with the line of a mistake."""
        old = self.show(skill_id)
        read = from_markdown(markdown, f"skill {skill_id}")
        new = replace(
            old,
            when=read.when,
            kinds=read.kinds,
            sketch=read.sketch,
            pitfalls=read.pitfalls,
            advice=read.advice,
        )
        return old if new == old else self.add(replace(new, origin="written"))

    def forget(self, skill_id: str) -> None:
        """Removes one skill; a seed stays away for good. Raises UsageError if it is not there."""
        self.show(skill_id)
        with self._changes() as database:
            self._remove(database, skill_id)
            if skill_id in self._seeds:
                database.execute("INSERT OR IGNORE INTO hidden VALUES (?)", (skill_id,))
        self._overwrite()

    def forget_all(self) -> int:
        """Removes every skill, hides the seeds; returns how many there were."""
        skills = self.list()
        with self._changes() as database:
            for delete in ("DELETE FROM skills", "DELETE FROM sources", "DELETE FROM outcomes"):
                database.execute(delete)
            rows = [(name,) for name in self._seeds]
            database.execute_many("INSERT OR IGNORE INTO hidden VALUES (?)", rows)
        self._overwrite()
        return len(skills)

    def forget_episode(self, episode_id: str) -> int:
        """Removes an episode's name from every skill, and the skills that only it taught; returns
        how many of those. How its uses ended still counts, without saying where."""
        if not self.path.exists():
            return 0
        with self._changes() as database:
            taught = database.rows(
                "SELECT skill_id FROM sources WHERE episode_id = ?", (episode_id,)
            )
            database.execute("DELETE FROM sources WHERE episode_id = ?", (episode_id,))
            database.execute(
                "UPDATE outcomes SET episode_id = 'gone-' || hex(randomblob(8))"
                " WHERE episode_id = ?",
                (episode_id,),
            )
            kept = {name for (name,) in database.rows("SELECT skill_id FROM sources")}
            stored = {skill.skill_id: skill for skill in self._stored(database)}
            gone = [
                name
                for (name,) in taught
                if name not in kept and name in stored and stored[name].origin == "learned"
            ]
            for name in gone:
                self._remove(database, name)
        self._overwrite()
        return len(gone)

    def count(self, skill_ids: Sequence[str], episode_id: str, *, won: bool | None) -> None:
        """How an episode ended that had these hints; None says nothing but that they were used.
        An episode that is counted again counts once."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._changes() as database:
            for skill_id in skill_ids:
                seed = self._seeds.get(skill_id)
                if seed and not database.row("SELECT 1 FROM skills WHERE skill_id=?", (skill_id,)):
                    self._put(database, seed)
                changed = "UPDATE skills SET last_used = ? WHERE skill_id = ?"
                if not database.change(changed, (now, skill_id)) or won is None:
                    continue
                outcome = "INSERT OR IGNORE INTO outcomes VALUES (?, ?)"
                if database.change(outcome, (skill_id, episode_id)):
                    database.execute(_WON if won else _LOST, (skill_id,))

    def export(self, folder: Path) -> Sequence[Path]:
        """Writes each skill as a Markdown file into ``folder``; returns the files."""
        files = []
        for skill in self.list():
            path = folder / f"{skill.skill_id}.md"
            write_atomically(path, to_markdown(skill))
            files.append(path)
        return files

    def stats(self) -> SkillStats:
        skills = self.list()
        of = [skill.origin for skill in skills]
        return SkillStats(
            learned=of.count("learned"),
            written=of.count("written"),
            seeds=of.count("seed"),
            retired=sum(skill.retired for skill in skills),
            wins=sum(skill.wins for skill in skills),
            losses=sum(skill.losses for skill in skills),
            bytes=self.path.stat().st_size if self.path.exists() else 0,
        )

    def absorb(self, change: Callable[[Sequence[Skill]], Sequence[Skill]]) -> None:
        """Gives ``change`` the stored skills and keeps those that it returns, in one
        transaction; what became of an id that is gone is for ``change`` to carry over."""
        with self._changes() as database:
            old = self._stored(database)
            new = change(old)
            for name in {skill.skill_id for skill in old} - {skill.skill_id for skill in new}:
                self._remove(database, name)
            for skill in new:
                if skill not in old:
                    self._put(database, skill)

    @staticmethod
    def _put(database: Database, skill: Skill) -> None:
        data = skill.to_json()
        body = json.dumps({key: data[key] for key in _OWN}, sort_keys=True)
        database.execute("DELETE FROM hidden WHERE skill_id = ?", (skill.skill_id,))
        database.execute(
            "INSERT OR REPLACE INTO skills VALUES (?, ?, ?, ?, ?)",
            (skill.skill_id, body, skill.wins, skill.losses, skill.last_used),
        )
        database.execute("DELETE FROM sources WHERE skill_id = ?", (skill.skill_id,))
        rows = [(skill.skill_id, name) for name in skill.episodes]
        database.execute_many("INSERT OR IGNORE INTO sources VALUES (?, ?)", rows)

    @staticmethod
    def _remove(database: Database, skill_id: str) -> None:
        for delete in _REMOVE:
            database.execute(delete, (skill_id,))

    def _stored(self, database: Database) -> Sequence[Skill]:
        sources: dict[str, list[str]] = {}
        for skill_id, episode_id in database.rows("SELECT skill_id, episode_id FROM sources"):
            sources.setdefault(skill_id, []).append(episode_id)
        read = (self._read(row, sources.get(row[0], ())) for row in database.rows(_ROWS))
        return [skill for skill in read if skill is not None]

    def _read(self, row: Row, episodes: Sequence[str]) -> Skill | None:
        """Of a seed only the counts are stored; None for one that is switched off or gone."""
        skill_id, body, wins, losses, last_used = row
        counts = {"wins": wins, "losses": losses, "last_used": last_used}
        try:
            data = json.loads(body)
            if data["origin"] == "seed":
                seed = self._seeds.get(skill_id)
                return replace(seed, **counts) if seed else None
            told = {"skill_id": skill_id, "episodes": tuple(episodes), **counts}
            return Skill.from_json({**data, **told})
        except (ValueError, KeyError, TypeError) as exc:
            raise corrupt(self.path, f"skill {skill_id!r} cannot be read ({exc})") from exc

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong is said of the skills, not of a library of photos."""
        try:
            yield
        except LibraryError as error:
            raise type(error)(f"skills: {error.message}", hint=_HINTS[type(error)]) from error

    @contextmanager
    def _changes(self) -> Iterator[Database]:
        with self._told():
            database = self._open(create=True)
            assert database is not None
            if not self._is_sound:
                database.verify()  # a damaged file is left as it is, not written to
                self._is_sound = True
            with database.transaction():
                yield database

    def _overwrite(self) -> None:
        """What was forgotten is in no file any more, not in the log of changes either."""
        with self._told():
            if database := self._open(create=False):
                database.checkpoint()

    def _open(self, *, create: bool) -> Database | None:
        """None if there is none and none is to be made."""
        if self._database is None:
            with mapped(self.path):
                if not create and not self.path.exists():
                    return None
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._database = Database.open(
                self.path, MIGRATIONS, create=create, busy_seconds=_BUSY_SECONDS
            )
        return self._database

"""The three memories of a library, and what can happen to their files."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.errors import LibraryCorrupt, LibraryError, LibraryTooNew
from photocraft_local.knowledge.intake import take_in
from photocraft_local.knowledge.reading import Reading
from photocraft_local.knowledge.store import KnowledgeStore
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.skills import Skill, SkillStore
from photocraft_local.memory.store import MemoryStore

SHOTS = 18  # of random damage, a store


def episode(number: int) -> EpisodeRecord:
    return EpisodeRecord(
        episode_id=f"e{number:02}",
        started="2024-01-01T00:00:00",
        question=f"zebra{number:02} by the lake",
        backbone="planner",
    )


def skill(number: int) -> Skill:
    return Skill(
        skill_id=f"s-{number:02}",
        when="day after [thing]",
        sketch=("around(unit=day) as A",),
        episodes=(f"e{number:02}",),
    )


@dataclass(frozen=True)
class Memory:
    """One of the three: filled, read whole, changed by one; ``file`` inside the folder."""

    file: str
    fill: Callable[[Path], None]
    read: Callable[[Path], object]
    change: Callable[[Path], None]


def _fill_knowledge(library: Path) -> None:
    notes = library.parent / "notes"
    notes.mkdir(exist_ok=True)
    for number in range(12):
        (notes / f"{number:02}.md").write_text(f"# Page\n- zebra{number:02} lives here\n")
    with _pages(library, create=True) as store, Reading(store.scratch) as reading:
        take_in(store, reading, [notes])


@contextmanager
def _pages(library: Path, *, create: bool = False) -> Iterator[KnowledgeStore]:
    store = KnowledgeStore.open(library, create=create)
    assert store is not None
    try:
        yield store
    finally:
        store.close()


def _read_knowledge(library: Path) -> object:
    with _pages(library) as store:
        found = [store.search(f"zebra{number:02}") for number in range(12)]
        return store.counts(), found, [store.pages(source) for source in store.sources()]


def _change_knowledge(library: Path) -> None:
    with _pages(library) as store, store.changing(), store.database.transaction():
        store.source_id(b"/another")


@contextmanager
def _skills(library: Path) -> Iterator[SkillStore]:
    store = SkillStore(library / "memory")
    try:
        yield store
    finally:
        store.close()


def _fill_skills(library: Path) -> None:
    with _skills(library) as store:
        for number in range(12):
            store.add(skill(number))


def _read_skills(library: Path) -> object:
    with _skills(library) as store:
        return store.list()


def _change_skills(library: Path) -> None:
    with _skills(library) as store:
        store.absorb(lambda old: [*old, *(skill(number) for number in range(50, 90))])


def _fill_episodes(library: Path) -> None:
    for number in range(12):
        MemoryStore(library).add(episode(number))


MEMORIES = {
    "episodes": Memory(
        "memory/episodes.jsonl",
        _fill_episodes,
        lambda library: MemoryStore(library).list(),
        lambda library: MemoryStore(library).add(episode(99)),
    ),
    "skills": Memory("memory/skills.db", _fill_skills, _read_skills, _change_skills),
    "knowledge": Memory(
        "knowledge/knowledge.db", _fill_knowledge, _read_knowledge, _change_knowledge
    ),
}
DATABASES = ("skills", "knowledge")


def cuts(raw: bytes) -> list[bytes]:
    """Many lengths, without 0 and 1: SQLite takes such a file for a new one; it holds nothing."""
    step = len(raw) // 16
    lengths = {2, 15, 99, 100, 511, 512, 4095, 4096, 4097, *range(step, len(raw), step)}
    return [raw[:length] for length in sorted(lengths) if length < len(raw)]


def garbled(raw: bytes) -> list[bytes]:
    chance = random.Random(20261130)
    made = []
    for _ in range(SHOTS):
        at, size = chance.randrange(len(raw)), chance.choice([1, 16, 512, 4096])
        made.append(raw[:at] + chance.randbytes(len(raw[at : at + size])) + raw[at + size :])
    return made


def newer(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO migrations VALUES ('of_2099', 0)")


def anothers(path: Path) -> None:
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (x)")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_link_to_nowhere(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "no" / "such" / "file")


_HOLDER = """
import fcntl, sqlite3, sys
if sys.argv[1].endswith(".db"):
    held = sqlite3.connect(sys.argv[1], isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
else:
    held = open(sys.argv[1], "ab")
    fcntl.flock(held, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another process that writes to a memory and does not end."""
    lock = path if path.suffix == ".db" else path.with_suffix(".lock")
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, os.fspath(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"held\n"
        yield
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()


FAULTS: dict[str, tuple[Callable[[Path], None], type[LibraryError], str]] = {
    "from a newer version": (newer, LibraryTooNew, "newer version"),
    "another program's": (anothers, LibraryCorrupt, "another program"),
    "a folder": (a_folder, LibraryError, "cannot be used"),
}

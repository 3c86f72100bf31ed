"""The store of skills: list, show, edit, forget, export, import, count; and when it is damaged."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from skill_episodes import after_the_wedding

from photocraft_local.errors import (
    LibraryCorrupt,
    LibraryError,
    LibraryTooNew,
    StorageFull,
    UsageError,
)
from photocraft_local.memory.skills import Skill, SkillStore
from photocraft_local.memory.skills.abstraction import skill_of
from photocraft_local.memory.skills.markdown import from_markdown, to_markdown

SEED = Skill(skill_id="seed-count", when="how-many [thing]", advice="Count by set.", origin="seed")


def learned(skill_id: str, *episodes: str) -> Skill:
    skill = skill_of(*after_the_wedding())
    assert skill is not None
    return replace(skill, skill_id=skill_id, episodes=episodes or ("e1",))


@pytest.fixture
def store(tmp_path: Path) -> SkillStore:
    store = SkillStore(tmp_path / "memory", (SEED,))
    store.add(learned("s-1", "e1"))
    store.add(learned("s-2", "e1", "e2"))
    return store


def ids(store: SkillStore) -> list[str]:
    return [skill.skill_id for skill in store.list()]


def test_skills_survive_reopening_and_the_file_is_private(store: SkillStore) -> None:
    before = store.list()
    again = SkillStore(store.path.parent, (SEED,))
    assert again.list() == before
    assert ids(again) == ["s-1", "s-2", "seed-count"]
    assert store.path.stat().st_mode & 0o777 == 0o600
    assert store.path.parent.stat().st_mode & 0o777 == 0o700


def test_reading_makes_nothing(tmp_path: Path) -> None:
    store = SkillStore(tmp_path / "memory", (SEED,))
    assert ids(store) == ["seed-count"]
    assert store.stats().seeds == 1
    assert store.forget_episode("e1") == 0
    assert not store.path.parent.exists()


def test_an_id_that_is_not_there_is_a_usage_error(store: SkillStore) -> None:
    for action in (store.show, store.forget, lambda name: store.edit(name, "")):
        with pytest.raises(UsageError, match="no skill 's-9'"):
            action("s-9")


def test_a_learned_skill_with_words_of_its_question_is_refused(store: SkillStore) -> None:
    for change in ({"when": "photos of Anna"}, {"advice": "Anna"}, {"sketch": ("look(Anna)",)}):
        with pytest.raises(UsageError, match="words of its question"):
            store.add(replace(learned("s-3"), **change))
    assert ids(store) == ["s-1", "s-2", "seed-count"]


def test_markdown_there_and_back_is_the_same_skill(store: SkillStore) -> None:
    for skill in (*store.list(), replace(learned("s-3"), wins=3, losses=1, last_used="2026-01-02")):
        assert from_markdown(to_markdown(skill), "x") == replace(skill, episodes=())


def test_an_edited_skill_is_written_and_keeps_its_counts(store: SkillStore) -> None:
    store.count(["s-1"], "e7", won=True)
    text = to_markdown(store.show("s-1")).replace("## Advice\n", "## Advice\n\nLook at faces.\n")
    edited = store.edit("s-1", text.replace("* wins: 1", "* wins: 99"))
    assert edited.advice == "Look at faces."
    assert edited == store.show("s-1")
    assert (edited.origin, edited.wins, edited.episodes) == ("written", 1, ("e1",))


def test_an_edit_that_changes_nothing_leaves_it_as_it_was(store: SkillStore) -> None:
    assert store.edit("s-1", to_markdown(store.show("s-1"))).origin == "learned"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("## When", "## Whenever"), "line 9: no part 'Whenever'"),
        (("* wins: 0", "* wins: many"), "line 4: wins is no number"),
        (("* wins: 0", "* losers: 0"), "line 4: not understood"),
        (("- day after [thing]", ""), "shape of its questions"),
        (("- day after [thing]", "x" * 500), "more than 400 characters"),
    ],
)
def test_a_mistake_in_an_edit_is_named_and_changes_nothing(
    store: SkillStore, change: tuple[str, str], problem: str
) -> None:
    before = store.show("s-1")
    with pytest.raises(UsageError, match="skill s-1") as info:
        store.edit("s-1", to_markdown(before).replace(*change))
    assert problem in info.value.message
    assert store.show("s-1") == before


def test_an_edited_seed_takes_its_place_and_a_forgotten_one_stays_away(store: SkillStore) -> None:
    store.edit("seed-count", to_markdown(SEED).replace("Count by set.", "Count them."))
    assert store.show("seed-count").advice == "Count them."
    store.forget("seed-count")
    assert ids(store) == ["s-1", "s-2"]
    assert ids(SkillStore(store.path.parent, (SEED,))) == ["s-1", "s-2"]


def test_a_use_counts_once_also_of_a_seed_whose_words_stay_the_packages(store: SkillStore) -> None:
    for _ in range(2):
        store.count(["s-1", "seed-count"], "e7", won=True)
    store.count(["s-1", "seed-count"], "e8", won=False)
    store.count(["s-1", "s-gone"], "e9", won=None)
    for name in ("s-1", "seed-count"):
        skill = store.show(name)
        assert (skill.wins, skill.losses) == (1, 1)
        assert skill.last_used
    newer = replace(SEED, advice="Better words.")
    shown = SkillStore(store.path.parent, (newer,)).show("seed-count")
    assert (shown.advice, shown.origin, shown.wins) == ("Better words.", "seed", 1)
    assert ids(SkillStore(store.path.parent)) == ["s-1", "s-2"]


def test_forgetting_an_episode_takes_its_name_and_what_only_it_taught(store: SkillStore) -> None:
    store.add(learned("s-3", "20260101-secret"))
    store.add(learned("s-4", "20260101-secret", "e2"))
    store.count(["s-4"], "20260101-secret", won=True)
    assert store.forget_episode("20260101-secret") == 1
    assert ids(store) == ["s-1", "s-2", "s-4", "seed-count"]
    assert store.show("s-4").episodes == ("e2",)
    assert store.show("s-4").wins == 1
    for file in store.path.parent.iterdir():
        assert b"secret" not in file.read_bytes()


def test_a_forgotten_skill_is_in_no_file_any_more(store: SkillStore) -> None:
    store.edit("s-1", to_markdown(store.show("s-1")).replace("# Advice\n", "# Advice\n\nsecret\n"))
    assert store.show("s-1").advice == "secret"
    store.forget("s-1")
    for file in store.path.parent.iterdir():
        assert b"secret" not in file.read_bytes()


def test_forget_all_leaves_nothing(store: SkillStore) -> None:
    assert store.forget_all() == 3
    assert ids(store) == []
    assert store.stats().learned == 0


def test_an_export_has_a_file_for_each(store: SkillStore, tmp_path: Path) -> None:
    files = store.export(tmp_path / "out")
    assert [file.name for file in files] == ["s-1.md", "s-2.md", "seed-count.md"]
    for file, skill in zip(files, store.list(), strict=True):
        read = from_markdown(file.read_text("utf-8"), file.name)
        assert read == replace(skill, episodes=())


def test_what_a_reader_would_not_see_is_not_taken_over() -> None:
    text = to_markdown(SEED).replace("Count", "\u202eCount\u200b")
    assert from_markdown(text, "x").advice == "Count by set."


@pytest.mark.parametrize("name", ["../../etc", "", "s-" + "x" * 60, "S-1"])
def test_an_id_is_no_path(name: str) -> None:
    with pytest.raises(UsageError, match="no id of a skill"):
        from_markdown(f"# Skill {name}\n\n## When\n\n- x\n\n## Advice\n\ny\n", "x")


def test_stats_count_what_there_is(store: SkillStore) -> None:
    for number in range(5):
        store.count(["s-1"], f"e{number}", won=False)
    stats = store.stats()
    assert (stats.learned, stats.seeds, stats.retired, stats.losses) == (2, 1, 1, 5)
    assert stats.bytes > 0


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO migrations VALUES ('skills_2099', 0)")


def _torn(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE skills SET body = '{\"when\": 3}'")


def _anothers(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, tuple[Callable[[Path], None], type[LibraryError], str]] = {
    "cut": (_cut, LibraryCorrupt, "damaged"),
    "newer": (_newer, LibraryTooNew, "newer version"),
    "torn": (_torn, LibraryCorrupt, "cannot be read"),
    "another's": (_anothers, LibraryCorrupt, "another program"),
    "a folder": (_folder, LibraryError, "cannot be used"),
}


def damaged(store: SkillStore, kind: str) -> SkillStore:
    store.close()
    for beside in ("-wal", "-shm"):
        store.path.with_name(store.path.name + beside).unlink(missing_ok=True)
    DAMAGE[kind][0](store.path)
    return SkillStore(store.path.parent, (SEED,))


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told_with_the_file_and_a_way_out(store: SkillStore, kind: str) -> None:
    broken = damaged(store, kind)
    _, error, said = DAMAGE[kind]
    for action in (broken.list, broken.stats, lambda: broken.forget("s-1")):
        with pytest.raises(error, match=said) as info:
            action()
        assert type(info.value) is error
        assert str(store.path) in info.value.message
        assert "skills" in info.value.hint or "folder" in info.value.hint
        assert "--library" not in info.value.hint


def test_a_full_drive_loses_nothing_that_was_stored(store: SkillStore) -> None:
    """SQLite says "full" just as for a full drive when its own limit of pages is met."""
    database = store._open(create=False)
    assert database is not None
    database.rows(f"PRAGMA max_page_count = {database.value('PRAGMA page_count')}")
    with pytest.raises(StorageFull, match=r"skills: no space left") as info:
        store.absorb(lambda old: [*old, *(learned(f"s-x{n}") for n in range(200))])
    assert "memory_folder" in info.value.hint
    assert ids(store) == ["s-1", "s-2", "seed-count"]


def test_a_database_that_cannot_be_written_is_told(store: SkillStore) -> None:
    database = store._open(create=False)
    assert database is not None
    database.rows("PRAGMA query_only = ON")  # the answer of a read-only file, also for root
    with pytest.raises(LibraryError, match=r"skills: .*readonly") as info:
        store.add(learned("s-3"))
    assert "writable" in info.value.hint
    assert "s-1" in ids(store)


def test_a_real_drive_that_is_full(small_drive: Path) -> None:
    store = SkillStore(small_drive / "memory", (SEED,))
    store.add(learned("s-1"))
    with contextlib.suppress(OSError):
        (small_drive / "ballast").write_bytes(bytes(2 << 20))
    with pytest.raises(StorageFull, match="no space left") as info:
        store.absorb(lambda old: [*old, *(learned(f"s-x{n}") for n in range(400))])
    assert "memory_folder" in info.value.hint
    assert ids(store) == ["s-1", "seed-count"]


def test_a_real_drive_that_is_read_only(small_drive: Path) -> None:
    store = SkillStore(small_drive / "memory", (SEED,))
    store.add(learned("s-1"))
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", os.fspath(small_drive)], check=True)
    for action in (store.list, lambda: store.add(learned("s-2"))):
        with pytest.raises(LibraryError, match="cannot be used") as info:
            action()
        assert "make the folder writable" in info.value.hint


def _learn_many(folder: Path, first: int) -> None:
    store = SkillStore(folder)
    for number in range(first, first + 20):
        store.add(learned(f"s-{number}"))
        store.count(["s-shared"], f"e{number}", won=True)


def test_two_processes_learn_at_once_without_loss(tmp_path: Path) -> None:
    SkillStore(tmp_path).add(learned("s-shared"))
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_learn_many, args=(tmp_path, n * 100)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    store = SkillStore(tmp_path)
    assert len(store.list()) == 41
    assert store.show("s-shared").wins == 40

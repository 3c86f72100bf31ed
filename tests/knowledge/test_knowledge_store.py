"""The store follows the person's files, holds each picture once, and survives damage."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from made_pages import data_uri, mhtml

from photocraft_local.errors import (
    LibraryCorrupt,
    LibraryTooNew,
    PageError,
    UnknownPhoto,
    UnreadablePhoto,
    UsageError,
)
from photocraft_local.knowledge.intake import Intake, remove, take_in
from photocraft_local.knowledge.reading import Reading
from photocraft_local.knowledge.store import KnowledgeStore

Add = Callable[..., Intake]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


@pytest.fixture
def add(store: KnowledgeStore, reading: Reading) -> Add:
    return lambda *sources: take_in(store, reading, sources)


def counted(done: Intake) -> tuple[int, int, int, int]:
    return done.added, done.changed, done.unchanged, done.dropped


def texts(store: KnowledgeStore, query: str, **how: str) -> list[str]:
    return [found.text for found in store.search(query, **how)]


def bytes_of(store: KnowledgeStore) -> bytes:
    return b"".join(path.read_bytes() for path in store.folder.rglob("*") if path.is_file())


def test_only_what_changed_is_read_again(store: KnowledgeStore, add: Add, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "a.md").write_text("- Bruno is a dog\n")
    (folder / "sub" / "b.txt").write_text("a cabin by the lake\n")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")
    (folder / "link.txt").symlink_to("/etc/hostname")
    (folder / ".hidden.txt").write_text("no")
    assert counted(add(folder)) == (2, 0, 0, 0)
    assert counted(add()) == (0, 0, 2, 0)
    (folder / "a.md").write_text("- Bruno is a cat now\n")
    (folder / "sub" / "b.txt").unlink()
    (folder / "c.html").write_text("<p>new")
    assert counted(add()) == (1, 1, 0, 1)
    assert texts(store, "bruno") == ["Bruno is a cat now"]
    assert texts(store, "cabin") == []
    assert b"cabin" not in bytes_of(store)  # not in the index, not in free pages


def test_words_are_found_in_any_form_and_script(
    store: KnowledgeStore, add: Add, folder: Path
) -> None:
    (folder / "family.txt").write_text("Ada's dogs live in Évora\n\n奶奶住在北京\n")
    (folder / "journey.md").write_text("# Trip to Porto\n- boats\n")
    add(folder)
    assert texts(store, "a dog in EVORA") == ["Ada's dogs live in Évora"]
    assert texts(store, "北京") == ["奶奶住在北京"]
    assert texts(store, "porto") == ["boats"]  # by its heading
    assert texts(store, "porto", source="FAMILY.T") == []
    for query in (
        "",
        "  ",
        '"',
        "NOT x",
        "a* OR (",
        "text:boats",
        "^",
        "NEAR(a b)",
        "zeppelin",
        "-",
    ):
        assert isinstance(store.search(query), list)
    assert texts(store, "zeppelin") == []


def test_a_picture_is_kept_once_and_an_original_is_never_copied(
    store: KnowledgeStore, add: Add, folder: Path, jpegs: list[Path]
) -> None:
    shutil.copy(jpegs[0], folder / "own.jpg")
    shutil.copy(jpegs[0], folder / "twin.jpg")
    inside = f'<img src="{data_uri(jpegs[1])}" alt="inside">'
    (folder / "a.html").write_text(f'<img src="own.jpg" alt="own">{inside}')
    (folder / "b.html").write_text(f'<img src="twin.jpg" alt="twin">{inside * 2}')
    (folder / "c.mhtml").write_bytes(mhtml('<img src="cid:x" alt="brought">', {"cid:x": jpegs[1]}))
    add(folder)
    assert store.counts().pictures == 2
    assert len(list(store.pictures_folder.iterdir())) == 1
    own = store.search("own")[0].picture
    assert own == store.search("twin")[0].picture
    assert store.picture_path(own) == os.fsencode(folder / "own.jpg")
    brought = store.search("brought")[0].picture
    assert Path(os.fsdecode(store.picture_path(brought))).read_bytes() == jpegs[1].read_bytes()
    (folder / "own.jpg").unlink()
    assert store.picture_path(own) == os.fsencode(folder / "twin.jpg")
    for name in ("b.html", "c.mhtml"):
        (folder / name).unlink()
    add()
    assert store.picture_path(brought)  # the first page still has it
    (folder / "a.html").unlink()
    add()
    assert list(store.pictures_folder.iterdir()) == []
    with pytest.raises(UnknownPhoto, match="no picture"):
        store.picture_path(brought)


def test_a_picture_that_became_another_is_not_shown_under_the_old_id(
    store: KnowledgeStore, add: Add, folder: Path, jpegs: list[Path]
) -> None:
    shutil.copy(jpegs[0], folder / "own.jpg")
    (folder / "a.md").write_text("![the dog](own.jpg)\n")
    add(folder)
    uid = store.search("dog")[0].picture
    assert uid.startswith("k")
    (folder / "own.jpg").write_bytes(jpegs[1].read_bytes())
    with pytest.raises(UnreadablePhoto):
        store.picture_path(uid)
    assert counted(add()) == (0, 1, 0, 0)  # the page itself did not change
    assert store.search("dog")[0].picture != uid


def test_a_picture_that_comes_later_is_found(
    store: KnowledgeStore, add: Add, folder: Path, jpegs: list[Path]
) -> None:
    (folder / "a.md").write_text("the dog ![the dog](own.jpg)\n")
    add(folder)
    assert store.search("dog")[0].picture == ""
    shutil.copy(jpegs[0], folder / "own.jpg")
    add()
    assert {found.picture[:1] for found in store.search("dog")} == {"", "k"}


def test_removing_leaves_nothing(
    store: KnowledgeStore, add: Add, folder: Path, jpegs: list[Path]
) -> None:
    (folder / "a.html").write_text(f'<p>zeppelins<img src="{data_uri(jpegs[0])}">')
    (folder / "b.html").write_text("<script>")
    add(folder)
    assert jpegs[0].read_bytes() in bytes_of(store)
    assert remove(store, os.fsencode(folder)) == 2
    assert b"zeppelin" not in bytes_of(store)
    assert jpegs[0].read_bytes() not in bytes_of(store)
    assert (store.sources(), store.counts().pages) == ([], 0)
    assert (folder / "a.html").exists()
    with pytest.raises(UsageError, match="never added"):
        remove(store, os.fsencode(folder))


def test_folders_inside_one_another_are_one_source(
    store: KnowledgeStore, add: Add, folder: Path
) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "a.txt").write_text("dog")
    (folder / "b.txt").write_text("dog")
    add(folder / "sub" / "a.txt")
    assert store.sources() == [os.fsencode(folder / "sub" / "a.txt")]
    assert counted(add(folder)) == (1, 0, 1, 0)
    add(folder / "sub")
    assert store.sources() == [os.fsencode(folder)]
    assert len(texts(store, "dog")) == 2


def test_a_drive_that_is_not_there_costs_nothing(
    store: KnowledgeStore, add: Add, folder: Path
) -> None:
    drive = folder / "drive" / "notes"
    drive.mkdir(parents=True)
    (drive / "a.txt").write_text("dog")
    add(drive)
    (drive / "a.txt").rename(folder / "away.txt")  # an empty mount point
    assert add().offline == [os.fsencode(drive)]
    shutil.rmtree(folder / "drive")
    assert add().offline == [os.fsencode(drive)]
    assert texts(store, "dog") == ["dog"]


def test_what_is_no_page_is_refused(
    store: KnowledgeStore, add: Add, folder: Path, tmp_path: Path
) -> None:
    (folder / "x.docx").write_bytes(b"x")
    for wrong in (folder / "absent.md", folder / "x.docx", tmp_path / "library" / "knowledge"):
        with pytest.raises(UsageError):
            add(wrong)
    assert store.sources() == []


def test_the_folder_of_a_saved_page_holds_no_pages(
    store: KnowledgeStore, add: Add, folder: Path
) -> None:
    (folder / "trip_files").mkdir()
    (folder / "trip.html").write_text("<p>dog")
    (folder / "trip_files" / "advert.html").write_text("<p>buy a dog")
    (folder / "other_files").mkdir()
    (folder / "other_files" / "note.txt").write_text("dog food")
    add(folder)
    assert sorted(texts(store, "dog")) == ["dog", "dog food"]


def test_a_file_that_breaks_its_reader_is_skipped_and_the_rest_is_read(
    store: KnowledgeStore, folder: Path, tmp_path: Path
) -> None:
    (folder / "a.html").write_text("<div>" * 150_000)  # minutes of work for a parser
    (folder / "b.html").write_text("<p>dog")
    with Reading(tmp_path / "scratch", cpu_seconds=1.5) as impatient:
        done = take_in(store, impatient, [folder])
        assert [(one.reason, counted(done)[0]) for one in done.skipped] == [("too-slow", 1)]
        assert texts(store, "dog") == ["dog"]
        assert counted(take_in(store, impatient, [])) == (0, 0, 2, 0)  # not tried in vain again
    assert not (tmp_path / "scratch").exists()


def test_no_page_makes_this_machine_speak_to_another(
    add: Add, store: KnowledgeStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two witnesses: a listener that the page points to, and this process without sockets."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        here = f"http://127.0.0.1:{listener.getsockname()[1]}"
        points = "".join(
            f'<{tag} {key}="{here}/{tag}">'
            for tag, key in (
                ("img", "src"), ("link rel=stylesheet", "href"), ("script", "src"),
                ("base", "href"), ("iframe", "src"), ("object", "data"),
                ("meta http-equiv=refresh", "content"),
                ("video", "poster"), ("img", "srcset"),
            )
        )  # fmt: skip
        style = f"<style>@import url({here}/a.css); p{{background:url({here}/b.png)}}</style>"
        doctype = f'<!DOCTYPE html SYSTEM "{here}/x.dtd">'
        (folder / "a.html").write_text(f"{doctype}{style}<p>a dog here</p>{points}<p>and here")
        (folder / "b.md").write_text(f"a dog ![x]({here}/c.jpg) <img src='{here}/d.jpg'>\n")

        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("a socket was made")

        monkeypatch.setattr(socket, "socket", refuse)
        assert counted(add(folder)) == (2, 0, 0, 0)
        monkeypatch.undo()
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert len(texts(store, "dog")) == 2


def test_a_run_that_is_cut_goes_on_and_sweeps_up(
    store: KnowledgeStore,
    add: Add,
    folder: Path,
    jpegs: list[Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(3):
        (folder / f"{number}.html").write_text(
            f'<p>dog {number}<img src="{data_uri(jpegs[number])}">'
        )
    put, calls = KnowledgeStore._new_page, []

    def cut(self: KnowledgeStore, *arguments: object) -> int:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt  # the second page's picture is stored, its rows are not
        return put(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(KnowledgeStore, "_new_page", cut)
    with pytest.raises(KeyboardInterrupt):
        add(folder)
    assert (store.counts().pages, store.counts().pictures) == (1, 1)
    assert len(list(store.pictures_folder.iterdir())) == 2
    monkeypatch.undo()
    (folder / "1.html").unlink()
    assert counted(add()) == (1, 0, 1, 0)
    assert len(list(store.pictures_folder.iterdir())) == 2


def test_a_damaged_store_says_what_to_do(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    assert KnowledgeStore.open(library) is None
    made = KnowledgeStore.open(library, create=True)
    assert made is not None
    path = made.database.path
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    made.close()
    with sqlite3.connect(path) as newer:
        newer.execute("INSERT INTO migrations VALUES ('_m9999_of_the_future', 0)")
    newer.close()
    with pytest.raises(LibraryTooNew):
        KnowledgeStore.open(library)
    path.write_bytes(b"no database" * 1000)
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    with pytest.raises(LibraryCorrupt) as caught:
        KnowledgeStore.open(library)
    assert "photocraft knowledge add" in caught.value.hint


def test_a_reader_that_dies_is_started_again(tmp_path: Path) -> None:
    page = tmp_path / "a.txt"
    page.write_text("dog")
    with Reading(tmp_path / "scratch") as one:
        assert one.read(page, tmp_path).passages
        assert one._worker is not None
        one._worker.kill()
        one._worker.wait()
        assert one.read(page, tmp_path).passages
        with pytest.raises(PageError) as caught:
            one.read(tmp_path / "absent.txt", tmp_path)
        assert caught.value.reason == "unreadable"

"""Episodes, skills and pages whose file is cut short, garbled, newer, read-only, full or locked:
it is said with file, cause and way out, nothing of the file is lost, and no other error comes."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from damage import (
    DATABASES,
    FAULTS,
    MEMORIES,
    Memory,
    a_folder,
    a_link_to_nowhere,
    cuts,
    garbled,
    held,
)

from photocraft_local.errors import (
    LibraryCorrupt,
    LibraryError,
    LibraryLocked,
    PhotocraftError,
    StorageFull,
)
from photocraft_local.memory.store import MemoryStore


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, object]]:
    """Of each memory: the bytes of its file, and what it gives."""
    made = {}
    for name, memory in MEMORIES.items():
        library = tmp_path_factory.mktemp(name) / "library"
        library.mkdir()
        memory.fill(library)
        made[name] = (library / memory.file).read_bytes(), memory.read(library)
    return made


@pytest.fixture
def placed(tmp_path: Path) -> Callable[[Memory, bytes], tuple[Path, Path]]:
    """Library and file, with these bytes in it."""

    def place(memory: Memory, raw: bytes) -> tuple[Path, Path]:
        library = tmp_path / "library"
        file = library / memory.file
        file.parent.mkdir(parents=True, exist_ok=True)
        for old in file.parent.iterdir():
            if old.is_file():
                old.unlink()
        file.write_bytes(raw)
        return library, file

    return place


def told(action: Callable[[], object], file: Path) -> PhotocraftError | None:
    """The error; it names the file and says what to do, and that searches go on."""
    try:
        action()
    except LibraryError as raised:
        error = raised
    else:
        return None
    assert str(file) in error.message or str(file.parent) in error.message
    assert "search" in error.hint or "another command" in error.hint
    assert "index again" not in error.hint
    return error


@pytest.mark.parametrize("name", DATABASES)
@pytest.mark.parametrize("damage", [cuts, garbled])
def test_a_damaged_database_is_told_and_left_as_it_is(
    name: str,
    damage: Callable[[bytes], list[bytes]],
    wholes: dict[str, tuple[bytes, object]],
    placed: Callable[[Memory, bytes], tuple[Path, Path]],
) -> None:
    memory = MEMORIES[name]
    raw, whole = wholes[name]
    library, file = placed(memory, raw)
    found: list[object] = []
    num_told = 0
    for bad in damage(raw):
        placed(memory, bad)
        found.clear()
        reading = told(lambda: found.append(memory.read(library)), file)
        assert reading is None or isinstance(reading, LibraryCorrupt)
        if damage is cuts:  # never fewer without a word
            assert reading is not None or found == [whole]
        assert file.read_bytes() == bad
        changing = told(lambda: memory.change(library), file)
        if changing is not None:
            assert isinstance(changing, LibraryCorrupt)
            assert file.read_bytes() == bad
        num_told += reading is not None or changing is not None
    assert num_told >= 3


@pytest.mark.parametrize("damage", [cuts, garbled])
def test_damaged_episodes_cost_themselves_alone_and_stay_in_the_file(
    damage: Callable[[bytes], list[bytes]],
    wholes: dict[str, tuple[bytes, object]],
    placed: Callable[[Memory, bytes], tuple[Path, Path]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw, whole = wholes["episodes"]
    assert isinstance(whole, list)
    for bad in damage(raw):
        library, file = placed(MEMORIES["episodes"], bad)
        caplog.clear()
        store = MemoryStore(library)
        read = store.list()
        lines = [line for line in bad.split(b"\n") if line.strip()]
        if len(read) < len(lines):
            assert f"memory {file} line" in caplog.text
        intact = [one for one in whole if one in read]
        assert len(intact) >= len(raw[: len(bad)].split(b"\n")) - 1 - 16
        MEMORIES["episodes"].change(library)
        assert file.read_bytes().startswith(bad)
        for record in store.list():
            store.forget(record.episode_id)  # the file is written anew, damaged lines stay
        left = file.read_bytes()
        for line in lines:
            if line + b"\n" not in left:
                assert line in raw.split(b"\n") or b'"e' in line
        assert store.list() == []


@pytest.mark.parametrize("name", DATABASES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_database_that_is_none_of_ours_is_told_and_kept(
    name: str,
    fault: str,
    wholes: dict[str, tuple[bytes, object]],
    placed: Callable[[Memory, bytes], tuple[Path, Path]],
) -> None:
    memory = MEMORIES[name]
    library, file = placed(memory, wholes[name][0])
    make, kind, said = FAULTS[fault]
    make(file)
    before = file.read_bytes() if file.is_file() else b""
    for action in (memory.read, memory.change):
        error = told(lambda action=action: action(library), file)  # type: ignore[misc]
        assert type(error) is kind
        assert said in error.message
    assert (file.read_bytes() if file.is_file() else b"") == before


@pytest.mark.parametrize("make", [a_folder, a_link_to_nowhere])
def test_episodes_that_cannot_be_read_are_told_and_not_written_over(
    make: Callable[[Path], None],
    wholes: dict[str, tuple[bytes, object]],
    placed: Callable[[Memory, bytes], tuple[Path, Path]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    library, file = placed(MEMORIES["episodes"], wholes["episodes"][0])
    make(file)
    store = MemoryStore(library)
    assert store.list() == []
    if make is a_folder:
        assert "cannot be read" in caplog.text
        assert isinstance(told(lambda: store.show("e01"), file), LibraryError)
    error = told(lambda: MEMORIES["episodes"].change(library), file)
    assert type(error) is LibraryError
    assert file.is_dir() or file.is_symlink()


def test_unreadable_is_not_empty_when_a_large_memory_is_written_anew(
    wholes: dict[str, tuple[bytes, object]],
    placed: Callable[[Memory, bytes], tuple[Path, Path]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A drive that fails in the middle: what cannot be read now is not thrown away."""
    library, file = placed(MEMORIES["episodes"], wholes["episodes"][0])
    monkeypatch.setattr("photocraft_local.memory.store.MAX_BYTES", 100)

    def fails(_: Path) -> bytes:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "read_bytes", fails)
        assert told(lambda: MEMORIES["episodes"].change(library), file) is not None
        for action in (MemoryStore(library).forget_all, lambda: MemoryStore(library).forget("e01")):
            with contextlib.suppress(PhotocraftError):
                action()
    assert file.read_bytes().startswith(wholes["episodes"][0])


@pytest.mark.parametrize("name", MEMORIES)
def test_one_that_another_process_writes_is_told_and_can_be_read(
    name: str,
    wholes: dict[str, tuple[bytes, object]],
    placed: Callable[[Memory, bytes], tuple[Path, Path]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("photocraft_local.memory.store._WAIT_SECONDS", 0.2)
    monkeypatch.setattr("photocraft_local.memory.skills.store._BUSY_SECONDS", 0.2)
    monkeypatch.setattr("photocraft_local.knowledge.store._BUSY_SECONDS", 0.2)
    memory = MEMORIES[name]
    library, file = placed(memory, wholes[name][0])
    memory.read(library)  # the log of a database is made by its first reader
    with held(file):
        assert memory.read(library) == wholes[name][1]
        error = told(lambda: memory.change(library), file)
        assert type(error) is LibraryLocked
        assert "another command" in error.hint or "the other command" in error.hint
    memory.change(library)
    assert memory.read(library) != wholes[name][1]


@pytest.mark.parametrize("name", MEMORIES)
def test_a_full_drive_is_told_and_loses_nothing(name: str, small_drive: Path) -> None:
    memory = MEMORIES[name]
    library = small_drive / "library"
    library.mkdir()
    memory.fill(library)
    before = memory.read(library)
    with contextlib.suppress(OSError), (small_drive / "ballast").open("wb", 0) as ballast:
        while ballast.write(bytes(4096)):
            pass
    errors = [told(lambda: memory.change(library), library / memory.file) for _ in range(3)]
    assert any(type(error) is StorageFull for error in errors)
    assert all(error is None or "free some space" in error.hint for error in errors)
    (small_drive / "ballast").unlink()
    now = memory.read(library)
    assert now == before or str(before)[:-2] in str(now)
    memory.change(library)


@pytest.mark.parametrize("name", MEMORIES)
def test_a_read_only_drive_is_told(name: str, small_drive: Path) -> None:
    """A mount binds also whoever runs the tests as root."""
    memory = MEMORIES[name]
    library = small_drive / "library"
    library.mkdir()
    memory.fill(library)
    file = library / memory.file
    before = file.read_bytes()
    subprocess.run(["mount", "-o", "remount,ro", os.fspath(small_drive)], check=True)
    error = told(lambda: memory.change(library), file)
    assert type(error) is LibraryError
    assert "writ" in error.hint
    told(lambda: memory.read(library), file)
    assert file.read_bytes() == before

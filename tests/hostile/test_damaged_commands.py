"""`search` and `ask` of a library whose memories are damaged: the same photos, and a word about the
damage where a memory is used; a model that looks something up goes on."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from damage import FAULTS
from obedient import NUM_STEPS, Obedient
from twin_photos import NUM_PHOTOS
from twins import Twin, ask_model, copy_of

from photocraft_local.cli.main import main
from photocraft_local.memory.skills import Skill, SkillStore
from photocraft_local.serving.tool_calls import Form

FILES = {
    "episodes": "library/memory/episodes.jsonl",
    "skills": "memory/skills.db",
    "knowledge": "library/knowledge/knowledge.db",
}
QUESTION = "photos taken with a Nikon"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def filled(clean: Twin) -> Twin:
    """With something in every memory."""
    skill = Skill(skill_id="s-1", when="photos [thing]", advice="Look.", origin="written")
    SkillStore.of(clean.settings).add(skill)
    with clean.open() as search:
        search.ask("red photos from July 2021")
    return clean


@pytest.fixture
def own(filled: Twin, tmp_path: Path) -> Twin:
    """A copy of it."""
    twin = copy_of(filled, tmp_path)
    shutil.copytree(filled.settings.memory_folder, twin.settings.memory_folder)
    return twin


@pytest.fixture
def command(
    own: Twin, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(own.settings.cache))
    monkeypatch.setenv("PHOTOCRAFT_ENCODER", "null")
    monkeypatch.setenv("PHOTOCRAFT_MEMORY_FOLDER", str(own.settings.memory_folder))

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["--library", str(own.settings.library), *words])
        done = capsys.readouterr()
        return code, done.out, done.err

    return run


def cut(path: Path) -> None:
    for log in path.parent.glob(f"{path.name}-*"):
        log.unlink()
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def read_only(path: Path, drive: Path) -> None:
    """The memory's folder on a drive that is mounted so; it binds also root."""
    shutil.move(path.parent, drive / "there")
    path.parent.symlink_to(drive / "there")
    subprocess.run(["mount", "-o", "remount,ro", os.fspath(drive)], check=True)


def full(path: Path, drive: Path) -> None:
    shutil.move(path.parent, drive / "there")
    path.parent.symlink_to(drive / "there")
    with (drive / "ballast").open("wb", 0) as ballast:
        try:
            while ballast.write(bytes(512)):
                pass
        except OSError:
            return


def found(command: Command) -> tuple[list[str], list[str], str]:
    """What two commands find, and what is said beside it."""
    code, searched, said = command("search", "red", "--top", "90")
    assert code == 0
    code, answered, also = command("ask", QUESTION)
    assert code == 0
    photos = [line.split()[0] for line in answered.splitlines() if line.startswith("p")]
    assert len(photos) == NUM_PHOTOS // 2
    return searched.splitlines(), photos, said + also


def check(name: str, own: Twin, command: Command, harm: Callable[[Path], None], said: str) -> None:
    before = found(command)
    assert "warning" not in before[2]
    file = own.settings.library.parent / FILES[name]
    gc.collect()  # the commands above ran in this process: their connections end as with one
    harm(file)
    bad = file.read_bytes() if file.is_file() else b""
    after = found(command)
    assert after[:2] == before[:2]
    told = after[2] + command("memory", "list")[2]  # the planner reads no episode
    if name != "knowledge":  # no question opens the pages but one that looks something up
        assert str(file.with_suffix("")) in told
        assert said in told
        assert any(way in told for way in ("go on", "stays in the file"))
    assert "Traceback" not in told
    now = file.read_bytes() if file.is_file() else b""
    assert now == bad or (name == "episodes" and now.startswith(bad))
    done = ask_model(own, Obedient(Form.JSON), "the photos of 2021 that a Nikon took")
    assert len(done.answer.uids) == NUM_PHOTOS // 2
    lookups = [step for step in done.trace.steps if step.call.name == "lookup"]
    assert len(done.trace.steps) == NUM_STEPS
    if name == "knowledge":
        code, _, told = command("knowledge", "list")
        if code:
            assert code == 4
            assert str(file) in told
            assert "do not need it" in told
        assert all(step.observation.ok == (code == 0) for step in lookups)


@pytest.mark.parametrize("name", FILES)
def test_cut_short(name: str, own: Twin, command: Command) -> None:
    check(name, own, command, cut, "damaged")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["skills", "knowledge"])
def test_no_database_of_ours(name: str, fault: str, own: Twin, command: Command) -> None:
    harm, _, said = FAULTS[fault]
    check(name, own, command, harm, said)


def test_episodes_of_a_newer_version(own: Twin, command: Command) -> None:
    def newer(path: Path) -> None:
        path.write_bytes(path.read_bytes().replace(b'"version": ', b'"version": 9'))

    check("episodes", own, command, newer, "newer version")


@pytest.mark.parametrize("name", FILES)
def test_read_only(name: str, own: Twin, command: Command, small_drive: Path) -> None:
    check(name, own, command, lambda path: read_only(path, small_drive), "cannot be used")


@pytest.mark.parametrize("name", FILES)
def test_full(name: str, own: Twin, command: Command, small_drive: Path) -> None:
    check(name, own, command, lambda path: full(path, small_drive), "no space left")

"""The memory command on real questions: read, correct, take out, give away, take back in."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import ITALY

Command = Callable[..., tuple[int, str, str]]
OTHER = "photos of 2008 from Tuscany"


@pytest.fixture
def memory(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """``memory …`` on a library in which two questions were asked; skills in a new folder."""
    monkeypatch.setenv("PHOTOCRAFT_MEMORY_FOLDER", str(tmp_path / "skills"))
    monkeypatch.setenv("PHOTOCRAFT_SKILL_SEEDS", "0")
    for question in (ITALY, OTHER):
        assert command("ask", question, "--quiet")[0] == 0
    yield lambda *words: command("memory", *words)
    command("memory", "forget", "--all")


def rows(memory: Command, *words: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in memory("list", "--json", *words)[1].splitlines()]


def without_sources(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps({**row, "episodes": ()}) for row in rows)


def episode_of(memory: Command, question: str) -> str:
    found = next(row for row in rows(memory) if row.get("question") == question)
    return str(found["episode_id"])


def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[1])\n"
        f"path.write_text(path.read_text('utf-8').replace({old!r}, {new!r}), 'utf-8')\n"
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")


def test_an_export_comes_back_as_it_was(memory: Command, tmp_path: Path) -> None:
    before = rows(memory)
    assert {row["question"] for row in before if row["kind"] == "episode"} == {ITALY, OTHER}
    code, out, _ = memory("export", tmp_path / "out", "--json")
    assert (code, len(json.loads(out)["files"])) == (0, len(before))
    assert memory("forget", "--all")[0] == 0
    assert rows(memory) == []
    code, out, _ = memory("import", tmp_path / "out", "--json")
    assert (code, len(json.loads(out)["added"])) == (0, len(before))
    # A skill keeps no ids of episodes in its file: they mean nothing elsewhere.
    assert without_sources(rows(memory)) == without_sources(before)
    code, out, _ = memory("import", tmp_path / "out")
    assert (code, out) == (0, f"added: 0 memories, {len(before)} known already\n")


def test_one_bad_file_keeps_all_others_out(memory: Command, tmp_path: Path) -> None:
    memory("export", tmp_path / "out")
    memory("forget", "--all")
    last = sorted((tmp_path / "out").iterdir())[-1]
    whole = last.read_bytes()
    for raw, told in (
        (whole.replace(b"## ", b"## x", 1), "line "),
        (b"# A page of somebody else\n", "line 1: neither an episode nor a skill"),
        (whole + b"\n\xff", ", line "),
        (b"", "line 1: "),
    ):
        last.write_bytes(raw)
        for source in (last, tmp_path / "out"):
            code, out, err = memory("import", source)
            assert (code, out) == (2, "")
            assert last.name in err
            assert told in err
            assert rows(memory) == []


def test_what_is_there_is_never_written_over(memory: Command, tmp_path: Path) -> None:
    name = episode_of(memory, ITALY)
    memory("export", tmp_path)
    path = tmp_path / f"{name}.md"
    path.write_text(path.read_text("utf-8").replace(ITALY, "another question"), "utf-8")
    code, _, err = memory("import", path)
    assert code == 2
    assert f"memory holds {name} with another content" in err
    assert episode_of(memory, ITALY) == name


def test_edit_takes_over_what_the_editor_leaves(
    memory: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = episode_of(memory, ITALY)
    editor(monkeypatch, tmp_path, ITALY, "that walk in Arezzo")
    assert memory("edit", name)[:2] == (0, f"changed: {name}\n")
    assert "    that walk in Arezzo" in memory("show", name)[1]
    assert episode_of(memory, OTHER)
    editor(monkeypatch, tmp_path, "nowhere", "")
    assert memory("edit", name)[1] == f"left as it was: {name}\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("## question", "## wish", "line 9: the part 'wish' is unknown"),
        ("# Episode 2", "# Episode 9", "line 1: the id may not be changed"),
        ("    yes", "yes", "a line of data is indented by four blanks"),
    ],
)
def test_a_slip_in_the_editor_changes_nothing(
    memory: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str
) -> None:
    name = episode_of(memory, ITALY)
    before = memory("show", name)[1]
    editor(monkeypatch, tmp_path, old, new)
    monkeypatch.setattr("sys.stdin", open("/dev/null", encoding="utf-8"))  # noqa: PTH123, SIM115
    code, out, err = memory("edit", name)
    sys.stdin.close()
    assert (code, out) == (2, "")
    assert told in err
    kept = Path(err.partition("mend ")[2].partition(" and ")[0])
    assert kept.suffix == ".md"
    kept.unlink()
    assert memory("show", name)[1] == before


def test_stats_tell_numbers_and_no_words(memory: Command) -> None:
    stats = json.loads(memory("stats", "--json")[1])
    assert stats["episodes"]["count"] == stats["episodes"]["accepted"] == 2
    assert stats["episodes"]["tools"]["submit_answer"] == 2
    assert stats["traces"]["count"] >= 2
    code, out, _ = memory("stats")
    assert code == 0
    assert "episodes  count     2" in out
    assert "Italy" not in out


def test_forgetting_reaches_trace_and_skills(
    memory: Command, library: Path, tmp_path: Path
) -> None:
    learned = [row for row in rows(memory, "--only", "skills") if row["origin"] == "learned"]
    assert learned  # both answers hold on re-check
    for question in (ITALY, OTHER):
        name = episode_of(memory, question)
        assert memory("forget", name)[0] == 0
        assert not (library / "traces" / f"{name}.json").exists()
    assert rows(memory) == []


def test_forgetting_a_photo_reaches_traces_episodes_and_skills(
    photocraft: Any, shared: Path, tmp_path: Path
) -> None:
    library, skills = tmp_path / "library", tmp_path / "skills"
    env = {"PHOTOCRAFT_MEMORY_FOLDER": str(skills), "PHOTOCRAFT_SKILL_SEEDS": "0"}
    photos = tmp_path / "photos"
    photos.mkdir()
    for name in ("ia_DSCN0010.jpg", "ia_DSCN0021.jpg"):
        (photos / name).write_bytes((shared / "data" / "exif" / name).read_bytes())
    assert photocraft("index", photos, "--library", library).code == 0
    answer = photocraft("ask", ITALY, "--json", "--library", library, env=env).json()
    listed = photocraft("memory", "list", "--json", "--library", library, env=env).json_lines()
    assert {row["kind"] for row in listed} == {"episode", "skill"}
    uid = answer["photos"][0]["uid"]
    assert photocraft("forget", uid, "--library", library, env=env).code == 0
    assert photocraft("memory", "list", "--library", library, env=env).out == ""
    assert list((library / "traces").iterdir()) == []
    left = [path for path in (*library.rglob("*.json*"), *skills.rglob("*")) if path.is_file()]
    assert all(uid.encode() not in path.read_bytes() for path in left)


def test_damaged_skills_leave_the_episodes_in_reach(
    photocraft: Any, shared: Path, tmp_path: Path
) -> None:
    library, skills, photos = tmp_path / "library", tmp_path / "skills", tmp_path / "photos"
    env = {"PHOTOCRAFT_MEMORY_FOLDER": str(skills)}
    photos.mkdir()
    name = "ia_DSCN0010.jpg"
    (photos / name).write_bytes((shared / "data" / "exif" / name).read_bytes())
    assert photocraft("index", photos, "--library", library).code == 0
    answer = photocraft("ask", ITALY, "--json", "--library", library, env=env).json()
    episode = Path(answer["trajectory"]).stem
    (skills / "skills.db").write_bytes(b"SQLite format 3\0" + bytes(50))
    shown = photocraft("memory", "show", episode, "--library", library, env=env)
    assert (shown.code, ITALY in shown.out) == (0, True)
    assert photocraft("memory", "list", "--library", library, env=env).code == 4
    uid = answer["photos"][0]["uid"]
    done = photocraft("forget", uid, "--library", library, env=env)
    assert done.code == 0
    assert "warning: skills: " in done.err
    only = ("memory", "list", "--only", "episodes", "--library", library)
    assert photocraft(*only, env=env).out == ""


def test_wrong_words_are_named(memory: Command) -> None:
    for words in (
        (),
        ("burn",),
        ("list", "x"),
        ("list", "--all"),
        ("show",),
        ("show", "x"),
        ("edit", "x"),
        ("forget",),
        ("forget", "x", "--all"),
        ("forget", "x", "--only", "skills"),
        ("stats", "--only", "skills"),
        ("export",),
        ("import", "/nothing/there"),
    ):
        code, out, err = memory(*words)
        assert (code, out) == (2, ""), words
        assert err.startswith("error: ")
        assert "\nhint: " in err

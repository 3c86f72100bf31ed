"""``ask`` and its plan: shown, run, corrected in an editor, refused."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from asking import ITALY, THREE, Command, names


def test_a_plan_is_shown_as_text_that_gives_the_same_answer(
    command: Command, tmp_path: Path
) -> None:
    code, text, err = command("ask", ITALY, "--show-plan")
    assert (code, err) == (0, "")
    assert "time: in October 2008" in text
    assert "place: from Italy" in text
    kept = tmp_path / "italy.plan"
    kept.write_text(text, "utf-8")
    code, out, _ = command("ask", "--plan", kept, "--json")
    assert code == 0
    assert names(out) == THREE
    answer = json.loads(out)
    assert answer["plan"]["text"] == text
    assert answer["question"] == answer["plan"]["words"]
    trace = json.loads(Path(answer["trajectory"]).read_text("utf-8"))
    assert trace["plan"] == text


def test_a_plan_comes_from_stdin_too(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"look: red\nlook: blue\ncamera: Nikon | COOLPIX P6000\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    code, out, _ = command("ask", "--plan", "-", "--show-plan", "--json")
    assert code == 0
    assert "camera: Nikon or COOLPIX P6000" in json.loads(out)["plan"]["text"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"tiem: in 2021", "line 1 of the plan, 'tiem: in 2021'"),
        (b"look: dog\ntime: 30 February 2021", "line 2 of the plan"),
        (b"", "empty"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"look: dog\n" * 200_000, "larger than a plan"),
        (None, "cannot be read"),
    ],
)
def test_a_plan_that_cannot_be_used_is_refused_before_any_search(
    command: Command, tmp_path: Path, content: bytes | None, told: str
) -> None:
    path = tmp_path / "broken.plan"
    if content is not None:
        path.write_bytes(content)
    code, out, err = command("ask", "--plan", path)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("hint: ") == 1


def editor_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *bodies: str) -> Path:
    """An editor that runs the first body on the first call, and so on; logs each text it saw."""
    log = tmp_path / "seen"
    script = tmp_path / "an editor.py"
    script.write_text(
        "import pathlib, sys\n"
        f"log = pathlib.Path({str(log)!r})\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "text = path.read_text('utf-8')\n"
        "calls = log.read_text('utf-8').count('=====') if log.exists() else 0\n"
        "log.open('a', encoding='utf-8').write(f'{path}\\n{text}=====\\n')\n"
        f"body = {list(bodies)!r}[calls]\n"
        "exec(body)\n",
        "utf-8",
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} '{script}'")
    return log


def test_a_plan_is_corrected_in_the_editor_and_then_run(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap = "path.write_text(text.replace('2008', '2009').replace('in 2009', 'in October 2008'))"
    log = editor_that(tmp_path, monkeypatch, swap)
    code, out, _ = command("ask", "photos from Italy in 2008", "--edit-plan", "--json")
    assert code == 0
    assert names(out) == THREE
    assert "time: in October 2008" in json.loads(out)["plan"]["text"]
    seen = log.read_text("utf-8")
    assert "time: in 2008" in seen
    assert not Path(seen.splitlines()[0]).exists()  # no copy is left behind


def test_an_emptied_plan_cancels(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = editor_that(tmp_path, monkeypatch, "path.write_text('')")
    code, out, err = command("ask", ITALY, "--edit-plan")
    assert (code, out) == (2, "")
    assert "emptied" in err
    assert not Path(log.read_text("utf-8").splitlines()[0]).exists()


def test_a_mistake_without_a_terminal_keeps_the_text_and_names_the_file(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = editor_that(tmp_path, monkeypatch, "path.write_text('look: dog\\ntiem: now')")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code, out, err = command("ask", ITALY, "--edit-plan")
    kept = Path(log.read_text("utf-8").splitlines()[0])
    assert (code, out) == (2, "")
    assert "line 2 of the plan, 'tiem: now'" in err
    assert f"photocraft ask --plan {kept}" in err
    assert kept.read_text("utf-8") == "look: dog\ntiem: now"
    assert kept.stat().st_mode & 0o077 == 0
    kept.unlink()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_mistake_at_a_terminal_is_told_and_opened_again(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mend = "path.write_text(text.replace('tiem', 'time'))"
    log = editor_that(
        tmp_path, monkeypatch, "path.write_text('tiem: in October 2008\\nplace: Italy')", mend
    )
    monkeypatch.setattr("sys.stdin", Terminal("\n"))
    code, out, err = command("ask", ITALY, "--edit-plan", "--json")
    assert code == 0
    assert names(out) == THREE
    assert "did you mean 'time'" in err
    assert log.read_text("utf-8").count("=====") == 2


@pytest.mark.parametrize(
    ("editor", "told"),
    [
        (None, "neither VISUAL nor EDITOR"),
        ("no-such-editor-at-all", "cannot be started"),
        ("false", "ended with code 1"),
        ("'unbalanced", "is no command"),
    ],
)
def test_an_editor_that_cannot_be_used_is_a_clear_error(
    command: Command, monkeypatch: pytest.MonkeyPatch, editor: str | None, told: str
) -> None:
    if editor:
        monkeypatch.setenv("EDITOR", editor)
    code, out, err = command("ask", ITALY, "--edit-plan")
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("hint: ") == 1


def test_explain_shows_plan_and_steps(command: Command) -> None:
    code, out, _ = command("ask", ITALY, "--explain")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("plan: photos in October 2008, ")
    assert "    time: in October 2008" in lines
    assert any(line.startswith("step 1: filter_photos") for line in lines)


@pytest.mark.parametrize("words", ["zorgon", "nul\0nul", "a\u0301" * 3])
def test_a_word_that_the_encoder_does_not_know_is_named(
    command: Command, tmp_path: Path, words: str
) -> None:
    plan = tmp_path / "a.plan"
    plan.write_text(f"look: {json.dumps(words)}", "utf-8")
    for asked in ([words], ["photos of cats", "--plan", plan]):
        code, out, _ = command("ask", "--json", *asked)
        assert code == 7
        assert len(json.loads(out)["not_understood"]) == 1

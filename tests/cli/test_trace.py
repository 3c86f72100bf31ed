"""Traces as a person sees them: list, viewer, sheet of photos; replay without a model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from asking import ITALY
from PIL import Image

from photocraft_local.agent.attempts import Attempt, LastTurn, PostMortem
from photocraft_local.agent.trajectory import json_schema, load
from photocraft_local.memory.compaction import Compaction, Prose
from photocraft_local.records import Observation, Step, ToolCall, Usage

Command = Callable[..., tuple[int, str, str]]
HOSTILE = "\x1b[2Jred\x07 \u202eevil\u2028next\r\x9b31m"
SPENT = {"prompt": 100, "cached": 50, "generated": 5, "pictures": 0, "pictures_sent": 0}


@pytest.fixture(scope="module")
def asked(photocraft: Any, library: Path, arezzo_path: Path) -> dict[str, Path]:
    """The trace files of three real questions."""
    made = {}
    for name, words in {
        "italy": (ITALY,),
        "none": ("photos from Norway",),
        "here": ("what else was here", "--image", arezzo_path),
    }.items():
        done = photocraft("ask", *words, "--json", "--library", library)
        made[name] = Path(done.json()["trajectory"])
    return made


@pytest.fixture(scope="module")
def arezzo_path(shared: Path) -> Path:
    return shared / "data" / "exif" / "ia_DSCN0010.jpg"


def test_the_list_has_every_question(command: Command, asked: dict[str, Path]) -> None:
    _, out, _ = command("trace")
    assert f"{asked['italy'].stem}  answered  3 steps  3 photos  {ITALY}" in out
    rows = [json.loads(line) for line in command("trace", "--json")[1].splitlines()]
    assert {path.stem for path in asked.values()} <= {row["episode_id"] for row in rows}


def test_real_traces_keep_the_published_schema(command: Command, asked: dict[str, Path]) -> None:
    code, out, _ = command("trace", "schema")
    schema = json.loads(out)
    assert (code, schema) == (0, json_schema())
    for path in asked.values():
        jsonschema.validate(json.loads(path.read_text("utf-8")), schema)


def test_a_trace_is_told_step_by_step(command: Command, asked: dict[str, Path]) -> None:
    code, out, _ = command("trace", asked["italy"].stem)
    assert code == 0
    for told in (f"question    {ITALY}", "step 1      filter_photos", "3 photos, saved as"):
        assert told in out
    assert out.count("met: from Italy: Arezzo, Tuscany, Italy") == 3
    by_file = command("trace", asked["italy"])
    assert by_file[1] == out
    assert "picture     q1 (" in command("trace", "latest")[1]
    data = json.loads(command("trace", asked["italy"].stem, "--json")[1])
    assert data == json.loads(asked["italy"].read_text("utf-8"))


def test_what_a_model_adds_is_told_too(
    command: Command, asked: dict[str, Path], tmp_path: Path
) -> None:
    record = load(asked["italy"])
    record.hints = [{"text": "look at the time first", "source": "e1", "episodes": ["e2", "e3"]}]
    record.rejected = [
        {"before_step": 2, "reason": "no call", "thought": "hm", "call": None, "usage": SPENT},
        {"before_step": 4, "reason": "repeated call", "call": {"name": "recall", "arguments": {}}},
    ]
    seen = Observation("view_photos", brief="one", images=(("p2wr7p", b""),), usage=Usage(9, 0, 1))
    step = Step(4, ToolCall("view_photos", {}), seen, "two\nlines", Usage(1000, 750, 30, 4, 1))
    record.steps.append(step)
    prose = Prose("it is the second", "", "the dog", "view it")
    record.compactions = [Compaction(after_step=3, covered=2, why="full", prose=prose)]
    _, out, _ = command("trace", record.save(tmp_path))
    lines = out.splitlines()
    assert "hint        look at the time first" in lines
    assert "    from        episodes e2 e3, source e1" in lines
    assert lines[lines.index("rejected    no call") + 1] == "    thought     hm"
    assert lines.index("rejected    no call") < lines.index("rejected    repeated call: recall {}")
    assert "compaction  turns up to 2 became a summary (full)" in lines
    assert "    decisions   it is the second" in lines
    told = "1,000 in the prompt, 75 % from the cache, 30 generated; 4 pictures, 1 sent"
    assert f"    tokens      {told}" in lines
    assert lines[lines.index("    thought     two") + 1] == "                lines"
    assert "    pictures    p2wr7p" in lines
    assert any(line.startswith("all         1,109 in the prompt") for line in lines)


def test_earlier_attempts_are_told_exported_and_replayed(
    command: Command, asked: dict[str, Path], tmp_path: Path
) -> None:
    record = load(asked["italy"])
    last = LastTurn("replies", "5 in a row", "answer now", 1, 5)
    spent = Usage(70, 60, 5)
    told = PostMortem("no answer", "An earlier attempt\nfailed.", "cut", spent)
    record.begin_anew(Attempt(record.steps[:1], last_turn=last, post_mortem=told))
    record.steps = load(asked["italy"]).steps
    path = record.save(tmp_path)
    jsonschema.validate(json.loads(path.read_text("utf-8")), json_schema())
    lines = command("trace", path)[1].splitlines()
    first = lines.index("attempt 1   brought no answer")
    assert "step 1      filter_photos" in lines[first + 1]
    left = lines.index("left behind An earlier attempt")
    assert lines[left + 1 : left + 4] == [
        "            failed.",
        "    no words    cut",
        "    tokens      70 in the prompt, 85 % from the cache, 5 generated",
    ]
    assert lines.index("limit       after step 1 only an answer was left: 5 in a row") < left
    assert lines.index("attempt 2   ") > left
    _, out, _ = command("replay", path)
    assert "attempt 1, step 1: filter_photos: same" in out
    assert "attempt 2, step 3: submit_answer: same" in out
    steps = json.loads(command("replay", path, "--json")[1])["steps"]
    assert [(one["attempt"], one["step"]) for one in steps] == [(1, 1), (2, 1), (2, 2), (2, 3)]


def test_nothing_in_a_trace_steers_the_terminal(
    command: Command, asked: dict[str, Path], tmp_path: Path
) -> None:
    def poisoned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: poisoned(item) for key, item in value.items()}
        if isinstance(value, list):
            return [poisoned(item) for item in value]
        return value + HOSTILE if isinstance(value, str) else value

    data = json.loads(asked["here"].read_text("utf-8"))
    fixed = {key: data[key] for key in ("schema", "today", "pictures", "status")}
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps({**poisoned(data), **fixed}), "utf-8")
    for words in ((path,), (path, "--json")):
        code, out, err = command("trace", *words)
        assert code == 0, err
        assert "red" in out
        assert all(letter == "\n" or letter.isprintable() for letter in out)
    code, out, err = command("replay", path)
    assert all(letter == "\n" or letter.isprintable() for letter in out + err)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"version": 99}, "newer version"),
        ({"schema": "chat"}, "cannot be read"),
        ({"steps": 7}, "cannot be read"),
        ({"steps": [{"index": 1}]}, "cannot be read"),
        ({"question": 5}, "holds what no trace can hold"),
        ({"rejected": ["x"]}, "cannot be read"),
        ({"hints": [{}]}, "holds what no trace can hold"),
    ],
)
def test_a_foreign_or_damaged_file_is_refused(
    command: Command, asked: dict[str, Path], tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    path = tmp_path / "foreign.json"
    data = json.loads(asked["italy"].read_text("utf-8"))
    path.write_text(json.dumps({**data, **change}), "utf-8")
    code, out, err = command("trace", path)
    assert (code, out) == (6, "")
    assert told in err
    assert "hint: " in err


def test_wrong_words_are_named(command: Command, asked: dict[str, Path], tmp_path: Path) -> None:
    for words in (("nothing",), ("a", "b"), ("schema", "--sheet", tmp_path / "s.png")):
        code, out, err = command("trace", *words)
        assert (code, out) == (2, "")
        assert err.startswith("error: ")


def test_a_damaged_trace_is_named_in_the_list(
    command: Command, library: Path, asked: dict[str, Path]
) -> None:
    path = library / "traces" / "20000101-000000-abcdef.json"
    path.write_bytes(asked["italy"].read_bytes()[:99])
    try:
        assert "20000101-000000-abcdef  unreadable: " in command("trace")[1]
    finally:
        path.unlink()


def test_the_sheet_shows_the_photos_by_uid_and_step(
    command: Command, asked: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels: list[str] = []

    def drawn(items: Any, **options: Any) -> bytes:
        labels.extend(label.splitlines()[0] for _, label in items)
        return real(items, **options)

    from photocraft_local.imaging import contact_sheet as module

    real = module.contact_sheet
    monkeypatch.setattr(module, "contact_sheet", drawn)
    sheet = tmp_path / "sheet.png"
    code, _, err = command("trace", asked["italy"].stem, "--sheet", sheet)
    assert (code, "(3 photos)" in err) == (0, True)
    with Image.open(sheet) as picture:
        assert picture.format == "PNG"
    assert labels[0] == "p2wr7p steps 1, 2, 3, answer ia_DSCN0010.jpg"
    code, _, err = command("trace", asked["none"].stem, "--sheet", tmp_path / "other.png")
    assert (code, "no photo of the library appears" in err) == (2, True)


def test_replay_gives_the_same_where_nothing_changed(
    command: Command, asked: dict[str, Path]
) -> None:
    before = {path: path.read_bytes() for path in asked.values()}
    for path in asked.values():
        code, out, _ = command("replay", path.stem)
        assert (code, " 0 different, 0 not run" in out) == (0, True), out
    assert {path: path.read_bytes() for path in asked.values()} == before


def test_replay_says_where_results_differ(
    photocraft: Any, shared: Path, tmp_path: Path, asked: dict[str, Path]
) -> None:
    photos, library = tmp_path / "photos", tmp_path / "library"
    photos.mkdir()
    for name in ("ia_DSCN0010.jpg", "ia_DSCN0021.jpg"):  # one of the three is not here
        shutil.copy(shared / "data" / "exif" / name, photos)
    assert photocraft("index", photos, "--library", library).code == 0
    done = photocraft("replay", asked["italy"], "--library", library)
    assert done.code == 1
    assert "step 1: filter_photos: differs\n    brief: " in done.out
    assert "data.count: 3 -> 2" in done.out
    told = photocraft("replay", asked["italy"], "--json", "--library", library).json()
    assert [step["outcome"] for step in told["steps"]] == ["differs"] * 3


def test_replay_names_what_only_a_model_could_do(
    command: Command, asked: dict[str, Path], tmp_path: Path
) -> None:
    record = load(asked["italy"])
    looked = {"question": "a dog?", "set": "fitting", "save_as": "dogs"}
    seen = Observation("compare_photos", {"count": 1}, usage=Usage(10, 0, 1))
    narrowed = ToolCall("filter_photos", {"within": "dogs", "when": "2008"})
    record.steps[1:] = [
        Step(2, ToolCall("compare_photos", looked), seen),
        Step(3, narrowed, Observation("filter_photos")),
        Step(4, ToolCall("no_tool", {}), Observation("no_tool")),
    ]
    _, out, _ = command("replay", record.save(tmp_path))
    assert "step 1: filter_photos: same" in out
    assert "step 2: compare_photos: not run: a model looked at the photos" in out
    assert "step 3: filter_photos: not run: it needs dogs, which cannot be had again" in out
    assert "step 4: no_tool: differs" in out

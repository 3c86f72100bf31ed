"""Traces as rows for fine-tuning, whole commands on real photos; a redacted one tells nothing."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking import ITALY

from photocraft_local.agent import trajectory
from photocraft_local.records import Observation, Step, ToolCall

Command = Callable[..., tuple[int, str, str]]
NAMES = ("Zoë Quimby", "Bartholomew", "Rose", "李雷", "grandma Hildegard's")
QUESTIONS = (
    ITALY,
    "photos near Arezzo after 22 October 2008",
    f"photos of {', '.join(NAMES)} in Tuscany in 2008 taken with a Nikon",
)
FORMS = ("chatml", "sharegpt", "jsonl")


@pytest.fixture(scope="module")
def asked(photocraft: Any, library: Path, shared: Path) -> list[str]:
    """Ids of four questions, one of them with a picture."""
    picture = shared / "data" / "exif" / "ia_DSCN0010.jpg"
    asking = [(question,) for question in QUESTIONS] + [("what else was here", "--image", picture)]
    made = []
    for words in asking:
        done = photocraft("ask", *words, "--json", "--library", library)
        if done.code in (0, 1, 7):
            made.append(Path(done.json()["trajectory"]).stem)
    assert len(made) == len(asking)
    return made


def exported(command: Command, *words: str | Path) -> list[dict[str, Any]]:
    code, out, err = command("trace", "export", *words)
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


def test_chatml_marks_what_the_model_wrote(command: Command, asked: list[str]) -> None:
    row = exported(command, asked[0])[0]
    assert (row["schema"], row["version"], row["format"]) == ("photocraft-export", 1, "chatml")
    kinds = [message["kind"] for message in row["messages"]]
    first = kinds.index("reply")
    assert (kinds[0], set(kinds[1:first])) == ("system", {"prompt"})
    assert kinds[first:] == ["reply", "tool_response", "reply", "tool_response", "reply"]
    for message in row["messages"]:
        assert message["train"] == (message["role"] == "assistant")
        is_response = "<tool_response>" in str(message["content"]) and message["role"] == "user"
        assert is_response == (message["kind"] == "tool_response")
    replies = [json.loads(one["content"]) for one in row["messages"] if one["train"]]
    record = trajectory.load(path_of(command, asked[0]))
    assert [reply["call"]["name"] for reply in replies] == [s.call.name for s in record.steps]
    assert [reply["thought"] for reply in replies] == [step.thought for step in record.steps]


def path_of(command: Command, episode_id: str) -> Path:
    status = json.loads(command("status", "--json")[1])
    return Path(status["library"]) / "traces" / f"{episode_id}.json"


def test_sharegpt_takes_turns(command: Command, asked: list[str]) -> None:
    for row in exported(command, "--all", "--format", "sharegpt"):
        sides = [side["from"] for side in row["conversations"]]
        assert sides[::2] == ["human", *["observation"] * (len(sides) // 2 - 1)]
        assert set(sides[1::2]) == {"gpt"}
        assert all(side["train"] == (side["from"] == "gpt") for side in row["conversations"])
        assert "# Tools" in row["system"]


def test_jsonl_is_the_trace(command: Command, asked: list[str]) -> None:
    row = exported(command, asked[0], "--format", "jsonl")[0]
    assert row == json.loads(path_of(command, asked[0]).read_text("utf-8"))


def test_pictures_stand_as_uids_or_as_paths(
    command: Command, asked: list[str], shared: Path, tmp_path: Path
) -> None:
    record = trajectory.load(path_of(command, asked[3]))
    record.backbone = "a model"
    images = (("p2wr7p", b""), ("p000000", b""))
    looked = Step(1, ToolCall("view_photos", {}), Observation("view_photos", images=images))
    record.steps.insert(0, looked)
    trace = record.save(tmp_path)
    given = shared / "data" / "exif" / "ia_DSCN0010.jpg"
    stored = str(given.resolve())  # where the library found it
    for words, told in (
        ((), ["q1", "p2wr7p", "p000000"]),
        (("--pictures", "path"), [str(given), stored, "p000000"]),
    ):
        row = exported(command, trace, *words)[0]
        parts = [part for one in row["messages"] for part in one["content"] if "image" in part]
        assert [part["image"] for part in parts if isinstance(part, dict)] == told
        row = exported(command, trace, "--format", "sharegpt", *words)[0]
        assert row["images"] == told
        text = "".join(side["value"] for side in row["conversations"])
        assert text.count("<image>") == len(told)


def test_only_answers_that_hold_are_taken_on_request(command: Command, asked: list[str]) -> None:
    rows = exported(command, "--all", "--accepted", "--format", "jsonl")
    assert asked[0] in [row["episode_id"] for row in rows]
    assert all(row["answer"]["uids"] for row in rows)
    assert len(rows) < len(exported(command, "--all", "--format", "jsonl"))


def test_a_file_is_new_and_its_owners_alone(
    command: Command, asked: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    assert command("trace", "export", asked[0], "--out", path)[:2] == (0, "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    assert json.loads(before)
    code, _, err = command("trace", "export", asked[1], "--out", path)
    assert (code, "nothing is ever written over" in err) == (2, True)
    assert path.read_bytes() == before


def own_words(command: Command, library: Path, shared: Path) -> set[str]:
    """All that a redacted export must not hold: UIDs, paths, names, places, coordinates."""
    photos = [json.loads(line) for line in command("list", "--json")[1].splitlines()]
    told = {str(library), str(shared)}
    for photo in photos:
        told |= {photo["uid"], *photo["paths"], *(Path(path).name for path in photo["paths"])}
        told |= {Path(path).stem for path in photo["paths"]}
        details = json.loads(command("show", photo["uid"], "--json")[1])
        told |= {details["sha256"], *re.findall(r"[^\W\d]{4,}", details["address"] or "")}
        told |= set(re.findall(r"\w*[A-Za-z]\w*\d\w*|[A-Z]{3,}", details["camera"] or ""))
        for value in (photo["lat"], photo["lon"]):
            if value is not None:
                told |= {f"{value:.{digits}f}" for digits in (2, 3, 4, 5, 6)} | {str(value)}
    for name in NAMES:
        told |= set(re.findall(r"\w{2,}", name)) - {"grandma"}
    return {word for word in told if word.casefold() not in ("", "camera", "north", "zoom")}


def without_system(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what is the package's own, and the same for everyone."""
    for row in rows:
        row.pop("system", None)
        if "messages" in row:
            del row["messages"][0]
    return rows


@pytest.mark.parametrize("form", FORMS)
def test_nothing_of_the_person_survives(
    command: Command,
    asked: list[str],
    library: Path,
    shared: Path,
    form: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("photocraft_local.agent.export.redaction._secret_weeks", lambda: 1040)
    plain, told = (
        json.dumps(without_system(exported(command, *words)), ensure_ascii=False)
        for words in (("--all", "--format", form), ("--all", "--format", form, "--redact"))
    )
    own = own_words(command, library, shared)
    leaking = {word for word in own if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", plain)}
    assert {"Arezzo", "p2wr7p", "Quimby", "Rose", "李雷"} <= leaking  # the test can fail
    left = {word for word in own if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", told, re.I)}
    assert left == set()
    for moment in ("2008-10-22", "October 2008", "22 October", "2008", *asked):
        assert moment in plain or form != "jsonl"
        assert moment not in told
    for shape in ("filter_photos", "submit_answer", "photos from name"):
        assert shape in told  # what is to be learnt from is still there


def test_stand_ins_are_the_same_all_through(command: Command, asked: list[str]) -> None:
    plain = exported(command, "--all", "--format", "jsonl")
    told = exported(command, "--all", "--format", "jsonl", "--redact")
    assert [len(row["steps"]) for row in told] == [len(row["steps"]) for row in plain]
    pairs = {
        (old, new)
        for before, after in zip(plain, told, strict=True)
        if before["answer"]
        for old, new in zip(before["answer"]["uids"], after["answer"]["uids"], strict=True)
    }
    assert len(pairs) == len(dict(pairs)) == len({new for _, new in pairs})
    for row in told:
        for uid in row["answer"]["uids"] if row["answer"] else ():
            assert uid in row["answer"]["evidence"]
    record = trajectory.of_json(told[0])
    assert record.answer


def test_a_redacted_export_names_no_files(command: Command, asked: list[str]) -> None:
    for words in (("--redact", "--pictures", "path"), ("--sheet", "x.png"), (asked[0],)):
        code, out, _ = command("trace", "export", "--all", *words)
        assert (code, out) == (2, "")
    assert command("trace", "export")[0] == 2
    assert command("trace", asked[0], "--redact")[0] == 2

"""``questions.jsonl`` beside ``photos``: what it says is taken, what is bad is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from photocraft_local.app.benchmarking import Options, evaluate
from photocraft_local.cli.main import main
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.plain_layout import load
from photocraft_local.settings import Settings

GOOD = [
    {
        "id": "1",
        "question": "photos from 2020",
        "gold": ["a.jpg", "roll 1/b.jpg"],
        "kind": "x",
        "hops": 1,
    },
    {"id": "2", "question": "photos from 2021", "gold": ["c.jpg"], "groups": ["g"]},
    {"id": "3", "question": "photos from 1999", "gold": []},
]
BAD = [
    {"id": "1", "question": "again", "gold": []},
    {"id": "4", "question": "photos from 2020", "gold": ["gone.jpg"]},
    {"id": "5", "question": " ", "gold": []},
    {"id": "6", "question": "what?", "gold": "a.jpg"},
    {"id": 7, "question": "what?", "gold": []},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "set/photos/roll 1").mkdir(parents=True)
    for number, (name, year) in enumerate({"a": 2020, "roll 1/b": 2020, "c": 2021}.items()):
        picture = Image.new("RGB", (64, 48), (80 * number, 90, 160))
        exif = picture.getexif()
        exif.get_ifd(0x8769)[0x9003] = f"{year}:05:06 12:00:00"
        picture.save(tmp_path / f"set/photos/{name}.jpg", exif=exif)
    return tmp_path / "set"


def written(folder: Path, lines: list[dict[str, object]]) -> Path:
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_its_questions_are_answered(folder: Path, tmp_path: Path, shared_cache: Path) -> None:
    data = load(written(folder, GOOD))
    assert not data.problems.counts
    settings = Settings(
        library=tmp_path / "own",
        memory_folder=tmp_path / "memory",
        cache=shared_cache,
        encoder="null",
        backbone="planner",
    )
    options = Options(on_doubt="abstain", track="open", libraries=tmp_path / "libraries")
    _, rows = evaluate(data, settings, options, tmp_path / "run")
    assert [row.em for row in rows] == [1, 1, 1]
    assert [row.hops for row in rows] == [1, 0, 0]


def test_a_folder_by_another_path_is_the_same(folder: Path, tmp_path: Path) -> None:
    data = load(written(folder, GOOD))
    (tmp_path / "inner").mkdir()
    (tmp_path / "link").symlink_to(folder)
    for path in (tmp_path / "link", tmp_path / "inner" / ".." / "link" / "photos" / ".."):
        again = load(path)
        assert (again.name, again.fingerprint) == (data.name, data.fingerprint)
        assert again.albums["all"].pictures == data.albums["all"].pictures


def test_what_is_bad_is_named(folder: Path) -> None:
    data = load(written(folder, [*GOOD, *BAD]))
    assert data.problems.counts == {"duplicate-id": 1, "unknown-answer": 1, "bad-line": 3}
    assert [one.id for one in data.questions] == ["1", "2", "3"]
    with pytest.raises(EvaluationError, match="duplicate-id"):
        load(folder, strict=True)


def test_another_folder(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no question that can be asked"):
        load(folder)
    with pytest.raises(EvaluationError, match="no question that can be asked"):
        load(tmp_path / "nowhere")


def test_an_ablation_takes_it(
    folder: Path,
    tmp_path: Path,
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its photos are named by the gazetteer, as in any library of one's own."""
    lines = [*GOOD, {"id": "8", "question": "photos from Lisbon", "gold": ["c.jpg"]}]
    written(folder, lines)
    picture = Image.open(folder / "photos/c.jpg")
    exif = picture.getexif()
    exif[0x8825] = {1: "N", 2: (38.0, 43.0, 20.0), 3: "W", 4: (9.0, 8.0, 20.0)}
    picture.save(folder / "photos/c.jpg", exif=exif)
    for name, value in {"CACHE": str(shared_cache), "ENCODER": "null", "BACKBONE": "planner",
                        "MEMORY_FOLDER": str(tmp_path / "memory")}.items():  # fmt: skip
        monkeypatch.setenv(f"PHOTOCRAFT_{name}", value)
    command = ["eval", "ablation", str(folder), "--only", "no-tool:around", "--on-doubt",
               "abstain", "--libraries", str(tmp_path / "libraries"), "--quiet", "--json",
               "--out", str(tmp_path / "out")]  # fmt: skip
    assert main(command) == 0
    (full, _) = json.loads(capsys.readouterr().out)["rows"]
    assert (full["n"], full["overall EM"]) == (4, 100.0)


def test_what_only_the_person_can_say_is_registered(
    folder: Path, tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """As in a made-up history: an ablation knows home, and when it is asked."""
    for name, east in {"home": -9.14, "away": 2.35}.items():
        picture = Image.new("RGB", (64, 48), (20, 90, 160))
        exif = picture.getexif()
        gps = {
            1: "N",
            2: (38.0, 43.0, 0.0),
            3: "E" if east > 0 else "W",
            4: (abs(east), 0.0, 0.0),
        }  # degrees, minutes, seconds
        exif.get_ifd(0x8825).update(gps)
        picture.save(folder / f"photos/{name}.jpg", exif=exif)
    written(
        folder,
        [
            {"id": "1", "question": "photos at grandma's", "gold": ["home.jpg"]},
            {"id": "2", "question": "photos from last year", "gold": ["a.jpg", "roll 1/b.jpg"]},
        ],
    )
    places = {"grandma's": {"at": [38.7166, -9.14], "radius_km": 1}, "nowhere": {"at": [99, 0]}}
    (folder / "person.json").write_text(json.dumps({"today": "2021-06-01", "places": places}))
    data = load(folder)
    assert data.problems.counts == {"bad-value": 1}
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    command = ["eval", "ablation", str(folder), "--only", "no-tool:around", "--encoder", "null",
               "--backbone", "planner", "--out", str(tmp_path / "run"), "--json",
               "--libraries", str(tmp_path / "lib")]  # fmt: skip
    assert main(command) == 0
    full, _ = json.loads(capsys.readouterr().out)["rows"]
    assert full["overall EM"] == 100
    assert "nowhere" in (tmp_path / "run/full/run.json").read_text()


def test_a_set_of_whose_questions_none_is_left_is_refused(
    folder: Path, tmp_path: Path, shared_cache: Path
) -> None:
    (folder / "photos/c.jpg").write_bytes(b"no picture")
    data = load(written(folder, GOOD[1:2]))
    settings = Settings(cache=shared_cache, encoder="null", backbone="planner")
    options = Options(track="open", libraries=tmp_path / "libraries")
    with pytest.raises(EvaluationError, match=r"can be asked: .*c\.jpg"):
        evaluate(data, settings, options, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "told",
    [b"", b"[]", b"{", b"\xff", b'{"today": 3}', b'{"places": []}', b'{"places": {"a": [1, 2]}}',
     b'{"places": {"a": {"at": [1]}}}',
     b'{"places": {"a": {"at": [1%s, 2]}}}' % (b"0" * 400),
     b'{"places": {"a": {"at": [1, 2], "radius_km": -1}}}'],
)  # fmt: skip
def test_bad_words_of_the_person_are_named(folder: Path, told: bytes) -> None:
    (written(folder, GOOD) / "person.json").write_bytes(told)
    data = load(folder)
    assert data.problems.counts.total() == 1
    assert not data.albums["all"].places
    assert data.albums["all"].asked_on is None

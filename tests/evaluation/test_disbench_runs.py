"""A folder in DISBench's layout, put to the package: tracks, memories, resumption, export."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import made_disbench
import pytest

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.app.albums import check_standard, shelves
from photocraft_local.app.benchmarking import Options, evaluate
from photocraft_local.app.evaluation_skills import Skills
from photocraft_local.app.parts import Parts
from photocraft_local.cli.main import main
from photocraft_local.errors import EvaluationError, UsageError
from photocraft_local.evaluation import submission
from photocraft_local.evaluation.disbench.layout import load
from photocraft_local.evaluation.results import ResultRow, RunFolder
from photocraft_local.library.library import Library
from photocraft_local.memory.skills import SkillStore

USER = made_disbench.USERS[0]


@pytest.fixture(scope="module")
def data(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_disbench.made(shared, tmp_path_factory.mktemp("data") / "disbench", num_users=2)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture(scope="module")
def settings(shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Colours for an encoder: quick, and what metadata decide needs none."""
    folder = tmp_path_factory.mktemp("own")
    return Settings(
        library=folder / "library",
        memory_folder=folder / "memory",
        cache=shared_cache,
        encoder="null",
        backbone="planner",
    )


def ran(
    data: Path, settings: Settings, libraries: Path, out: Path, options: Options | None = None
) -> dict[str, ResultRow]:
    options = replace(options or Options(), libraries=libraries)
    _, rows = evaluate(load(data), settings, options, out)
    return {row.question: row for row in rows}


def test_questions_of_time_and_place_are_answered_from_the_given_metadata(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    rows = ran(data, settings, libraries, tmp_path / "run")
    assert len(rows) == 10
    assert all(rows[name].em == 1 for name in ("0-may", "0-august", "1-may", "1-august"))
    assert rows["0-may"].predicted == rows["0-may"].gold
    assert rows["0-may"].tools["submit_answer"] == 1
    record = trajectory.load(tmp_path / "run" / rows["0-may"].trace)
    assert record.question == "photos taken in May 2012"
    assert record.today == date(2013, 1, 2)  # the day of the album's newest photo


def test_a_folder_by_another_path_is_the_same(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "link").symlink_to(data)
    for path in (tmp_path / "link", tmp_path / "inner" / ".." / "link" / ".." / data.name):
        rows = ran(path, settings, libraries, tmp_path / "run")
        assert rows["0-may"].em == rows["0-august"].em == 1
        assert len(rows) == 10


def test_the_library_holds_what_is_given_and_nothing_of_the_files(
    data: Path, settings: Settings, libraries: Path
) -> None:
    shelf = shelves(load(data), settings, libraries, standard=True)[USER]
    with PhotoSearch(replace(settings, library=shelf.path)) as search:
        photos = {shelf.names[photo.uid]: photo for photo in search.list()}
        assert len(photos) == 12
        first = photos["7000000000"]
        assert first.taken is not None
        assert first.taken.source == "given"
        assert first.place is not None
        assert first.place.address() == "Rua Augusta, Santa Maria Maior, Lisbon, Portugal"
        assert photos["7000000003"].taken is None
        assert photos["7000000010"].place is None
        found = search.search(where='match_address(address, "rue de rivoli")')
        assert {shelf.names[one.photo.uid] for one in found.photos} == {
            f"700000000{number}" for number in range(4, 8)
        }
        search.index()  # by hand, later: still no events
        assert all(photo.event_id is None for photo in search.list())


def test_the_standard_track_is_enforced(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    shelf = shelves(load(data), settings, libraries, standard=True)[USER]
    own = replace(settings, library=tmp_path / "copy")
    shutil.copytree(shelf.path, own.library)
    num_addresses = sum(bool(given.address) for given in shelf.album.given.values())
    with Library.open(own.library, settings=own) as library:
        check_standard(library, num_addresses)
        with pytest.raises(EvaluationError, match="place names"):
            check_standard(library, num_addresses - 1)
    with PhotoSearch(own) as search:
        search.places.add("home", at=(38.7, -9.1))
    with (
        Library.open(own.library, settings=own) as library,
        pytest.raises(EvaluationError, match="named places: that is no Standard track"),
    ):
        check_standard(library, num_addresses)
    with Library.open(own.library, settings=own) as library:
        with library.write_lock(), library.changes() as database:
            database.execute("UPDATE places SET country_code = 'PT'")
        with pytest.raises(EvaluationError, match="place names of the gazetteer"):
            check_standard(library, num_addresses)
    opened = shelves(load(data), settings, libraries, standard=False)[USER]
    with (
        Library.open(opened.path, settings=own) as library,
        pytest.raises(EvaluationError, match="events"),
    ):
        check_standard(library, num_addresses)


def test_one_and_eight_at_once_agree(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    ran(data, settings, libraries, tmp_path / "one")
    ran(data, settings, libraries, tmp_path / "eight", Options(concurrency=8))
    files = [(tmp_path / name / "results.jsonl").read_bytes() for name in ("one", "eight")]
    assert files[0] == files[1]


def test_a_run_that_was_killed_goes_on_and_gives_the_same(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    out = tmp_path / "cut"
    command = [sys.executable, "-m", "photocraft_local", "eval", "disbench", str(data)]
    command += ["--encoder", "null", "--backbone", "planner"]
    command += ["--out", str(out), "--libraries", str(libraries)]
    environment = {**os.environ, "PHOTOCRAFT_CACHE": str(settings.cache)}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stderr
        while not process.stderr.readline().startswith("4/10"):
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
    assert 4 <= len(RunFolder.load(out).rows) < 10
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "library of" in done.stderr
    assert done.stderr.count(" (answered)") <= 6
    ran(data, settings, libraries, tmp_path / "whole")
    assert (out / "results.jsonl").read_bytes() == (tmp_path / "whole/results.jsonl").read_bytes()


def test_each_question_meets_no_episode_and_only_skills_of_others(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    ran(data, settings, libraries, first)
    for user in libraries.iterdir():
        assert not (user / "memory").exists()
        assert not list((user / "traces").glob("*.json"))
    assert not settings.memory_folder.exists()
    taught = sorted(path.name for path in (first / "skills").iterdir())
    assert len(taught) == 2
    ran(data, settings, libraries, tmp_path / "second", Options(skills=first))
    skills = Skills(first, tmp_path / "second")
    mine, others = (ids(first / "skills" / name) for name in taught)
    given = ids(skills.of_others(USER))
    assert given == others  # of the two users the other one
    assert mine
    hints = [
        hint["skill_id"]
        for trace in (tmp_path / "second/traces").rglob(f"{taught[0]}/*.json")
        for hint in trajectory.load(trace).hints or ()
    ]
    assert set(hints) <= others


def ids(folder: Path) -> set[str]:
    store = SkillStore(folder)
    try:
        return {skill.skill_id for skill in store.list()}
    finally:
        store.close()


def test_guess_and_abstain_and_embeddings_alone(
    shared: Path, settings: Settings, tmp_path: Path
) -> None:
    """With the encoder that knows words."""
    data = made_disbench.made(shared, tmp_path / "data", num_users=1)
    words, libraries = replace(settings, encoder="labels"), tmp_path / "libraries"
    guessed = ran(data, words, libraries, tmp_path / "guess")
    empty = ran(data, words, libraries, tmp_path / "none", Options(on_doubt="abstain"))
    alone = Options(preset="embedding-only")
    retrieved = ran(data, words, libraries, tmp_path / "alone", alone)
    nearest = ran(data, words, libraries, tmp_path / "top", replace(alone, top_k=5))
    assert len(guessed["0-riddle"].predicted) == 1
    assert "guessed" in guessed["0-riddle"].reason
    assert guessed["0-riddle"].failure_class == "unclassified"  # code chose it, no model's fault
    assert not empty["0-riddle"].predicted
    assert empty["0-riddle"].f1 == 0
    assert retrieved["0-ever"].predicted == guessed["0-ever"].predicted  # a look alone
    assert retrieved["0-may"].em == 0  # a month is not seen
    assert all(len(row.predicted) == 5 and not row.tools for row in nearest.values())


def test_a_picture_that_cannot_be_decoded_is_named_and_its_question_left_out(
    shared: Path, settings: Settings, tmp_path: Path
) -> None:
    data = made_disbench.made(shared, tmp_path / "data", num_users=1)
    (data / "images" / USER / "7000000001.jpg").write_bytes(b"no picture at all")
    (data / "images" / USER / "7000000009.jpg").write_bytes(b"")
    (data / "images" / USER / "notes.txt").write_text("no picture of the data set")
    dataset = load(data)
    for number in range(2):  # another pass finds the same
        out = tmp_path / f"run{number or ''}"
        _, rows = evaluate(dataset, settings, Options(libraries=tmp_path / "lib"), out)
        assert dataset.problems.counts["unreadable-image"] == 1
        assert dataset.problems.counts["empty-file"] == 1  # which is no second fault
    assert dataset.problems.counts["unknown-answer"] >= 1
    assert "0-may" not in {row.question for row in rows}
    assert "0-august" in {row.question for row in rows}
    told = json.loads((tmp_path / "run/run.json").read_text())["about"]["problems"]
    assert any("7000000001.jpg" in line for line in told["named"])


def test_names_and_words_that_are_no_utf8(shared: Path, settings: Settings, tmp_path: Path) -> None:
    data = made_disbench.made(shared, tmp_path / "data", num_users=1)
    images = os.fsencode(data / "images" / USER)
    Path(os.fsdecode(images + b"/7000000009.jpg")).rename(os.fsdecode(images + b"/caf\xe9.jpg"))
    row = {"query_id": "od\ud800d", "user_id": USER, "query": "all photos \ud800 \u202e",
           "answer": ["7000000000"], "event_type": "intra-event"}  # fmt: skip
    nobody = {**row, "query_id": "nobody", "user_id": "\ud800"}
    with (data / "queries.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n" + json.dumps(nobody) + "\n")
    dataset = load(data)
    assert dataset.problems.counts == {"missing-image": 1, "bad-line": 1}  # renamed; no folder
    _, rows = evaluate(dataset, settings, Options(libraries=tmp_path / "lib"), tmp_path / "run")
    assert len(rows) == 6
    assert RunFolder.load(tmp_path / "run").sorted_rows() == rows
    submission.write(tmp_path / "sub.json", submission.submission(rows, {}))
    assert len(json.loads((tmp_path / "sub.json").read_text("ascii"))["predictions"]) == 6


def test_photos_of_the_same_bytes_are_one(shared: Path, settings: Settings, tmp_path: Path) -> None:
    data = made_disbench.made(shared, tmp_path / "data", num_users=1)
    images = data / "images" / USER
    shutil.copyfile(images / "7000000000.jpg", images / "7000000099.jpg")
    with (data / "queries.jsonl").open("a") as file:
        query = {"query_id": "twin", "user_id": USER, "query": "photos taken in May 2012",
                 "answer": ["7000000099", "7000000001", "7000000002"],
                 "event_type": "intra-event"}  # fmt: skip
        file.write(json.dumps(query) + "\n")
    _, rows = evaluate(load(data), settings, Options(libraries=tmp_path / "lib"), tmp_path / "run")
    twin = {row.question: row for row in rows}["twin"]
    assert twin.gold == ("7000000000", "7000000001", "7000000002")
    assert twin.em == 1


def test_the_command_prints_scores_and_writes_a_submission(
    data: Path,
    settings: Settings,
    libraries: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(settings.cache))
    command = ["eval", "disbench", str(data), "--encoder", "null", "--backbone", "planner"]
    command += ["--split", "intra", "--out", str(tmp_path / "run"), "--libraries", str(libraries)]
    assert main([*command, "--export", str(tmp_path / "sub.json")]) == 0
    shown = capsys.readouterr().out
    assert "overall" in shown
    assert "intra-event" in shown
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["figures"]["all"]["num"] == 6
    mean, low, high = told["figures"]["by_kind"]["intra-event"]["em"]
    assert low <= mean <= high
    assert told["figures"]["cost"]["cached_share"] is None
    submitted = json.loads((tmp_path / "sub.json").read_text())
    assert submitted["meta"]["track"] == "standard"
    assert submitted["predictions"]["0-may"] == [f"700000000{number}" for number in range(3)]
    assert main([*command, "--track", "open"]) == 2
    assert "another track" in capsys.readouterr().err


def test_the_command_gives_skills_of_others_and_refuses_what_is_no_standard_library(
    shared: Path,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = made_disbench.made(shared, tmp_path / "data", num_users=2)
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(settings.cache))
    monkeypatch.setenv("PHOTOCRAFT_MEMORY_FOLDER", str(tmp_path / "memory"))
    command = ["eval", "disbench", str(data), "--encoder", "null", "--backbone", "planner"]
    command += ["--libraries", str(tmp_path / "lib"), "--split", "intra"]
    first, second = tmp_path / "first", tmp_path / "second"
    assert main([*command, "--out", str(first)]) == 0
    assert main([*command, "--out", str(second), "--skills", str(first)]) == 0
    assert RunFolder.load(second).head["identity"]["skills"] == str(first)
    for user in (first / "skills").iterdir():
        own, others = ids(user), ids(*[one for one in (first / "skills").iterdir() if one != user])
        given = {
            hint["skill_id"]
            for trace in (second / "traces" / user.name).glob("*.json")
            for hint in trajectory.load(trace).hints or ()
        }
        assert given <= others
        assert not given & (own - others)
    library = next((tmp_path / "lib").iterdir())
    with PhotoSearch(replace(settings, library=library)) as search:
        search.places.add("home", at=(38.7, -9.1))
    capsys.readouterr()
    assert main([*command, "--out", str(tmp_path / "third")]) == 2
    assert "that is no Standard track" in capsys.readouterr().err
    assert not (tmp_path / "third").exists()


def test_presets_of_models_are_refused_to_rules(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    for preset in ("direct", "imageseeker", "lmm-searcher"):
        with pytest.raises(UsageError, match="driven by a model"):
            ran(data, settings, libraries, tmp_path / preset, Options(preset=preset))


def test_parts_hand_over_what_is_of_no_library(settings: Settings, tmp_path: Path) -> None:
    first = Parts(replace(settings, library=tmp_path / "a"))
    encoder = first.encoder()
    second = Parts(replace(settings, library=tmp_path / "b"))
    second.take_over(first)
    assert second.encoder() is encoder
    first.close()

"""A generated history is the same each time, its files show what they must, its questions have one
answer, and the oracle finds each through the real loop."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from photocraft_local.app import histories
from photocraft_local.cli.main import main
from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.errors import EvaluationError, UsageError
from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.eyes import OncePerPicture, TrueEyes
from photocraft_local.evaluation.histories.history import History, compose
from photocraft_local.evaluation.histories.life import Shot
from photocraft_local.evaluation.histories.likeness import look_of
from photocraft_local.evaluation.histories.members import Members
from photocraft_local.evaluation.histories.oracle import Oracle
from photocraft_local.evaluation.histories.rules import Rule
from photocraft_local.evaluation.histories.scenes import Frame
from photocraft_local.evaluation.histories.sources import Source, Sources, read_sources
from photocraft_local.evaluation.results import ResultRow
from photocraft_local.files.decode import decode_upright
from photocraft_local.settings import Settings
from photocraft_local.storage.atomic import part_of

DIALS = Dials(size=200, questions=30)


@pytest.fixture(scope="module")
def sources(shared: Path) -> Sources:
    return read_sources(shared / "data" / "captioned")


@pytest.fixture(scope="module")
def history(sources: Sources) -> History:
    return compose(sources, DIALS)


@pytest.fixture(scope="module")
def made(
    history: History, shared_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> histories.Indexed:
    settings = Settings(cache=shared_cache, encoder="null", backbone="planner", memory=False)
    return histories.indexed(history, tmp_path_factory.mktemp("made") / "history", settings)


def files_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# The same dials, the same bytes


def test_the_same_dials_give_the_same_bytes(sources: Sources, tmp_path: Path) -> None:
    small = dataclasses.replace(DIALS, questions=10)
    for name in ("one", "two"):
        compose(sources, small).write(tmp_path / name)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    other = compose(sources, dataclasses.replace(small, seed=2))
    assert other.fingerprint() != compose(sources, small).fingerprint()


def test_a_folder_that_holds_something_is_not_written_over(
    history: History, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(EvaluationError, match="not empty"):
        history.write(tmp_path)


def test_a_folder_whose_writing_was_cut_is_written_to_its_end(
    history: History, tmp_path: Path
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    history.write(whole)
    shutil.copytree(whole, cut)
    (cut / "history.json").rename(part_of(cut / "history.json"))  # as a kill leaves it
    (cut / "card.md").unlink()
    (cut / "photos" / history.life[-1].name).unlink()
    (cut / "photos" / history.life[3].name).write_bytes(b"\xff\xd8")
    other = dataclasses.replace(history, drawn=history.drawn[1:])
    with pytest.raises(EvaluationError, match="not empty"):
        other.write(cut)
    history.write(cut)
    assert files_of(cut) == files_of(whole)


# The files


def test_every_member_has_its_own_bytes_and_the_pixels_of_its_variant(
    made: histories.Indexed, tmp_path: Path
) -> None:
    folder = made.folder / "photos"
    digests = {hashlib.sha256((folder / shot.name).read_bytes()).digest() for shot in life_of(made)}
    assert len(digests) == DIALS.size == len(made.names)
    members = Members(made.history.sources)
    shown: dict[tuple[str, int], Shot] = {}
    for shot in life_of(made):
        shown[shot.frame.source, shot.frame.variant] = shot  # the last one of each
    for shot in list(shown.values())[:25]:
        plain = tmp_path / f"plain{Path(shot.name).suffix}"
        plain.write_bytes(members.plain(shot.frame))
        one = decode_upright(os.fsencode(folder / shot.name)).pixels
        assert np.array_equal(one, decode_upright(os.fsencode(plain)).pixels)


def test_the_library_reads_what_the_files_state(made: histories.Indexed) -> None:
    stated = dict(zip((s.name for s in life_of(made)), made.history.stated, strict=True))
    with made.opened(made.once) as photos:
        for photo in photos.list():
            one = stated[made.names[photo.uid]]
            assert (photo.taken.local if photo.taken else None) == one.time
            known = one.position is not None and one.position != (0.0, 0.0)
            assert (photo.location is not None) == known
            assert photo.camera == one.camera
            assert ("screenshot" in photo.flags) == made.names[photo.uid].endswith(".png")


def test_a_source_that_is_turned_by_its_metadata_stays_upright(
    history: History, tmp_path: Path
) -> None:
    """And one with idle bytes between its segments is read as any decoder reads it."""
    ramp = np.repeat(np.linspace(0, 255, 96, dtype=np.uint8)[:, None], 64, axis=1)
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "turned.jpg"
    Image.fromarray(np.stack([ramp] * 3, axis=-1)).rotate(90, expand=True).save(path, exif=exif)
    jpeg = path.read_bytes()
    at = jpeg.index(b"\xff\xdb")
    path.write_bytes(jpeg[:at] + b"\xff\xff" + jpeg[at:])
    source = Source("turned.jpg", path, frozenset({"ramp"}), look_of(path))
    members = Members(Sources((source,)))
    shot, stated = history.life[0], history.stated[0]
    for variant, shape in enumerate([(96, 64, 3)] * 3 + [(86, 58, 3)]):
        frame = Frame(source.name, source.labels, variant)
        made = tmp_path / f"{variant}.jpg"
        made.write_bytes(members.member(dataclasses.replace(shot, frame=frame), stated))
        pixels = decode_upright(os.fsencode(made)).pixels
        assert pixels.shape == shape
        assert pixels[:10].mean() < 60 < 200 < pixels[-10:].mean()


def life_of(made: histories.Indexed) -> list[Shot]:
    return list(made.history.life)


def test_a_picture_is_encoded_once_and_gets_the_very_vector() -> None:
    rng = np.random.default_rng(1)
    pictures = [rng.integers(0, 255, (32, 40, 3), np.uint8) for _ in range(3)]
    once, plain = OncePerPicture(NullEncoder()), NullEncoder()
    asked = [pictures[at] for at in (0, 1, 0, 2, 2, 1)]
    assert np.array_equal(once.encode_images(asked), plain.encode_images(asked))
    assert np.array_equal(once.encode_images(pictures), plain.encode_images(pictures))
    assert (once.num_encoded, once.num_given) == (3, 9)
    assert once.spec == plain.spec


def test_a_folder_by_another_path_is_the_same(made: histories.Indexed, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(made.folder.parent)
    folder = tmp_path / "link" / made.folder.name / ".." / made.folder.name
    again = histories.indexed(made.history, folder, made.settings, true_eyes=False)
    assert again.names == made.names
    assert again.given == made.given


def test_a_later_run_encodes_nothing_but_what_is_new_or_damaged(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    pictures = [rng.integers(0, 255, (32, 40, 3), np.uint8) for _ in range(3)]
    first = OncePerPicture(NullEncoder(), tmp_path).encode_images(pictures)
    later = OncePerPicture(NullEncoder(), tmp_path)
    assert np.array_equal(later.encode_images(pictures), first)
    assert (later.num_encoded, later.num_given) == (0, 3)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert len(files) == 3
    files[0].write_bytes(files[0].read_bytes()[:-3])
    files[1].write_bytes(b"\0" + files[1].read_bytes()[1:])
    again = OncePerPicture(NullEncoder(), tmp_path)
    assert np.array_equal(again.encode_images(pictures), first)
    assert again.num_encoded == 2
    other = OncePerPicture(Renamed(), tmp_path)
    other.encode_images(pictures)
    assert other.num_encoded == 3  # another encoder's are its own


class Renamed(NullEncoder):
    spec = dataclasses.replace(NullEncoder().spec, revision="another")


def test_a_history_that_is_made_again_encodes_nothing(
    made: histories.Indexed, tmp_path: Path
) -> None:
    settings = dataclasses.replace(made.settings, encoder="null", event_gap_hours=0.01)
    again = histories.indexed(made.history, tmp_path / "again", settings, true_eyes=False)
    assert again.once.num_encoded == 0
    assert again.once.num_given >= DIALS.size
    assert events_of(again) == events_of(made)  # as the questions mean them, not as the person


def events_of(made: histories.Indexed) -> set[frozenset[str]]:
    with made.opened(made.once) as photos:
        found: dict[int | None, set[str]] = {}
        for photo in photos.list():
            found.setdefault(photo.event_id, set()).add(made.names[photo.uid])
    return {frozenset(names) for names in found.values()}


def test_true_eyes_read_one_name_and_no_sum_of_two() -> None:
    eyes = TrueEyes(["bear", "teddy bear", "knife"], {})
    for text, axis in {"a bear": 0, "bears": 0, "knives": 1, "teddy bears": 2}.items():
        vector = eyes.encode_text(text).vector
        assert vector is not None
        assert int(np.argmax(vector)) == axis
    for text in ("a bear and a knife", "unicorn"):
        assert eyes.encode_text(text).vector is None


# The questions


def test_questions_have_both_kinds_all_hops_and_the_share_without_a_photo(
    history: History,
) -> None:
    counts = history.counts()
    assert set(counts["by_kind"]) == {"intra-event", "inter-event"}
    assert counts["by_hops"] == {str(hops): 6 for hops in range(1, 6)}
    assert counts["unanswerable"] == round(0.15 * 30)
    texts = [one.text for one in history.drawn]
    assert len(set(texts)) == 30


def test_the_oracle_finds_every_answer_and_the_others_do_not(
    made: histories.Indexed, tmp_path: Path
) -> None:
    def rows(agent: str) -> list[float]:
        _, found = histories.run(made, agent, tmp_path / agent)
        assert len(found) == DIALS.questions
        return [row.em for row in found]

    assert rows("oracle") == [1.0] * DIALS.questions
    assert sum(rows("empty")) == made.history.counts()["unanswerable"]
    assert sum(rows("random")) < 6
    assert sum(rows("true-eyes")) > 20  # what the planner understands


def test_an_oracle_that_is_told_another_meaning_is_wrong(
    made: histories.Indexed, tmp_path: Path
) -> None:
    """So its hundred is not the answer field's."""
    drawn = made.history.drawn[:12]
    told = [
        dataclasses.replace(one, rule=other.rule)
        for one, other in zip(drawn, [*drawn[1:], drawn[0]], strict=True)
    ]
    wrong = dataclasses.replace(made, history=dataclasses.replace(made.history, drawn=told))
    _, rows = histories.run(wrong, "oracle", tmp_path / "rotated")
    assert sum(row.em for row in rows) < 0.5 * len(rows)


@pytest.mark.parametrize(
    ("found", "answer"),
    [((3, 0), {"set": "s1", "text": "3"}), ((3, 1, 2), {"set": "s3", "text": "2"}),
     ((0,), {"photos": [], "text": "0"})],
)  # fmt: skip
def test_an_oracle_counts_the_set_that_it_answers_with(
    found: tuple[int, ...], answer: dict[str, object]
) -> None:
    """Not what the last call found, e.g. none of the things that are not to be shown."""
    oracle = Oracle({"how many?": Rule(("dog",), lacks=("cat",))}, frozenset({"how many?"}))
    messages = [{"role": "user", "content": "how many?"}]
    for count in found:
        oracle.complete(messages, [])
        told = json.dumps({"result": {"count": count}})
        messages += [{"role": "assistant", "content": ""}, {"role": "tool", "content": told}]
    submitted = oracle.complete(messages, []).call
    assert submitted is not None
    assert submitted.arguments.items() >= answer.items()


def test_several_at_once_give_the_same_rows(made: histories.Indexed, tmp_path: Path) -> None:
    few = dataclasses.replace(made.history, drawn=made.history.drawn[:12])
    made = dataclasses.replace(made, history=few)
    for number in (1, 3):
        histories.run(made, "true-eyes", tmp_path / str(number), concurrency=number)
    one, other = ((tmp_path / name / "results.jsonl").read_bytes() for name in ("1", "3"))
    assert one == other


def test_a_run_that_was_cut_goes_on_to_the_same_rows(
    made: histories.Indexed, tmp_path: Path
) -> None:
    few = dataclasses.replace(made.history, drawn=made.history.drawn[:6])
    made = dataclasses.replace(made, history=few)
    asked: list[str] = []

    def cut(row: ResultRow) -> None:
        asked.append(row.question)
        if len(asked) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        histories.run(made, "oracle", tmp_path / "cut", on_row=cut)
    histories.run(made, "oracle", tmp_path / "cut", on_row=lambda row: asked.append(row.question))
    assert sorted(asked) == [one.id for one in few.eval_questions()]
    histories.run(made, "oracle", tmp_path / "whole")
    one, other = ((tmp_path / name / "results.jsonl").read_bytes() for name in ("cut", "whole"))
    assert one == other


# What cannot be


@pytest.mark.parametrize(
    "wrong",
    [{"size": 199}, {"size": 20001}, {"hops": 6}, {"missing": 0.7}, {"unanswerable": -0.1},
     {"questions": 0}],
)  # fmt: skip
def test_dials_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(EvaluationError, match=next(iter(wrong))):
        Dials(**wrong)  # type: ignore[arg-type]


def broken_table(folder: Path) -> None:
    (folder / "captions.csv").write_bytes(b"\xff\xfe\x00file")


def empty_table(folder: Path) -> None:
    (folder / "captions.csv").write_bytes(b"")


def missing_files(folder: Path) -> None:
    rows = [f"{n}.jpg,cat,1" for n in range(20)]
    (folder / "captions.csv").write_text("\n".join(["file,labels,labels_complete", *rows]))


@pytest.mark.parametrize("spoil", [broken_table, empty_table, missing_files, lambda folder: None])
def test_a_folder_that_is_no_source_is_refused_by_name(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(tmp_path)
    with pytest.raises(EvaluationError, match=str(tmp_path)):
        read_sources(tmp_path)


def test_what_is_wrong_with_sources_is_named_and_the_rest_goes_on(
    shared: Path, tmp_path: Path
) -> None:
    for number, photo in enumerate(sorted((shared / "data/captioned").rglob("*.jpg"))[:13]):
        shutil.copyfile(photo, tmp_path / f"{number}.jpg")
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "cut.jpg").write_bytes(b"\xff\xd8\xff")
    names = [*(f"{n}.jpg" for n in range(13)), "0.jpg", "empty.jpg", "cut.jpg", "gone.jpg"]
    rows = [f"{name},cat,1".encode() for name in names]
    rows += [b"1.jpg,caf\xe9,1", b"2.jpg,cat", b"3.jpg,cat,0"]
    table = tmp_path / "captions.csv"
    table.write_bytes(b"file,labels,labels_complete\n" + b"\n".join(rows))
    found = read_sources(tmp_path)
    assert len(found.photos) == 13
    kinds = ["duplicate-id", "empty-file", "unreadable-image", "missing-image", "wrong-encoding",
             "bad-line"]  # fmt: skip
    assert [one.kind for one in found.problems.named] == kinds
    assert sum(found.left_out.values()) == 7  # one by its labels alone
    with pytest.raises(EvaluationError, match="bad data set: duplicate-id"):
        read_sources(tmp_path, strict=True)


def test_unknown_agents_are_refused() -> None:
    with pytest.raises(UsageError, match="wizard"):
        histories.checked_agents(["oracle", "wizard"])


# The command


def test_the_command_makes_asks_and_goes_on(
    shared: Path, shared_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    photos = str(shared / "data" / "captioned")
    out = tmp_path / "history"
    command = ["eval", "histories", str(out), "--photos", photos, "--size", "200", "--questions",
               "10", "--encoder", "null", "--agents", "oracle,empty", "--json"]  # fmt: skip
    assert main(command) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["agents"]["oracle"]["em"] == 100
    assert (out / "card.md").read_text("utf-8").startswith("# history-200-1\n")
    head = json.loads((out / "runs" / "oracle" / "run.json").read_text("utf-8"))
    assert "encoded once" in head["about"]["vectors"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["fingerprint"] == first["fingerprint"]
    assert main([*command, "--make-only"]) == 0  # it stands already
    assert {*json.loads(capsys.readouterr().out), "agents"} == set(first)
    assert main([*command, "--seed", "2"]) == 2
    assert "holds the history" in capsys.readouterr().err

"""Several encoders over one library, each with its own vectors: by the real commands."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from photocraft_local.app import PhotoSearch
from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.embeddings.pipeline import index_pending
from photocraft_local.errors import NoVectors, UsageError
from photocraft_local.library.sync import sync
from photocraft_local.settings import Settings

sys.path.append(str(Path(__file__).resolve().parent.parent / "embeddings"))
from test_onnx_dual import clip_folder

RED, GREEN, BLUE = (250, 10, 10), (10, 250, 10), (10, 10, 250)
NUM = 9


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Nine photos: three of each colour, no two the same."""
    made = tmp_path / "photos"
    made.mkdir()
    for number in range(NUM):
        colour = np.array((RED, GREEN, BLUE)[number % 3], np.uint8)
        pixels = np.full((48, 64, 3), colour, np.uint8)
        pixels[:2] = number
        Image.fromarray(pixels).save(made / f"{number}.png")
    return made


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    return clip_folder(tmp_path / "Tiny CLIP")


class Command:
    """The command line in this process, on one library."""

    def __init__(self, library: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._library, self._capsys = library, capsys

    def __call__(self, *words: str | Path) -> tuple[int, str, str]:
        from photocraft_local.cli.main import main

        code = main(["--library", str(self._library), *map(str, words)])
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def json(self, *words: str | Path) -> Any:
        code, out, err = self(*words, "--json")
        assert code == 0, err
        lines = [json.loads(line) for line in out.splitlines()]
        return lines[0] if len(lines) == 1 else lines


@pytest.fixture
def command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    monkeypatch.setenv("PHOTOCRAFT_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("")
    return Command(tmp_path / "library", capsys)


def found(answer: dict[str, Any]) -> set[str]:
    return {Path(photo["paths"][0]).stem for photo in answer["photos"]}


def test_two_encoders_side_by_side(command: Command, folder: Path, pair: Path) -> None:
    command.json("index", folder, "--encoder", "null")
    first = command.json("search", "red", "-k", "3", "--encoder", "null")
    code, _, err = command("search", "red", "--encoder", pair)
    assert code == 5
    assert "index --encoder" in err  # and what is there: null
    assert "null" in err
    assert command.json("index", "--encoder", pair)["embedded"] == NUM
    for encoder in ("null", pair):
        assert found(command.json("search", "red", "-k", "3", "--encoder", encoder)) == {
            "0",
            "3",
            "6",
        }
    assert command.json("search", "red", "-k", "3", "--encoder", "null") == first
    spaces = {space["encoder"]: space for space in command.json("spaces", "list")}
    assert {name: (s["vectors"], s["pending"]) for name, s in spaces.items()} == {
        "null": (NUM, 0),
        "tiny-clip": (NUM, 0),
    }
    assert spaces["tiny-clip"]["dim"] == 3


def test_new_photos_are_pending_where_they_were_not_embedded(
    command: Command, folder: Path, pair: Path
) -> None:
    command.json("index", folder, "--encoder", "null")
    command.json("index", "--encoder", pair)
    Image.new("RGB", (64, 48), (250, 12, 14)).save(folder / "new.png")
    command.json("index", "--encoder", pair)
    status = command.json("status", "--encoder", "null")
    assert {s["encoder"]: s["pending"] for s in status["vector_spaces"]} == {
        "null": 1,
        "tiny-clip": 0,
    }
    assert status["pending"] == 1
    _, out, _ = command("status", "--encoder", "null")
    lines = [line for line in out.splitlines() if line.startswith("vectors ")]
    assert any("9 vectors, 1 photo without one" in line for line in lines)
    assert any("3 numbers, 10 vectors" in line for line in lines)


def test_one_space_is_dropped_and_the_other_stays(
    command: Command, folder: Path, pair: Path
) -> None:
    command.json("index", folder, "--encoder", "null")
    command.json("index", "--encoder", pair)
    names = {space["encoder"]: space["space"] for space in command.json("spaces", "list")}
    assert command.json("spaces", "remove", names["tiny-clip"]) == {"removed": names["tiny-clip"]}
    assert command.json("spaces", "list")["encoder"] == "null"
    assert len(command.json("search", "red", "-k", "3", "--encoder", "null")["photos"]) == 3
    assert command("search", "red", "--encoder", pair)[0] == 5
    code, _, err = command("spaces", "remove", names["tiny-clip"])
    assert code == 2
    assert names["null"] in err
    assert command.json("index", "--encoder", pair)["embedded"] == NUM  # and made anew


@pytest.mark.parametrize("words", [("list", "x"), ("remove",)])
def test_words_that_do_not_go_together(command: Command, words: tuple[str, ...]) -> None:
    assert command("spaces", *words)[0] == 2


def test_a_library_without_vectors_says_so(command: Command, folder: Path) -> None:
    command.json("index", folder, "--encoder", "null")
    (name,) = [command.json("spaces", "list")["space"]]
    command.json("spaces", "remove", name)
    code, out, err = command("spaces", "list")
    assert (code, out) == (0, "")
    assert "photocraft index" in err


# -- by the Python interface: what breaks on the way


def settings_of(tmp_path: Path, encoder: str | Path) -> Settings:
    return Settings(library=tmp_path / "library", encoder=str(encoder), batch_size=2)


def test_an_open_search_sees_that_a_space_is_gone(tmp_path: Path, folder: Path) -> None:
    with PhotoSearch(settings_of(tmp_path, "null")) as photos:
        photos.index(folder)
        assert photos.search("red").matches
        photos.spaces.remove(photos.spaces.list()[0].name)
        with pytest.raises(NoVectors):
            photos.search("red")
        with pytest.raises(UsageError):
            photos.spaces.remove("../photos")


def test_an_interrupted_second_space_leaves_the_first_whole(
    tmp_path: Path, folder: Path, pair: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from photocraft_local.embeddings.onnx_dual import OnnxDualEncoder

    with PhotoSearch(settings_of(tmp_path, "null")) as photos:
        photos.index(folder)
        before = [one.photo.uid for one in photos.search("red", top_k=NUM).photos]
    run = OnnxDualEncoder.encode_images
    seen = 0

    def cut(self: OnnxDualEncoder, images: Any) -> Any:
        nonlocal seen
        seen += len(images)
        if seen > 4:
            raise KeyboardInterrupt
        return run(self, images)

    monkeypatch.setattr(OnnxDualEncoder, "encode_images", cut)
    with PhotoSearch(settings_of(tmp_path, pair)) as photos, pytest.raises(KeyboardInterrupt):
        photos.index()
    monkeypatch.setattr(OnnxDualEncoder, "encode_images", run)
    with PhotoSearch(settings_of(tmp_path, "null")) as photos:
        assert [one.photo.uid for one in photos.search("red", top_k=NUM).photos] == before
        counts = {space.encoder: space for space in photos.spaces.list()}
        done = counts["tiny-clip"].vectors
        assert 0 < done < NUM
        assert counts["null"].pending == 0
    with PhotoSearch(settings_of(tmp_path, pair)) as photos:
        partly = photos.search("red", top_k=NUM)  # what is there serves meanwhile
        assert (partly.num_candidates, partly.num_unindexed) == (done, NUM - done)
        assert photos.index().embedded == NUM - done
        assert len(photos.search("red", top_k=NUM)) == NUM


class Picky(NullEncoder):
    """Another space, whose encoder fails on red pictures."""

    @property
    def spec(self) -> Any:
        import dataclasses

        return dataclasses.replace(super().spec, encoder_id="picky")

    def encode_images(self, images: Any) -> Any:
        vectors = super().encode_images(images)
        vectors[[int(image[20, 20, 0]) > 200 for image in images]] = np.nan
        return vectors


def test_what_one_encoder_cannot_embed_stays_in_the_space_of_another(
    tmp_path: Path, folder: Path
) -> None:
    from photocraft_local.embeddings.space import VectorSpace

    with PhotoSearch(settings_of(tmp_path, "null")) as photos:
        photos.index(folder)
        library, picky = photos._parts.library(), Picky()
        where = library.spaces_folder / picky.spec.space_id
        for _ in range(2):  # tried again each time
            space = VectorSpace.open(where, picky.spec, create=True)
            report = index_pending(library, space, picky)
            assert report.skipped == 3
            assert all("cannot be embedded" in problem.message for problem in report.problems)
        assert library.count() == NUM
        assert library.skipped() == []
        assert len(photos.search("red", top_k=NUM)) == NUM
        counts = {one.encoder: (one.vectors, one.pending) for one in photos.spaces.list()}
        assert counts == {"null": (NUM, 0), "picky": (NUM - 3, 3)}


def test_a_kill_amid_a_removal_is_mended_by_compact(tmp_path: Path, folder: Path) -> None:
    with PhotoSearch(settings_of(tmp_path, "null")) as photos:
        photos.index(folder)
        left = tmp_path / "library/spaces/left-behind"
        left.mkdir()
        (left / "vectors.f16").write_bytes(b"x")  # its header went first
        assert [space.encoder for space in photos.spaces.list()] == ["null"]
        photos.compact()
        assert not left.exists()
        assert photos.search("red").matches


def test_a_damaged_space_is_named_and_can_be_dropped(tmp_path: Path, folder: Path) -> None:
    with PhotoSearch(settings_of(tmp_path, "null")) as photos:
        photos.index(folder)
        name = photos.spaces.list()[0].name
        (tmp_path / "library/spaces" / name / "header.json").write_text("{")
        status = photos.status()
        assert status.vector_spaces == ()
        assert any(name in note for note in status.notes)
        photos.spaces.remove(name)
        assert photos.index().embedded == NUM


class Blind(Picky):
    """The same, in a third space."""

    @property
    def spec(self) -> Any:
        import dataclasses

        return dataclasses.replace(super().spec, encoder_id="blind")


def test_what_one_encoder_cannot_embed_another_gets_to_try_once(
    tmp_path: Path, folder: Path
) -> None:
    """Whichever of the two comes first."""
    from photocraft_local.embeddings.space import VectorSpace

    with PhotoSearch(settings_of(tmp_path, "null")) as photos:
        blinded, library = Blind(), photos._parts.library(create=True)
        sync(library, [os.fsencode(folder)])

        def run(encoder: Any) -> Any:
            where = library.spaces_folder / encoder.spec.space_id
            space = VectorSpace.open(where, encoder.spec, create=True)
            return index_pending(library, space, encoder), space

        assert run(Picky())[0].skipped == 3
        assert library.count() == NUM - 3
        assert {one.reason for one in library.skipped()} == {"not-embedded"}
        for _ in range(2):  # refused once more by another, tried by neither of the two again
            report, blind = run(blinded)
            assert (library.count(), len(library.skipped())) == (NUM - 3, 3)
        assert (report.indexed, report.skipped) == (0, 0)
        assert len(blind) == NUM - 3
        assert run(Picky())[0].problems == ()
        report, _ = run(NullEncoder())
        assert (report.indexed, report.skipped) == (NUM, 0)
        assert (library.count(), library.skipped()) == (NUM, [])
        assert len(photos.search("red", top_k=NUM)) == NUM
        (name,) = [one.name for one in photos.spaces.list() if one.encoder == "blind"]
        photos.spaces.remove(name)
        report, _ = run(blinded)  # made anew, it tries all again; the third one's stay photos
        assert (report.indexed, report.skipped) == (NUM - 3, 3)
        assert library.count() == NUM


@pytest.mark.parametrize("damage", ["cut", "nan", "inf"])
def test_one_damaged_space_is_named_and_hides_no_other(
    command: Command, folder: Path, pair: Path, damage: str
) -> None:
    command.json("index", folder, "--encoder", pair)  # the first in the order of names
    command.json("index", "--encoder", "null")
    spaces = {space["encoder"]: space["space"] for space in command.json("spaces", "list")}
    first, other = sorted(spaces.values())
    (rows,) = (command._library / "spaces" / first).glob("*.f16")
    whole = rows.read_bytes()
    rows.write_bytes(whole[:-3])
    if damage != "cut":
        values = np.frombuffer(whole, np.float16).copy()
        values[0] = np.nan if damage == "nan" else -np.inf
        rows.write_bytes(values.tobytes())
    code, told, _ = command("doctor")
    (fault,) = [line for line in told.splitlines() if line.startswith("FAULT")]
    assert code == 1
    assert first in fault
    assert f"vectors: {other}: {NUM} rows" in told
    encoder = next(name for name, space in spaces.items() if space == first)
    chosen = pair if encoder == "tiny-clip" else encoder
    code, _, said = command("search", "red", "--encoder", chosen)
    assert code == 4
    assert "photocraft index" in said
    assert "folder 'spaces'" not in said  # the other encoders' vectors are whole
    assert command.json("search", "red", "-k", "1", "--encoder", "null" if chosen is pair else pair)

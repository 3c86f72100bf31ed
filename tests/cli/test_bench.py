"""``photocraft bench``: every figure beside its floor, what was not measured says why, a library
is left as it was, and a run that is stopped keeps what it had."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from photocraft_local.app.bench import agent_stage, plot, running, search_stage
from photocraft_local.app.bench.figures import Figure
from photocraft_local.app.bench.floors import Memory
from photocraft_local.cli.commands import bench
from photocraft_local.cli.main import main

if TYPE_CHECKING:
    from conftest import Done, Run

FIELDS = {"stage", "name", "value", "unit", "ceiling", "bound", "share", "note", "why"}
DECODE = Figure("decode", "a photo", 12.0, "photos/s", 16.0, "a floor")


def checked(done: Done) -> dict[str, list[dict[str, Any]]]:
    """The figures by stage, each with a value or a reason."""
    told = done.json()
    assert told["complete"]
    assert {"processor", "cores", "memory_gib", "gpus", "gpu_reason", "versions"} == set(
        told["machine"]
    )
    stages: dict[str, list[dict[str, Any]]] = {}
    for figure in told["figures"]:
        assert set(figure) == FIELDS
        if figure["value"] is None:
            assert figure["why"]
        else:
            assert figure["value"] > 0
            assert figure["unit"]
            assert not figure["why"]
        if figure["ceiling"] is not None:
            assert figure["bound"]
            assert figure["share"] == pytest.approx(figure["value"] / figure["ceiling"])
        stages.setdefault(figure["stage"], []).append(figure)
    return stages


@pytest.fixture(scope="module")
def made(photocraft: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """Of no library: photos and vectors are made."""
    folder = tmp_path_factory.mktemp("bench")
    words = ["machine", "decode", "crops", "embed", "search", "gpu", "--quick", "--json"]
    words += ["--library", str(folder / "none"), "--plot", str(folder / "plot.png")]
    return photocraft("bench", *words), folder


def test_made_photos_stand_in_for_a_library(made: tuple[Done, Path]) -> None:
    done, folder = made
    assert done.code == 0, done.err
    stages = checked(done)
    assert list(stages) == ["machine", "decode", "crops", "embed", "search", "gpu"]
    assert "made JPEG photos" in done.err
    for name in ("decode", "crops", "search"):
        assert all(figure["ceiling"] > 0 for figure in stages[name])
    assert all(figure["share"] < 1.5 for figure in stages["decode"])
    assert [figure["name"] for figure in stages["embed"]] == ["file to vector, null"]
    assert not (folder / "none").exists()


def test_what_needs_a_gpu_is_not_made_up(made: tuple[Done, Path]) -> None:
    for figure in checked(made[0])["gpu"]:
        assert figure["value"] is None
        assert "no GPU here" in figure["why"] or "gpu_check" in figure["why"]


def test_the_plot_is_a_png_of_our_own(made: tuple[Done, Path], photocraft: Run) -> None:
    done, folder = made
    assert done.json()["plot"] == str(folder / "plot.png")
    with Image.open(folder / "plot.png") as image:
        assert image.format == "PNG"
        assert image.width > 800
    (folder / "other.png").write_bytes(b"a photo")
    refused = photocraft("bench", "machine", "--plot", folder / "other.png")
    assert refused.code == 2
    assert (folder / "other.png").read_bytes() == b"a photo"


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".sqlite-wal", ".sqlite-shm", ".lock")
    }


def test_a_library_of_ones_own_is_read_and_left_as_it_was(
    photocraft: Run, small_library: Callable[[int], Path]
) -> None:
    library = small_library(5)
    before = contents(library)
    done = photocraft("bench", "decode", "agent", "--quick", "--json", "--library", library)
    assert done.code == 0, done.err
    assert "5 of the library's 5 JPEG photos" in done.err
    stages = checked(done)
    rules, *models = stages["agent"]
    assert "rules" in rules["name"]
    assert "no model" in rules["note"]
    assert rules["unit"] == "questions/h"
    assert rules["ceiling"] > rules["value"]
    assert [figure["value"] for figure in models] == [None] * 3
    assert all("no model is set" in figure["why"] for figure in models)
    after = contents(library)
    assert {name for name in after if "trace" in name} == {n for n in before if "trace" in n}
    assert {n: d for n, d in after.items() if not n.endswith("-wal")} == before


@pytest.mark.parametrize("store", ["auto", "qdrant:http://127.0.0.1:9"])
def test_the_librarys_own_vectors_are_searched_where_there_are_enough_and_here(
    store: str,
    small_library: Callable[[int], Path],
    shared_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from photocraft_local import Settings
    from photocraft_local.app.parts import Parts

    monkeypatch.setattr(search_stage, "_ENOUGH_BYTES", 1)
    settings = Settings(
        library=small_library(4), cache=shared_cache, encoder="null", vector_store=store
    )
    parts = Parts(settings)
    memory = Memory(1e10, 1e10)
    figures = list(search_stage.search(parts, tmp_path, memory, quick=True))
    parts.close()
    assert len(figures) == 4
    assert all(figure.note.startswith("the library's 4 ×") for figure in figures)
    assert not any(tmp_path.iterdir())


def test_a_damaged_photo_is_left_out_and_told(
    shared: Path, shared_cache: Path, tmp_path: Path
) -> None:
    from photocraft_local import PhotoSearch, Settings
    from photocraft_local.app.bench.material import photos_of
    from photocraft_local.app.parts import Parts

    for number, file in enumerate(sorted((shared / "data/captioned/coco").glob("*.jpg"))[:3]):
        (tmp_path / "photos").mkdir(exist_ok=True)
        (tmp_path / "photos" / f"{number}.jpg").write_bytes(file.read_bytes())
    settings = Settings(library=tmp_path / "library", cache=shared_cache, encoder="null")
    with PhotoSearch(settings) as search:
        search.index(tmp_path / "photos")
    (tmp_path / "photos/0.jpg").write_bytes(b"no photo")
    (tmp_path / "photos/1.jpg").unlink()
    parts = Parts(settings)
    material = photos_of(parts, tmp_path, quick=True)
    parts.close()
    assert [Path(os.fsdecode(file)).name for file in material.files] == ["2.jpg"]
    assert "(2 more cannot be decoded)" in material.told


def test_a_damaged_library_is_told_and_not_passed_over(
    small_library: Callable[[int], Path], shared_cache: Path, tmp_path: Path
) -> None:
    from photocraft_local import Settings
    from photocraft_local.app.parts import Parts

    library = small_library(2)
    (rows,) = library.glob("spaces/*/vectors.f16")
    rows.write_bytes(rows.read_bytes()[:-3])
    parts = Parts(Settings(library=library, cache=shared_cache, encoder="null"))
    (figure,) = search_stage.search(parts, tmp_path, Memory(1e10, 1e10), quick=True)
    parts.close()
    assert figure.value is None
    assert "vectors.f16" in figure.why


def test_there_are_questions_for_all_that_are_asked_none_of_them_twice() -> None:
    """A cache would answer it; and with too few, less are under way than is told."""
    wanted = 1 + sum(2 * number for number in agent_stage.AT_ONCE)
    found = agent_stage._questions(wanted)
    assert len(set(found)) == len(found) == wanted


def test_a_stage_that_there_is_not(photocraft: Run) -> None:
    done = photocraft("bench", "cooking")
    assert done.code == 2
    assert "there is no stage 'cooking'" in done.error


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_leaves_what_was_measured(
    as_json: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    closed = []

    def stopped(*_: object, **__: object) -> Iterator[Figure]:
        try:
            yield DECODE
            raise KeyboardInterrupt
        finally:
            closed.append(True)

    monkeypatch.setattr(bench, "measure", stopped)
    plot_file = tmp_path / "plot.png"
    words = ["bench", "--library", str(tmp_path / "none"), "--plot", str(plot_file)]
    assert main([*words, *["--json"] * as_json]) == 130
    out = capsys.readouterr().out
    assert closed == [True]
    assert plot_file.is_file()
    if as_json:
        told = json.loads(out)
        assert not told["complete"]
        assert [figure["share"] for figure in told["figures"]] == [0.75]
    else:
        assert "12 photos/s" in out
        assert "75%" in out


def test_the_temporary_folder_goes_when_a_run_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from photocraft_local import Settings

    monkeypatch.setattr(running, "memory_speed", lambda **_: Memory(1e10, 1e10))
    monkeypatch.setattr(running.tempfile, "tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    settings = Settings(library=tmp_path / "none", encoder="null")
    figures = running.measure(settings, ["machine", "search"], lambda told: None, quick=True)
    for figure in figures:
        if figure.stage == "search":
            assert any((tmp_path / "t").iterdir())
            break
    figures.close()
    assert not any((tmp_path / "t").iterdir())


def test_a_bar_is_as_long_as_its_share() -> None:
    whole = Figure("decode", "whole", 10.0, "photos/s", 10.0, "a floor")
    figures = [whole, Figure("decode", "half", 5.0, "photos/s", 10.0, "a floor"),
               Figure("agent", "none", why="no weights")]  # fmt: skip
    image = Image.open(io.BytesIO(plot.plot(figures, "a × title"))).convert("RGB")
    middles = [plot._TOP + number * plot._LINE + plot._LINE // 3 for number in range(3)]
    blue = (0x2A, 0x78, 0xB5)
    lengths = [sum(image.getpixel((x, y)) == blue for x in range(image.width)) for y in middles]
    assert lengths[0] == pytest.approx(2 * lengths[1], abs=3)
    assert lengths[1] > 200
    assert lengths[2] == 0


def test_what_one_stage_meets_keeps_no_other_from_being_measured(
    tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from photocraft_local import Settings
    from photocraft_local.errors import LibraryCorrupt

    def broken(*_: object, **__: object) -> Iterator[Figure]:
        yield DECODE
        raise LibraryCorrupt("a row holds NaN", hint="index again")

    monkeypatch.setattr(running, "memory_speed", lambda **_: Memory(1e10, 1e10))
    monkeypatch.setattr(search_stage, "search", broken)
    settings = Settings(library=tmp_path / "none", cache=shared_cache, encoder="null")
    figures = list(running.measure(settings, ["search", "gpu"], lambda told: None, quick=True))
    assert figures[0] == DECODE
    assert figures[1].why == "a row holds NaN; index again"
    assert figures[2].stage == "gpu"

"""Files of a data set that are no files, never end, or are larger than any: named, counted, and the
rest goes on, or stops by choice; in each of the layouts."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_disbench
import made_photobench
import pytest

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation import plain_layout
from photocraft_local.evaluation.captioned import read_captioned
from photocraft_local.evaluation.disbench import layout as disbench
from photocraft_local.evaluation.photobench import layout as photobench
from photocraft_local.evaluation.problems import LARGEST

USER = made_disbench.USERS[0]
METADATA = {"disbench": f"metadata/{USER}.jsonl", "photobench": "album1/metadata.json"}
LOADERS: dict[str, Callable[..., Any]] = {
    "disbench": disbench.load,
    "photobench": photobench.load,
    "plain": plain_layout.load,
    "captioned": read_captioned,
}


@pytest.fixture(scope="module")
def stock(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small folder of each layout."""
    root = tmp_path_factory.mktemp("stock")
    made_disbench.made(shared, root / "disbench", num_users=1)
    made_photobench.made(shared, root / "photobench")
    for name, folder in (("plain", "plain/photos"), ("captioned", "captioned")):
        (root / folder).mkdir(parents=True)
        for number, (source, _) in enumerate(made_disbench.photos_of(shared)[:3]):
            shutil.copyfile(source, root / folder / f"{number}.jpg")
        assert (root / name).is_dir()
    rows = [{"id": str(n), "question": "which", "gold": [f"{n}.jpg"]} for n in range(3)]
    (root / "plain/questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = "file,caption\n" + "".join(f"{number}.jpg,thing {number}\n" for number in range(3))
    (root / "captioned/captions.csv").write_text(table)
    return root


@pytest.fixture
def folder(stock: Path, tmp_path: Path) -> Callable[[str], Path]:
    def copied(layout: str) -> Path:
        shutil.copytree(stock / layout, tmp_path / layout)
        return tmp_path / layout

    return copied


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, LARGEST + 1)


@pytest.mark.timeout(60)  # a pipe that nobody writes to never ends
@pytest.mark.parametrize("layout", METADATA)
@pytest.mark.parametrize(
    ("put", "kind"),
    [
        (Path.mkdir, "missing-file"),
        (os.mkfifo, "missing-file"),
        (lambda path: path.symlink_to(path), "missing-file"),
        (sparse, "too-large"),
    ],
)
def test_metadata_that_are_no_text(
    folder: Callable[[str], Path], layout: str, put: Callable[[Path], object], kind: str
) -> None:
    path = folder(layout) / METADATA[layout]
    num = len(LOADERS[layout](folder_of(path, layout)).questions)
    path.unlink()
    put(path)
    dataset = LOADERS[layout](folder_of(path, layout))
    assert dataset.problems.counts[kind] == 1
    assert dataset.problems.counts.total() == 1
    assert path.name in str(dataset.problems.named[0])
    assert len(dataset.questions) == num
    with pytest.raises(EvaluationError, match=f"bad data set: {kind}"):
        LOADERS[layout](folder_of(path, layout), strict=True)


def folder_of(path: Path, layout: str) -> Path:
    return path.parents[len(Path(METADATA[layout]).parts) - 1]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("layout", "name"),
    [
        ("disbench", "queries.jsonl"),
        ("photobench", "test.json"),
        ("plain", "questions.jsonl"),
        ("captioned", "captions.csv"),
    ],
)
@pytest.mark.parametrize("put", [Path.mkdir, os.mkfifo, Path.touch])
def test_questions_that_are_no_text(
    folder: Callable[[str], Path], layout: str, name: str, put: Callable[[Path], object]
) -> None:
    home = folder(layout)
    (home / name).unlink()
    put(home / name)
    with pytest.raises(EvaluationError):
        LOADERS[layout](home)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("put", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/nowhere")])
@pytest.mark.parametrize(
    ("layout", "name", "kind"),
    [
        ("disbench", f"images/{USER}/7000000001.jpg", "missing-image"),
        ("photobench", f"album1/images/{made_photobench.name(1)}", "missing-image"),
        ("plain", "photos/1.jpg", "unknown-answer"),
        ("captioned", "1.jpg", "missing-image"),
    ],
)
def test_a_photo_that_is_none(
    folder: Callable[[str], Path],
    layout: str,
    name: str,
    kind: str,
    put: Callable[[Path], object],
) -> None:
    home = folder(layout)
    (home / name).unlink()
    put(home / name)
    assert LOADERS[layout](home).problems.counts[kind] == 1
    with pytest.raises(EvaluationError, match="bad data set"):
        LOADERS[layout](home, strict=True)


def test_a_user_whose_name_no_folder_can_have(folder: Callable[[str], Path]) -> None:
    home = folder("disbench")
    first = json.loads((home / "queries.jsonl").read_text().splitlines()[0])
    with (home / "queries.jsonl").open("a") as file:
        for number, user in enumerate(["a" * 300, "\N{DOG FACE}" * 70, "..", "a/b", "a\0b", ""]):
            file.write(json.dumps({**first, "query_id": f"new{number}", "user_id": user}) + "\n")
    dataset = disbench.load(home)
    assert dataset.problems.counts == {"bad-line": 6}
    assert len(dataset.questions) == 5


def test_two_users_whose_names_look_alike_have_libraries_of_their_own(
    folder: Callable[[str], Path], tmp_path: Path
) -> None:
    """Ids of photos and of questions may be the same in both."""
    home = folder("disbench")
    other = USER.lower() + " "
    shutil.copytree(home / "images" / USER, home / "images" / other)
    shutil.copyfile(home / METADATA["disbench"], home / "metadata" / f"{other}.jsonl")
    first = json.loads((home / "queries.jsonl").read_text().splitlines()[0])
    with (home / "queries.jsonl").open("a") as file:
        file.write(json.dumps({**first, "query_id": "new", "user_id": other}) + "\n")
    dataset = disbench.load(home)
    assert set(dataset.albums) == {USER, other}
    paths = [set(album.pictures.values()) for album in dataset.albums.values()]
    assert not paths[0] & paths[1]


def test_rows_of_another_encoding_cost_themselves_alone(folder: Callable[[str], Path]) -> None:
    home = folder("captioned")
    with (home / "captions.csv").open("ab") as file:
        file.write(b"2.jpg,caf\xe9\n2.jpg,coffee\n")
    found = read_captioned(home)
    assert found.problems.counts == {"wrong-encoding": 1}
    assert "line 5" in str(found.problems.named[0])
    assert {query.text for query in found.queries} == {"thing 0", "thing 1", "thing 2", "coffee"}

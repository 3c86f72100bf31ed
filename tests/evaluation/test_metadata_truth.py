"""Tables of real files: all of the shared ones are right, and a table that lies is found out."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.metadata_truth import check_metadata, read_truth


def rewritten(source: Path, folder: Path, changes: dict[str, dict[str, str]]) -> Path:
    """The folder with its table, some cells changed."""
    folder.mkdir()
    name = "manifest.csv" if (source / "manifest.csv").exists() else "expected.csv"
    with (source / name).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        shutil.copy(source / row["file"], folder)
        row |= changes.get(row["file"], {})
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def test_the_shared_tables_are_right(shared: Path) -> None:
    for name, num in (("exif", 33), ("odd", 41)):
        found = check_metadata(shared / "data" / name)
        assert not found.problems.counts
        assert found.num_files == num
        assert found.of("wrong", "missing") == []
        json.dumps(found.to_json(), allow_nan=False)
    exif = check_metadata(shared / "data/exif").counts()
    assert exif["outcome"]["right"] == 33
    assert {name: sum(count.values()) for name, count in exif.items()} == {
        "outcome": 33, "time": 31, "fraction": 7, "offset": 16, "place": 31, "orientation": 31,
        "size": 31, "camera": 18,
    }  # fmt: skip


def test_tags_that_are_absent_are_no_mistake_and_yet_told(shared: Path) -> None:
    more = check_metadata(shared / "data/exif").of("more")
    told = {(check.file, check.field): check.found for check in more}
    assert told["me_Nikon D5000.jpg", "place"] == "48.888726,21.043251"
    assert told["im_gps-datetime.jpg", "time"] == "2023-11-15T04:30:00"


TAGGED = {
    "ia_DSCN0010.jpg": {"exif_DateTimeOriginal": "2009:10:22 16:28:39"},
    "ia_DSCN0021.jpg": {"gps_lat": "43.468"},
    "ia_landscape_3.jpg": {"orientation": "1"},
    "im_IMG_2682.heic": {"OffsetTimeOriginal": "+02:00"},
    "ma_test_exif.jpg": {"exif_DateTimeOriginal": "2018:06:26 17:46:33.111"},
    "ia_no_exif.jpg": {"gps_lat": "10", "gps_lon": "20"},
    "ia_portrait_6.jpg": {"width": "601"},
    "me_Apple iPhone 4.jpg": {"model": "iPhone 5"},
    "ph_empty.heic": {"width": "10", "height": "10"},
    "me_Nikon D5000.jpg": {"gps_lat": "0", "gps_lon": "0"},
}


def test_each_wrong_field_is_named(shared: Path, tmp_path: Path) -> None:
    folder = rewritten(shared / "data/exif", tmp_path / "exif", TAGGED)
    found = {(check.file, check.field): check for check in check_metadata(folder).of(
        "wrong", "missing")}  # fmt: skip
    assert {key: check.verdict for key, check in found.items()} == {
        ("ia_DSCN0010.jpg", "time"): "wrong",
        ("ia_DSCN0021.jpg", "place"): "wrong",
        ("ia_landscape_3.jpg", "orientation"): "wrong",
        ("im_IMG_2682.heic", "offset"): "wrong",
        ("ma_test_exif.jpg", "fraction"): "wrong",
        ("ia_no_exif.jpg", "place"): "missing",
        ("ia_portrait_6.jpg", "size"): "wrong",
        ("me_Apple iPhone 4.jpg", "camera"): "wrong",
        ("ph_empty.heic", "outcome"): "wrong",
        ("me_Nikon D5000.jpg", "place"): "wrong",
    }
    told = str(found["ia_DSCN0010.jpg", "time"])
    assert "'2008-10-22T16:28:39' where the table has '2009-10-22T16:28:39'" in told


def test_an_empty_cell_means_that_there_is_none(shared: Path, tmp_path: Path) -> None:
    changes = {
        "date_future.jpg": {"taken_at": ""},
        "gps_null_island.jpg": {"lat": "0", "lon": "0"},
        "date_inline_tz.jpg": {"taken_at": "2025-01-14T18:31:30"},
        "html.jpg": {"outcome": "index"},
        "gray16.png": {"outcome": "skip"},
        "orient_6.jpg": {"upright_size": "64x48"},
    }
    folder = rewritten(shared / "data/odd", tmp_path / "odd", changes)
    report = check_metadata(folder)
    assert {(c.file, c.field): c.verdict for c in report.of("wrong", "missing")} == {
        ("date_future.jpg", "time"): "wrong",
        ("gps_null_island.jpg", "place"): "missing",
        ("date_inline_tz.jpg", "offset"): "wrong",
        ("html.jpg", "outcome"): "wrong",
        ("gray16.png", "outcome"): "wrong",
        ("orient_6.jpg", "size"): "wrong",
    }


def test_rows_that_cannot_be_used_are_named(shared: Path, tmp_path: Path) -> None:
    changes = {
        "date_future.jpg": {"taken_at": "some day"},
        "gps_south_west.jpg": {"lat": "south"},
        "html.jpg": {"outcome": "maybe"},
        "orient_1.jpg": {"file": "gone.jpg"},
        "orient_8.jpg": {"file": "orient_6.jpg"},
    }
    folder = rewritten(shared / "data/odd", tmp_path / "odd", changes)
    report = check_metadata(folder)
    told = "\n".join(map(str, report.problems.named))
    for words in ("date_future.jpg", "gps_south_west.jpg", "an outcome 'maybe'",
                  "there is no file 'gone.jpg'",
                  "'orient_6.jpg': it stands twice"):  # fmt: skip
        assert words in told
    assert report.num_files == 36
    assert report.of("wrong", "missing") == []


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("file,outcome,lat\n{},index,1.5\n", "lat and lon go together"),
        ("file,outcome,lat,lon\n{},index,1.5,\n", "lat and lon go together"),
        ("file,outcome,lat,lon\n{},index,,1.5\n", "lat and lon go together"),
        ("file,exif_DateTimeOriginal,width\n{},,64\n", "width and height go together"),
        ("file,exif_DateTimeOriginal,gps_lat,gps_lon\n{},,1,\n", "gps_lat and gps_lon"),
    ],
)
def test_half_of_a_pair_is_named(shared: Path, tmp_path: Path, table: str, words: str) -> None:
    for name in ("a.jpg", "b.jpg"):
        shutil.copy(shared / "data/odd/orient_1.jpg", tmp_path / name)
    whole = {"outcome": "index", "lat": "1", "lon": "2"} if ",lat" in table else {}
    heads = table.splitlines()[0].split(",")[1:]
    last = ",".join(["b.jpg", *[whole.get(name, "") for name in heads]])
    if heads == ["outcome", "lat"]:
        last = "b.jpg,index,"
    (tmp_path / "t.csv").write_text(table.format("a.jpg") + last + "\n")
    found = check_metadata(tmp_path, tmp_path / "t.csv")
    assert found.num_files == 1
    assert words in str(found.problems.named[0])


def test_names_that_no_file_has_and_names_that_lead_out(shared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "album"
    (folder / "sub").mkdir(parents=True)
    for path in (tmp_path / "outside.jpg", folder / "a.jpg", folder / "sub/b.jpg"):
        shutil.copy(shared / "data/odd/orient_1.jpg", path)
    (folder / "link.jpg").symlink_to("../outside.jpg")
    (folder / "loop.jpg").symlink_to("loop.jpg")
    names = ["a.jpg", "./sub//b.jpg", "../outside.jpg", "sub/../../outside.jpg", "link.jpg",
             str(tmp_path / "outside.jpg"), "x" * 400, "n\0l.jpg", "loop.jpg", "sub",
             ""]  # fmt: skip
    (folder / "expected.csv").write_text(
        "file,outcome\n" + "".join(f'"{n}",index\n' for n in names)
    )
    told = read_truth(folder)
    assert set(told.files) == {"a.jpg", "sub/b.jpg"}
    assert told.problems.counts == {"outside-name": 4, "missing-image": 5}


def test_flags_may_be_asked_for(shared: Path, tmp_path: Path) -> None:
    shutil.copy(shared / "data/odd/gps_void_empty.jpg", tmp_path / "a.jpg")
    (tmp_path / "t.csv").write_text("file,outcome,flags\na.jpg,index,gps-void\n")
    assert check_metadata(tmp_path, tmp_path / "t.csv").of("wrong", "missing") == []
    (tmp_path / "t.csv").write_text("file,outcome,flags\na.jpg,index,gps-invalid\n")
    assert len(check_metadata(tmp_path, tmp_path / "t.csv").of("wrong")) == 1


def test_folders_without_a_table(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"neither expected\.csv nor manifest\.csv"):
        check_metadata(tmp_path)
    (tmp_path / "expected.csv").write_text("file,outcome\ngone.jpg,index\n")
    with pytest.raises(EvaluationError, match="names no file"):
        check_metadata(tmp_path)

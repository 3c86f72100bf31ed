"""RAW beside JPEG and Live Photos are one photo; sidecars belong to theirs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from small_album import Album, Indexer, counts

from photocraft_local.files.walk import FoundFile
from photocraft_local.library.pairs import arrange, by_folder

_KINDS = {"cr2": "raw", "dng": "raw", "mov": "video", "mp4": "video", "avi": "video"}


def found(*names: str) -> list[FoundFile]:
    kinds = [_KINDS.get(name.rpartition(".")[2].lower(), "photo") for name in names]
    kinds = [
        "sidecar" if name.endswith((".xmp", ".json")) else kind
        for name, kind in zip(names, kinds, strict=True)
    ]
    return [
        FoundFile(f"/r/{name}".encode(), b"/r", 1, 1, 1, 1, kind)  # type: ignore[arg-type]
        for name, kind in zip(names, kinds, strict=True)
    ]


def arranged(*names: str) -> list[tuple[str, list[str], str | None]]:
    def short(file: FoundFile) -> str:
        return file.path.decode().removeprefix("/r/")

    return [
        (
            short(group.lead),
            [short(file) for file in group.companions],
            group.sidecar and short(group.sidecar),
        )
        for group in arrange(found(*names))
    ]


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["a.cr2", "a.jpg"], [("a.jpg", ["a.cr2"], None)]),
        (["IMG_1.HEIC", "img_1.mov"], [("IMG_1.HEIC", ["img_1.mov"], None)]),
        (["a.dng", "a.jpg", "a.mov"], [("a.jpg", ["a.dng", "a.mov"], None)]),
        (["a.heic", "a.jpg"], [("a.jpg", [], None), ("a.heic", [], None)]),
        (["a.jpg", "a.avi"], [("a.jpg", [], None), ("a.avi", [], None)]),
        (["a.cr2", "a.mov"], [("a.cr2", [], None), ("a.mov", [], None)]),
        (["a.mov", "a.mp4"], [("a.mov", [], None), ("a.mp4", [], None)]),
        (["a.jpg", "b.cr2", "ab.mov"], [(n, [], None) for n in ("a.jpg", "b.cr2", "ab.mov")]),
        (["a.cr2", "a.jpg", "a.xmp"], [("a.jpg", ["a.cr2"], "a.xmp")]),
        (["a.jpg", "a.jpg.json", "b.png"], [("a.jpg", [], "a.jpg.json"), ("b.png", [], None)]),
    ],
)
def test_files_of_one_stem(names: list[str], groups: list[object]) -> None:
    assert arranged(*names) == groups


def test_a_folder_is_whole_although_subfolders_come_in_between() -> None:
    files = found("a.cr2", "b/x.jpg", "b/y/z.jpg", "b/zz.jpg", "c.jpg", "d/e.jpg", "f.jpg")
    folders = [[f.path.decode() for f in folder] for folder in by_folder(files)]
    assert sorted(folders) == sorted(
        [
            ["/r/b/y/z.jpg"],
            ["/r/b/x.jpg", "/r/b/zz.jpg"],
            ["/r/d/e.jpg"],
            ["/r/a.cr2", "/r/c.jpg", "/r/f.jpg"],
        ]
    )


def test_raw_and_film_are_companions_and_change_with_their_photo(
    index: Indexer, album: Album
) -> None:
    album.shoot("p.jpg", 1)
    shutil.copy(album.shoot("raw-stand-in.jpg", 2), album.folder / "p.cr2")
    (album.folder / "raw-stand-in.jpg").unlink()
    (album.folder / "p.mov").write_bytes(b"film")
    (album.folder / "other.mov").write_bytes(b"film")
    assert counts(index()) == {"added": 1, "companions": 2, "skipped": 1}
    assert index.skipped() == {"other.mov": "video"}
    (photo,) = index.library.photos()
    names = sorted(Path(os.fsdecode(path)).name for path in photo.companions)
    assert names == ["p.cr2", "p.mov"]
    assert counts(index()) == {"unchanged": 4, "companions": 2, "skipped": 1}
    (album.folder / "p.mov").unlink()
    index()
    (photo,) = index.library.photos()
    assert [Path(os.fsdecode(path)).name for path in photo.companions] == ["p.cr2"]


def test_companions_stand_alone_when_their_photo_goes_and_join_when_it_comes(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    jpeg = album.shoot("p.jpg", 1)
    content = jpeg.read_bytes()
    (album.folder / "p.mov").write_bytes(b"film")
    (album.folder / "p.cr2").write_bytes(b"no raw file")
    index()
    assert index.skipped() == {}
    jpeg.unlink()
    index()
    assert index.library.count() == 0
    assert index.skipped() == {"p.mov": "video", "p.cr2": "unsupported"}
    jpeg.write_bytes(content)
    assert index().restored == 1
    assert index.skipped() == {}
    assert len(next(index.library.photos()).companions) == 2
    jpeg.write_bytes(b"")
    index()
    assert index.skipped() == {"p.jpg": "unreadable", "p.mov": "video", "p.cr2": "unsupported"}
    assert counts(index()) == {"unchanged": 3, "skipped": 3, "unreadable": 1}


def test_a_sidecar_that_comes_changes_or_goes_changes_the_photo(
    index: Indexer, album: Album
) -> None:
    album.shoot("p.jpg", 1)
    index()
    sidecar = album.folder / "p.jpg.json"
    sidecar.write_text('{"photoTakenTime": {"timestamp": "1600000000"}}')
    assert counts(index()) == {"changed": 1}
    assert _taken(index) == "2020-09-13T12:26:40"
    assert counts(index()) == {"unchanged": 1}
    sidecar.write_text('{"photoTakenTime": {"timestamp": "1600086400"}}')
    os.utime(sidecar, (5, 5))
    assert counts(index()) == {"changed": 1}
    assert _taken(index) == "2020-09-14T12:26:40"
    sidecar.unlink()
    assert counts(index()) == {"changed": 1}
    assert _taken(index) is None


def _taken(index: Indexer) -> str | None:
    (photo,) = index.library.photos()
    return photo.taken.local.isoformat() if photo.taken else None

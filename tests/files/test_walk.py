"""The walk: what is found, what is left out, what is reported; links, names, permissions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from photo_maker import gradient, jpeg, write

from photocraft_local.errors import UnreadablePhoto
from photocraft_local.files.fingerprint import digest_file
from photocraft_local.files.metadata import read_metadata
from photocraft_local.files.sidecars import sidecar_of
from photocraft_local.files.walk import walk
from photocraft_local.records import Skipped


def found(root: Path) -> tuple[list[str], list[Skipped]]:
    """Kind and relative path of everything found, and what was reported."""
    skipped: list[Skipped] = []
    base = bytes(root) + b"/"
    files = [
        f"{file.kind} {os.fsdecode(file.path.removeprefix(base))}"
        for file in walk(bytes(root), on_skip=skipped.append)
    ]
    return files, skipped


def touch(root: Path, *names: str, data: bytes = b"x") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_kinds_in_order_of_names(tmp_path: Path) -> None:
    touch(tmp_path, "b/2.JPG", "b/10.heic", "a.jpeg", "c.MOV", "c.nef", "c.xmp", "c.json", "z.txt")
    files, skipped = found(tmp_path)
    assert files == [
        "photo a.jpeg", "photo b/10.heic", "photo b/2.JPG", "video c.MOV", "sidecar c.json",
        "raw c.nef", "sidecar c.xmp",
    ]  # fmt: skip
    assert skipped == []


def test_facts_of_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jpg", jpeg())
    file = next(walk(bytes(tmp_path), on_skip=lambda _: None))
    status = (tmp_path / "a.jpg").stat()
    assert (file.path, file.root, file.size) == (path, bytes(tmp_path), status.st_size)
    assert (file.mtime_ns, file.inode, file.device) == (
        status.st_mtime_ns, status.st_ino, status.st_dev,
    )  # fmt: skip


def test_hidden_and_junk_are_left_out_in_silence(tmp_path: Path) -> None:
    touch(tmp_path, ".hidden.jpg", "._a.jpg", ".thumbnails/a.jpg", "@eaDir/a.jpg", "Thumbs.db")
    touch(tmp_path, "$RECYCLE.BIN/a.jpg", "__MACOSX/a.jpg", "ok.jpg", "notes.pdf", "noise.bin")
    assert found(tmp_path) == (["photo ok.jpg"], [])


def test_content_decides_where_the_extension_says_nothing(tmp_path: Path) -> None:
    touch(tmp_path, "IMG_1", "IMG_2.unknown", "IMG_3.jpg_original", data=jpeg())
    touch(tmp_path, "README", "x.unknown", "empty", data=b"")
    assert found(tmp_path)[0] == ["photo IMG_1", "photo IMG_2.unknown", "photo IMG_3.jpg_original"]


def test_pictures_that_are_not_read_are_reported(tmp_path: Path) -> None:
    touch(tmp_path, "a.psd", "b.svg", "c.jxl")
    files, skipped = found(tmp_path)
    assert files == []
    assert [(entry.reason, entry.path.rpartition(b"/")[2]) for entry in skipped] == [
        ("unsupported", b"a.psd"), ("unsupported", b"b.svg"), ("unsupported", b"c.jxl"),
    ]  # fmt: skip
    assert "a.psd: PSD" in skipped[0].message


def test_links(tmp_path: Path) -> None:
    touch(tmp_path, "a/1.jpg", "other/2.jpg")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "a/self").symlink_to(tmp_path / "a")
    (tmp_path / "b.jpg").symlink_to(tmp_path / "a/1.jpg")
    (tmp_path / "gone.jpg").symlink_to(tmp_path / "nowhere")
    (tmp_path / "round.jpg").symlink_to(tmp_path / "round.jpg")
    (tmp_path / "z").symlink_to(tmp_path / "other")
    files, skipped = found(tmp_path)
    assert files == ["photo a/1.jpg", "photo b.jpg", "photo other/2.jpg"]
    assert [entry.path.rpartition(b"/")[2] for entry in skipped] == [b"gone.jpg", b"round.jpg"]
    assert "a link that leads nowhere" in skipped[0].message


def test_what_is_no_regular_file_is_reported_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    os.mkfifo(tmp_path / "pipe")
    files, skipped = found(tmp_path)
    assert files == []
    assert [entry.reason for entry in skipped] == ["unreadable"]


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may read everything, so root becomes somebody else for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_what_cannot_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(tmp_path / "absent")[1][0].reason == "unreadable"
    touch(tmp_path, "locked/1.jpg", "open.jpg", "secret.jpg", data=jpeg())
    tmp_path.chmod(0o755)
    (tmp_path / "locked").chmod(0)
    (tmp_path / "secret.jpg").chmod(0)
    monkeypatch.chdir(tmp_path)  # the folders above belong to root alone
    skipped: list[Skipped] = []
    try:
        with without_privileges():
            files = [file.path for file in walk(b".", on_skip=skipped.append)]
            with pytest.raises(UnreadablePhoto, match=r"secret\.jpg.*Permission denied"):
                read_metadata(b"./secret.jpg")
            with pytest.raises(UnreadablePhoto, match="Permission denied"):
                digest_file(b"./secret.jpg")
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert files == [b"./open.jpg", b"./secret.jpg"]
    assert [(entry.path, entry.reason) for entry in skipped] == [(b"./locked", "unreadable")]
    assert "Permission denied" in skipped[0].message


def test_very_deep_folders_end(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(140):
        deep = deep / "d"
    deep.mkdir(parents=True)
    write(deep / "a.jpg", jpeg())
    files, skipped = found(tmp_path)
    assert files == []
    assert "nested deeper" in skipped[0].message


def test_ignore_files(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg", "b.png", "private/c.jpg", "sub/d.jpg", "sub/e.png", "sub/keep/f.png")
    (tmp_path / ".photocraftignore").write_text("# a comment\n*.png\n/private/\n!b.png\n")
    (tmp_path / "sub/keep").mkdir(exist_ok=True)
    (tmp_path / "sub/keep/.photocraftignore").write_text("!*.png\n")
    assert found(tmp_path)[0] == ["photo a.jpg", "photo b.png", "photo sub/d.jpg",
                                  "photo sub/keep/f.png"]  # fmt: skip


def test_an_ignore_file_of_another_folder_has_no_say(tmp_path: Path) -> None:
    touch(tmp_path, "a/1.jpg", "b/1.jpg")
    (tmp_path / "a/.photocraftignore").write_text("1.jpg\n")
    assert found(tmp_path)[0] == ["photo b/1.jpg"]


def test_a_bad_ignore_file_is_reported(tmp_path: Path) -> None:
    touch(tmp_path, "a.jpg")
    (tmp_path / ".photocraftignore").mkdir()
    files, skipped = found(tmp_path)
    assert files == ["photo a.jpg"]
    assert [entry.reason for entry in skipped] == ["bad-ignore-file"]


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    folder = bytes(tmp_path) + b"/caf\xe9"
    Path(os.fsdecode(folder)).mkdir()
    path = write(Path(os.fsdecode(folder + b"/\xff\xfe.jpg")), jpeg())
    (tmp_path / ".photocraftignore").write_text("nothing\n")
    assert [file.path for file in walk(bytes(tmp_path), on_skip=print)] == [path]
    (tmp_path / ".photocraftignore").write_bytes(b"caf\xe9/\n")
    assert found(tmp_path)[0] == []


def test_digest_is_of_the_bytes(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    assert digest_file(write(tmp_path / "a", data)) == hashlib.sha256(data).hexdigest()
    assert digest_file(write(tmp_path / "b", b"")) == hashlib.sha256(b"").hexdigest()
    with pytest.raises(UnreadablePhoto, match="absent"):
        digest_file(bytes(tmp_path / "absent"))
    with pytest.raises(UnreadablePhoto, match="not a regular file"):
        digest_file(bytes(tmp_path))


@pytest.mark.parametrize(
    ("photo", "names", "sidecar"),
    [
        (b"a.jpg", {b"a.jpg.xmp", b"a.xmp", b"a.jpg.json"}, b"a.jpg.xmp"),
        (b"a.jpg", {b"a.xmp", b"a.jpg.json"}, b"a.xmp"),
        (b"a.jpg", {b"a.XMP"}, b"a.XMP"),
        (b"a.jpg", {b"a.jpg.json"}, b"a.jpg.json"),
        (b"a.jpg", {b"a.jpg.supplemental-metadata.json"}, b"a.jpg.supplemental-metadata.json"),
        (b"x" * 60 + b".jpg", {b"x" * 46 + b".json"}, b"x" * 46 + b".json"),
        (b"a.jpg", {b"a.jpg.suppl.json"}, b"a.jpg.suppl.json"),
        (b"x" * 41 + b".jpg", {b"x" * 41 + b".jpg..json"}, b"x" * 41 + b".jpg..json"),
        (b"a(1).jpg", {b"a.jpg.json", b"a.jpg(1).json"}, b"a.jpg(1).json"),
        (b"a(1).jpg", {b"a(1).jpg.json", b"a.jpg(1).json"}, b"a(1).jpg.json"),
        (
            b"a(12).jpg",
            {b"a.jpg.supplemental-metadata(12).json"},
            b"a.jpg.supplemental-metadata(12).json",
        ),
        (b"a(1)", {b"a(1).json"}, b"a(1).json"),
        (b"a(1).jpg", {b"a.jpg.json"}, None),
        (b"a-edited.jpg", {b"a.jpg.json"}, b"a.jpg.json"),
        (b"a-bearbeitet(2).jpg", {b"a.jpg.json"}, None),
        (b"a.jpg", {b"a.jpg", b"b.xmp", b"a.json"}, None),
    ],
)
def test_names_of_sidecars(photo: bytes, names: set[bytes], sidecar: bytes | None) -> None:
    assert sidecar_of(photo, names) == sidecar


def test_real_folder(shared: Path, tmp_path: Path) -> None:
    files, skipped = found(shared / "data/odd")
    assert len(files) == 41
    assert skipped == []
    gradient().save(tmp_path / "x.png")
    assert found(tmp_path)[0] == ["photo x.png"]

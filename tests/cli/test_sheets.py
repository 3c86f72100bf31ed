"""Contact sheets of results: how many photos go on one."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from PIL import Image

from photocraft_local.cli.sheets import MAX_PHOTOS, write_sheet
from photocraft_local.errors import StorageFull
from photocraft_local.records import Photo


def offline(number: int) -> Photo:
    path = f"/gone/{number}.jpg".encode()
    return Photo(number, f"p{number:05}", "", (path,), 640, 480, "JPEG", offline=True)


def test_of_more_photos_than_a_sheet_holds_the_first_are_drawn(tmp_path: Path) -> None:
    few, many = [offline(number) for number in range(MAX_PHOTOS)], tmp_path / "many.png"
    write_sheet(tmp_path / "few.png", few, title="all")
    write_sheet(many, [offline(number) for number in range(5_000)], title="all")
    with Image.open(tmp_path / "few.png") as one, Image.open(many) as other:
        assert one.size == other.size
        assert one.tobytes() != other.tobytes()  # the title says that some are left out


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_drive_is_no_wrong_option(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> int:
        raise OSError(number, "no room")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StorageFull):
        write_sheet(tmp_path / "sheet.png", [offline(1)])
    assert not list(tmp_path.iterdir())

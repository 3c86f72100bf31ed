"""Sheets and labelled pictures from real photos; nothing that a library holds breaks them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from photocraft_local.errors import UsageError
from photocraft_local.imaging.contact_sheet import (
    MAX_SHEET_PIXELS,
    MAX_SHEET_SIDE,
    contact_sheet,
    labelled,
)

RED = np.full((30, 40, 3), (255, 0, 0), dtype=np.uint8)


def opened(png: bytes) -> NDArray[np.uint8]:
    assert png.startswith(b"\x89PNG")
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def path(file: Path) -> bytes:
    return str(file).encode()


def test_a_sheet_of_real_photos_is_the_same_bytes_each_time(shared: Path) -> None:
    files = sorted((shared / "data" / "exif").glob("*.*"))
    items = [(path(file), f"p{index:05}\n{file.name}") for index, file in enumerate(files)]
    sheet = contact_sheet(items, tile=96, title="Everything, also what is broken")
    assert sheet == contact_sheet(items, tile=96, title="Everything, also what is broken")
    height, width = opened(sheet).shape[:2]
    assert width <= MAX_SHEET_SIDE
    assert height <= MAX_SHEET_SIDE


def test_a_picture_that_cannot_be_read_is_a_placeholder_with_the_reason(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"not a picture")
    pictures: list[bytes | None] = [path(broken), path(tmp_path / "absent.jpg"), None]
    for picture in pictures:
        sheet = opened(contact_sheet([(picture, "p1")], tile=200))
        tile = sheet[8:208, 8:208]
        assert (tile < 140).any(axis=2).sum() > 50  # its words are drawn
    assert contact_sheet([(pictures[0], "p1")]) != contact_sheet([(None, "p1")])


@pytest.mark.parametrize("shape", [(1, 1), (1, 4000), (4000, 1), (3, 500), (600, 600)])
def test_any_aspect_is_letterboxed_in_the_middle_of_its_tile(shape: tuple[int, int]) -> None:
    picture = np.zeros((*shape, 3), dtype=np.uint8)
    tile = opened(contact_sheet([(picture, "")], tile=100))[8:108, 8:108]
    dark = (tile < 10).all(axis=2)
    assert dark.any()
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    assert abs((rows[0] + rows[-1]) / 2 - 49.5) <= 1
    assert abs((columns[0] + columns[-1]) / 2 - 49.5) <= 1


def test_each_tile_shows_its_own_picture_in_reading_order() -> None:
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    items = [(np.full((50, 50, 3), colour, dtype=np.uint8), "x") for colour in colours]
    sheet = opened(contact_sheet(items, columns=2, tile=50))
    starts = [(8, 8), (8, 66)]
    for (y, x), colour in zip(starts, colours, strict=False):
        assert tuple(sheet[y + 25, x + 25]) == colour
    blue = np.argwhere((sheet == (0, 0, 255)).all(axis=2))
    assert blue[:, 0].min() > 58
    assert blue[:, 1].min() == 8


@pytest.mark.parametrize(
    "label",
    ["東京 2021", "שלום עולם", "مرحبا", "a\x00b\u202ec", "\ud83d", "word " * 200, "x" * 999],
)
def test_any_label_is_drawn_below_its_picture(label: str) -> None:
    sheet = opened(contact_sheet([(RED, label)], tile=120, title=label))
    assert (sheet[-60:] < 128).any()


def test_many_pictures_get_smaller_tiles_and_too_many_are_refused() -> None:
    tiny = np.zeros((4, 4, 3), dtype=np.uint8)
    sheet = opened(contact_sheet([(tiny, "p")] * 700, tile=256))
    assert sheet.shape[0] * sheet.shape[1] <= MAX_SHEET_PIXELS
    assert max(sheet.shape[:2]) <= MAX_SHEET_SIDE
    with pytest.raises(UsageError, match="do not fit on one contact sheet"):
        contact_sheet([(tiny, "p")] * 20_000)


@pytest.mark.parametrize(("columns", "tile"), [(0, 100), (-1, 100), (3, 10)])
def test_impossible_layouts_are_refused(columns: int, tile: int) -> None:
    with pytest.raises(UsageError):
        contact_sheet([(RED, "a")], columns=columns, tile=tile)
    with pytest.raises(UsageError, match="at least one"):
        contact_sheet([])


def test_a_label_strip_does_not_move_the_picture() -> None:
    picture = np.random.default_rng(1).integers(0, 256, (90, 160, 3), dtype=np.uint8)
    image = np.asarray(labelled(picture, "p7k3mq\n2021-06-14T10:31:00\nPorto, Portugal"))
    assert (image[:90, :160] == picture).all()
    assert image.shape[0] > 90 + 30
    assert (image[90:] < 128).any()

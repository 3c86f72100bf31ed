"""Files as patch rows: sizes, turned photos, formats, how near a scaled decode comes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from photocraft_local.errors import UnreadablePhoto, UnsupportedFormat
from photocraft_local.files.decode import decode_upright
from photocraft_local.imaging.crop_batch import Crop, crop_patches
from photocraft_local.imaging.geometry import Box, smart_resize
from photocraft_local.imaging.model_values import HALF, ModelValues, PatchLayout
from photocraft_local.imaging.photo_patches import photo_patches, photo_picture
from photocraft_local.imaging.pictures import Pixels

LAYOUT, VALUES = PatchLayout(16), ModelValues(mean=HALF, std=HALF)


def seen(width: int, height: int) -> tuple[int, int]:
    tall, wide = smart_resize(height, width, LAYOUT.factor, 4 * 32**2, 256 * 192)
    return wide, tall


@pytest.fixture(scope="module")
def picture(shared: Path) -> Pixels:
    file = sorted((shared / "data/captioned/coco").glob("*.jpg"))[3]
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB").resize((1600, 1200), Image.Resampling.BICUBIC))


def saved(pixels: Pixels, path: Path, orientation: int = 1) -> bytes:
    image = Image.fromarray(pixels)
    exif = image.getexif()
    exif[0x0112] = orientation
    image.save(path, exif=exif, **({"quality": 95} if path.suffix == ".jpg" else {}))
    return bytes(path)


def whole(
    pixels: Pixels, width: int, height: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    box = Box(0, 0, pixels.shape[1], pixels.shape[0])
    return crop_patches([pixels], [Crop(0, box, width, height)], LAYOUT, VALUES).rows


def psnr(one: np.ndarray, other: np.ndarray) -> float:  # type: ignore[type-arg]
    return 10 * float(np.log10(4 / np.mean((one - other) ** 2)))


@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_a_photo_is_seen_upright_at_its_size(
    picture: Pixels, tmp_path: Path, orientation: int
) -> None:
    path = saved(picture, tmp_path / "p.jpg", orientation)
    made, _ = photo_patches(path, LAYOUT, VALUES, seen)
    upright = decode_upright(path)
    width, height = seen(upright.width, upright.height)
    assert made.grids.tolist() == [[1, height // 16, width // 16]]
    assert (width > height) is (orientation != 6)
    assert psnr(made.rows, whole(upright.pixels, width, height)) >= 45


def test_what_a_decoder_cannot_scale_is_resized_from_full_size(
    picture: Pixels, tmp_path: Path
) -> None:
    path = saved(picture, tmp_path / "p.png")
    made, _ = photo_patches(path, LAYOUT, VALUES, seen)
    assert np.array_equal(made.rows, whole(picture, *seen(1600, 1200)))


def test_a_small_photo_is_enlarged(picture: Pixels, tmp_path: Path) -> None:
    small = np.ascontiguousarray(picture[:20, :30])
    for name in ("p.jpg", "p.png"):
        path = saved(small, tmp_path / name)
        made, _ = photo_patches(path, LAYOUT, VALUES, seen)
        assert np.array_equal(made.rows, whole(decode_upright(path).pixels, 96, 64))


@pytest.mark.parametrize("short_side", [60, 150, 320, 640, 900, 2000])
def test_an_inexact_picture_is_nearly_twice_as_large_or_whole(
    picture: Pixels, tmp_path: Path, short_side: int
) -> None:
    path = saved(picture, tmp_path / "p.jpg")
    found = decode_upright(path, short_side=short_side, exact=False)
    assert (found.width, found.height) == (1600, 1200)
    height = found.pixels.shape[0]
    assert height == 1200 or 1.9 * short_side <= height <= 600


def test_one_thread_may_see_many_photos(picture: Pixels, tmp_path: Path) -> None:
    """The decoder's memory is used again, the rows are not."""
    one = saved(picture, tmp_path / "a.jpg")
    other = saved(255 - picture, tmp_path / "b.jpg")
    first, _ = photo_patches(one, LAYOUT, VALUES, seen)
    kept = first.rows.copy()
    photo_patches(other, LAYOUT, VALUES, seen)
    assert np.array_equal(first.rows, kept)


def test_a_file_that_is_no_photo_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.jpg"
    path.write_bytes(b"nothing")
    with pytest.raises(UnsupportedFormat, match=r"p\.jpg"):
        photo_patches(bytes(path), LAYOUT, VALUES, seen)
    with pytest.raises(UnreadablePhoto, match=r"gone\.jpg"):
        photo_patches(bytes(tmp_path / "gone.jpg"), LAYOUT, VALUES, seen)


@pytest.mark.parametrize("orientation", [1, 6])
def test_the_picture_holds_the_pixels_of_the_rows(
    picture: Pixels, tmp_path: Path, orientation: int
) -> None:
    path = saved(picture, tmp_path / "p.jpg", orientation)
    shown, flags = photo_picture(path, seen)
    made, _ = photo_patches(path, LAYOUT, VALUES, seen)
    assert flags == ()
    assert np.array_equal(made.rows, whole(shown, shown.shape[1], shown.shape[0]))


def test_a_doubt_of_the_decoder_is_passed_on(picture: Pixels, tmp_path: Path) -> None:
    data = Path(saved(picture, tmp_path / "p.jpg").decode()).read_bytes()
    (tmp_path / "p.jpg").write_bytes(data[: len(data) // 2])
    assert photo_patches(bytes(tmp_path / "p.jpg"), LAYOUT, VALUES, seen)[1] == ("truncated",)

"""A box out of a file is the same as the box out of the full decode."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from photocraft_local.errors import PictureTooLarge, UnreadablePhoto, UsageError
from photocraft_local.files import decode_region as region
from photocraft_local.files import scaled_jpeg
from photocraft_local.files.decode import decode_upright
from photocraft_local.files.decode_region import decode_region


@pytest.fixture(scope="module")
def photo(shared: Path) -> Image.Image:
    file = sorted((shared / "data/captioned/coco").glob("*.jpg"))[5]
    return Image.open(file).convert("RGB").resize((491, 613))


def saved(photo: Image.Image, path: Path, orientation: int = 1, **options: object) -> bytes:
    exif = photo.getexif()
    exif[0x0112] = orientation
    photo.save(path, exif=exif, **options)
    return bytes(path)


def boxes(width: int, height: int, count: int, seed: int) -> list[tuple[int, int, int, int]]:
    dice = random.Random(seed)
    found = [(0, 0, width, height), (0, 0, 1, 1), (width - 1, height - 1, width, height)]
    for _ in range(count):
        left, top = dice.randrange(width), dice.randrange(height)
        right, bottom = dice.randint(left + 1, width), dice.randint(top + 1, height)
        found.append((left, top, right, bottom))
    return found


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:0"])
def test_a_region_is_cut_from_the_full_decode(
    photo: Image.Image, tmp_path: Path, orientation: int, subsampling: str
) -> None:
    path = saved(photo, tmp_path / "p.jpg", orientation, quality=90, subsampling=subsampling)
    whole = decode_upright(path).pixels
    for left, top, right, bottom in boxes(whole.shape[1], whole.shape[0], 12, orientation):
        made = decode_region(path, (left, top, right, bottom))
        assert np.array_equal(made, whole[top:bottom, left:right])
        assert made.flags.c_contiguous
        assert made.flags.writeable


@pytest.mark.parametrize(
    "options",
    [
        {"progressive": True},
        {"restart_marker_rows": 1},
        {"quality": 30, "optimize": True},
        {"icc_profile": ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()},
    ],
)
def test_kinds_of_jpegs(photo: Image.Image, tmp_path: Path, options: dict[str, object]) -> None:
    path = saved(photo, tmp_path / "p.jpg", **options)
    whole = decode_upright(path).pixels
    for left, top, right, bottom in boxes(491, 613, 8, 1):
        made = decode_region(path, (left, top, right, bottom))
        assert np.array_equal(made, whole[top:bottom, left:right])


@pytest.mark.parametrize("name", ["p.png", "p.webp", "grey.jpg", "cmyk.jpg"])
def test_other_files_are_decoded_whole(photo: Image.Image, tmp_path: Path, name: str) -> None:
    mode = {"grey.jpg": "L", "cmyk.jpg": "CMYK"}.get(name, "RGB")
    photo.convert(mode).save(tmp_path / name)
    path = bytes(tmp_path / name)
    whole = decode_upright(path).pixels
    assert np.array_equal(decode_region(path, (30, 40, 90, 80)), whole[40:80, 30:90])


@pytest.mark.parametrize("native", [True, False])
def test_what_lies_around_the_box_or_below_it_is_not_decoded(
    photo: Image.Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: bool
) -> None:
    if native and not scaled_jpeg.chosen().native:
        pytest.skip(f"NO C DECODER: {scaled_jpeg.chosen().reason}")
    monkeypatch.setattr(scaled_jpeg, "chosen", lambda: scaled_jpeg.Path(native, ""))
    path = saved(photo, tmp_path / "p.jpg")
    shapes = []
    real = region.simplejpeg.decode_jpeg

    def watched(data: memoryview, *words: object, **more: object) -> object:
        pixels = real(data, *words, **more)
        shapes.append(pixels.shape)
        return pixels

    monkeypatch.setattr(region.simplejpeg, "decode_jpeg", watched)
    decode_region(path, (0, 10, 50, 100))
    assert shapes == [(128, 80, 3) if native else (164, 491, 3)]


def test_a_file_that_is_cut_short_gives_the_box_that_is_there(
    photo: Image.Image, tmp_path: Path
) -> None:
    buffer = io.BytesIO()
    photo.save(buffer, "JPEG")
    path = tmp_path / "p.jpg"
    path.write_bytes(buffer.getvalue()[: len(buffer.getvalue()) * 2 // 3])
    whole = decode_upright(bytes(path)).pixels
    assert np.array_equal(decode_region(bytes(path), (5, 6, 80, 90)), whole[6:90, 5:80])


@pytest.mark.parametrize(
    "corners", [(0, 0, 492, 5), (0, 0, 0, 5), (-1, 0, 4, 5), (0, 9, 4, 9), (0, 0, 4, 614)]
)
@pytest.mark.parametrize("name", ["p.jpg", "p.png"])
def test_a_box_outside_is_refused(
    photo: Image.Image, tmp_path: Path, corners: tuple[int, int, int, int], name: str
) -> None:
    path = saved(photo, tmp_path / name)
    with pytest.raises(UsageError, match="does not lie inside the picture, which is 491 pixels"):
        decode_region(path, corners)


def test_limits_and_missing_files_are_those_of_the_decoder(
    photo: Image.Image, tmp_path: Path
) -> None:
    path = saved(photo, tmp_path / "p.jpg")
    with pytest.raises(PictureTooLarge):
        decode_region(path, (0, 0, 4, 4), max_pixels=1000)
    with pytest.raises(UnreadablePhoto):
        decode_region(bytes(tmp_path / "gone.jpg"), (0, 0, 4, 4))

"""A part of a JPEG file as a file of its own: libjpeg-turbo makes of it, byte for byte, what it
makes of the whole; what the extension does not take is decoded as without it."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import simplejpeg
from numpy.typing import NDArray
from test_scaled_jpeg import (
    SAMPLINGS,
    SIZES,
    encoded,
    needs_native,
    picture,
    saved,
    with_native,
    without_native,
)

from photocraft_local.errors import PhotocraftError
from photocraft_local.files import scaled_jpeg
from photocraft_local.files.cut_jpeg import Part, cut_jpeg
from photocraft_local.files.decode_region import decode_region

Corners = tuple[int, int, int, int]


def boxes(width: int, height: int, count: int) -> list[Corners]:
    dice = random.Random(width * height)
    found = [(0, 0, width, height), (0, 0, 1, 1), (width - 1, height - 1, width, height)]
    for _ in range(count):
        left, top = dice.randrange(width), dice.randrange(height)
        found.append((left, top, dice.randint(left + 1, width), dice.randint(top + 1, height)))
    return found


def cut(data: bytes, box: Corners) -> Part | None:
    return cut_jpeg(memoryview(bytearray(data)), box)


def decoded(part: Part, box: Corners) -> NDArray[np.uint8]:
    pixels = simplejpeg.decode_jpeg(part.data, "RGB")
    left, top = box[0] - part.left, box[1] - part.top
    return pixels[top : top + box[3] - box[1], left : left + box[2] - box[0]]


def same_in_all_boxes(data: bytes, count: int) -> None:
    whole = simplejpeg.decode_jpeg(data, "RGB")
    height, width = whole.shape[:2]
    for box in boxes(width, height, count):
        part = cut(data, box)
        assert part is not None, box
        left, top, right, bottom = box
        assert np.array_equal(decoded(part, box), whole[top:bottom, left:right]), box


@needs_native
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_sampling_and_odd_size(sampling: str) -> None:
    for width, height in SIZES:
        for quality in (3, 90):
            same_in_all_boxes(encoded(picture(width, height), sampling, quality), 6)


@needs_native
@pytest.mark.parametrize(
    "options",
    [
        {"restart_marker_blocks": 1},
        {"restart_marker_blocks": 7},
        {"restart_marker_rows": 1},
        {"optimize": True},  # its DC tables lack sizes that the part's first blocks may need
        {"quality": 100},
        {"subsampling": "4:2:2"},
    ],
)
def test_restarts_tables_and_noise(options: dict[str, object]) -> None:
    noise = np.random.default_rng(5).integers(0, 256, (131, 203, 3), dtype=np.uint8)
    split = picture(203, 131).copy()
    split[:, :100], split[:, 100:] = 0, 255  # the largest differences of DC
    for pixels in (noise, split, picture(203, 131)):
        same_in_all_boxes(saved(pixels, **options), 25)


@needs_native
def test_a_part_is_no_larger_than_it_has_to_be() -> None:
    part = cut(encoded(picture(320, 240), "420"), (100, 90, 130, 100))
    assert part is not None
    assert simplejpeg.decode_jpeg(part.data, "RGB").shape == (64, 80, 3)
    assert (part.left, part.top) == (80, 64)


@needs_native
def test_what_it_does_not_take_and_what_lies_below_the_box() -> None:
    pixels, box = picture(160, 320), (10, 20, 90, 60)
    good = encoded(pixels, "420")
    scan = good.index(b"\xff\xda")
    for data in (
        saved(pixels, progressive=True), b"", b"\xff\xd8", good[: scan + 40], b"\x00" + good,
        good[: scan + 30] + b"\xff\xd9",
    ):  # fmt: skip
        assert cut(data, box) is None
    for data in (good[: len(good) * 2 // 3], good[:-2], good + b"more"):
        part = cut(data, box)
        assert part is not None
        assert np.array_equal(decoded(part, box), simplejpeg.decode_jpeg(good, "RGB")[20:60, 10:90])
    assert cut(good, (10, 20, 161, 60)) is None, "a box of another picture"
    assert cut(good, (10, 20, 60, 321)) is None


@needs_native
def test_the_door_checks_boxes_and_room() -> None:
    from photocraft_local.files import _native

    good = encoded(picture(64, 48), "420")
    for box in ((-1, 0, 4, 4), (0, 0, 0, 4), (0, 4, 4, 4), (5, 0, 4, 4)):
        with pytest.raises(ValueError, match="no such box"):
            _native.cut(good, bytearray(9000), *box)
    for room in (0, 1, 2, 40):
        found = _native.cut(good, bytearray(room), 0, 0, 64, 48)
        assert found == "no room for the part"
    with pytest.raises((BufferError, TypeError)):
        _native.cut(good, bytes(9000), 0, 0, 4, 4)


def outcome(path: Path, box: Corners) -> object:
    try:
        return decode_region(bytes(path), box).tobytes()
    except PhotocraftError as error:
        return type(error), error.message


@needs_native
def test_mutated_and_cut_files_give_the_same_pixels_as_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = np.random.default_rng(12)
    seeds = [encoded(picture(240, 180), sampling, 80) for sampling in ("420", "444", "422")]
    seeds.append(saved(picture(240, 180), restart_marker_blocks=5))
    seeds.append(saved(picture(240, 180), optimize=True))
    path, taken = tmp_path / "p.jpg", 0
    for number in range(300):
        data = bytearray(seeds[number % len(seeds)])
        if number % 4 == 0:
            data = data[: int(dice.integers(0, len(data)))]
        for _ in range(int(dice.integers(1, 4))):
            reach = len(data) if dice.integers(2) else min(len(data), 640)
            if reach:
                data[int(dice.integers(0, reach))] = int(dice.integers(0, 256))
        path.write_bytes(data)
        left, top = (int(side) for side in dice.integers(0, 120, 2))
        box = (left, top, left + 60, top + 50)
        monkeypatch.setattr(scaled_jpeg, "chosen", with_native)
        taken += cut(bytes(data), box) is not None
        ours = outcome(path, box)
        monkeypatch.setattr(scaled_jpeg, "chosen", without_native)
        assert ours == outcome(path, box), number
    assert taken > 60, "some mutations leave the part whole"

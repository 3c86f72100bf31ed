"""Decoded photos are kept within bounds, decoded once, and anew when the file changes."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from photocraft_local.errors import PictureTooLarge, UnreadablePhoto, UsageError
from photocraft_local.files import scaled_jpeg
from photocraft_local.files.decode import Decoded, decode_upright
from photocraft_local.files.decode_region import UpperRows, decode_part, decode_rows
from photocraft_local.imaging import decoded_cache
from photocraft_local.imaging.decoded_cache import DecodedCache
from photocraft_local.imaging.geometry import Box

ONE = 40 * 30 * 3


def photo(path: Path, colour: int = 0) -> bytes:
    Image.new("RGB", (40, 30), (colour, 90, 160)).save(path)
    return bytes(path)


class Counting:
    def __init__(self, pause: float = 0.0) -> None:
        self.paths: list[bytes] = []
        self._pause, self._lock = pause, threading.Lock()

    def __call__(self, path: bytes, **how: Any) -> Decoded:
        with self._lock:
            self.paths.append(path)
        time.sleep(self._pause)
        return decode_upright(path, **how)


def test_a_photo_is_decoded_once_and_cannot_be_changed(tmp_path: Path) -> None:
    decode = Counting()
    cache = DecodedCache(decode=decode)
    path = photo(tmp_path / "a.png")
    first = cache.get(path)
    assert cache.get(path) is first
    assert decode.paths == [path]
    assert np.array_equal(first.pixels, decode_upright(path).pixels)
    with pytest.raises(ValueError, match="read-only"):
        first.pixels[0, 0] = 0


def test_a_changed_file_is_decoded_anew(tmp_path: Path) -> None:
    cache = DecodedCache()
    path = photo(tmp_path / "a.png", 10)
    before = cache.get(path)
    photo(tmp_path / "a.png", 200)
    os.utime(path, ns=(1, 1))
    assert cache.get(path).pixels[0, 0, 0] == 200
    assert before.pixels[0, 0, 0] == 10


def test_the_longest_unused_goes_first(tmp_path: Path) -> None:
    decode = Counting()
    cache = DecodedCache(2 * ONE, decode)
    a, b, c = (photo(tmp_path / f"{name}.png") for name in "abc")
    for path in (a, b, a, c):
        cache.get(path)
        assert cache.num_bytes <= 2 * ONE
    cache.get(a)
    assert decode.paths == [a, b, c]
    cache.get(b)
    assert decode.paths == [a, b, c, b]


def test_a_photo_that_is_larger_than_the_bound_is_given_and_not_kept(tmp_path: Path) -> None:
    cache = DecodedCache(ONE - 1)
    assert cache.get(photo(tmp_path / "a.png")).width == 40
    assert cache.num_bytes == 0


def test_many_threads_decode_one_photo_once(tmp_path: Path) -> None:
    decode = Counting(pause=0.05)
    cache = DecodedCache(decode=decode)
    paths = [photo(tmp_path / f"{name}.png") for name in "ab"] * 8
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(cache.get, paths))
    assert sorted(decode.paths) == sorted(set(paths))
    assert len({id(each) for each in found}) == 2
    assert cache.num_bytes == 2 * ONE


def test_a_failure_is_told_and_not_kept(tmp_path: Path) -> None:
    cache = DecodedCache()
    with pytest.raises(UnreadablePhoto, match=r"a\.png"):
        cache.get(bytes(tmp_path / "a.png"))
    assert cache.get(photo(tmp_path / "a.png")).width == 40


def test_each_size_of_a_photo_is_kept_by_itself(tmp_path: Path) -> None:
    decode = Counting()
    cache = DecodedCache(decode=decode)
    path = photo(tmp_path / "a.png")
    assert cache.get(path, short_side=15).pixels.shape == (15, 20, 3)
    assert cache.get(path, short_side=10).pixels.shape == (10, 13, 3)
    assert cache.get(path, short_side=15).pixels.shape == (15, 20, 3)
    assert len(decode.paths) == 2
    cache.clear()
    assert cache.num_bytes == 0


@pytest.fixture
def tall(tmp_path: Path) -> bytes:
    """A JPEG of 300 x 800 pixels, each of its own colour, turned by EXIF: upright 800 x 300."""
    dice = np.random.default_rng(3)
    image = Image.fromarray(dice.integers(0, 256, (800, 300, 3), dtype=np.uint8))
    exif = image.getexif()
    exif[0x0112] = 8
    image.save(tmp_path / "tall.jpg", exif=exif)
    return bytes(tmp_path / "tall.jpg")


@pytest.fixture
def rows_decoded(monkeypatch: pytest.MonkeyPatch) -> list[UpperRows | None]:
    made = []

    def watched(*words: Any, **more: Any) -> UpperRows | None:
        made.append(decode_rows(*words, **more))
        return made[-1]

    monkeypatch.setattr(decoded_cache, "decode_rows", watched)
    return made


def test_the_rows_above_a_crop_serve_the_next_ones(
    tall: bytes, rows_decoded: list[UpperRows | None]
) -> None:
    decode = Counting()
    cache = DecodedCache(decode=decode)
    whole = decode_upright(tall).pixels
    assert whole.shape == (300, 800, 3)
    for box in (Box(0, 0, 200, 300), Box(150, 20, 50, 60), Box(10, 290, 1, 1)):
        left, top, right, bottom = box.corners()
        made = cache.region(tall, box)
        assert np.array_equal(made, whole[top:bottom, left:right])
        assert made.flags.writeable
    assert len(rows_decoded) == 1
    assert rows_decoded[0] is not None
    assert len(rows_decoded[0].pixels) == 200
    assert decode.paths == []
    lower = cache.region(tall, Box(500, 10, 40, 50))  # further down than the rows that are kept
    assert np.array_equal(lower, whole[10:60, 500:540])
    cache.region(tall, Box(700, 10, 40, 50))
    assert decode.paths == [tall]
    assert cache.num_bytes == whole.nbytes  # the rows have gone


def test_a_photo_that_is_kept_whole_gives_its_crops(
    tall: bytes, rows_decoded: list[UpperRows | None]
) -> None:
    cache = DecodedCache()
    whole = cache.get(tall).pixels
    crop = cache.region(tall, Box(1, 2, 30, 40))
    assert np.array_equal(crop, whole[2:42, 1:31])
    crop[:] = 0
    assert np.array_equal(whole, decode_upright(tall).pixels)
    assert rows_decoded == []


def test_a_box_outside_is_refused_and_keeps_nothing(tall: bytes, tmp_path: Path) -> None:
    cache = DecodedCache()
    for box in (Box(0, 0, 801, 1), Box(799, 299, 2, 1), Box(0, 0, 0, 1), Box(-1, 0, 5, 5)):
        with pytest.raises(UsageError, match="800 pixels wide and 300 pixels high"):
            cache.region(tall, box)
    with pytest.raises(PictureTooLarge):
        cache.region(tall, Box(0, 0, 4, 4), max_pixels=1000)
    with pytest.raises(UnreadablePhoto):
        cache.region(bytes(tmp_path / "gone.jpg"), Box(0, 0, 4, 4))
    assert cache.num_bytes == 0


def test_many_threads_cut_from_one_photo(tall: bytes) -> None:
    cache = DecodedCache(400 * 300 * 3)  # less than the whole takes
    whole = decode_upright(tall).pixels
    boxes = [Box(x, 5, 40, 50) for x in range(0, 760, 20)]
    with ThreadPoolExecutor(8) as pool:
        for box, made in zip(boxes, pool.map(lambda b: cache.region(tall, b), boxes), strict=True):
            assert np.array_equal(made, whole[5:55, box.x : box.right])
    assert cache.num_bytes <= 400 * 300 * 3


@pytest.fixture
def parts_decoded(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each look whether its box was decoded alone; every photo counts as a large one."""
    if not scaled_jpeg.chosen().native:
        pytest.skip(f"NO C DECODER: {scaled_jpeg.chosen().reason}")
    made = []

    def watched(*words: Any, **more: Any) -> Any:
        part = decode_part(*words, **more)
        made.append(part is not None)
        return part

    monkeypatch.setattr(decoded_cache, "decode_part", watched)
    monkeypatch.setattr(decoded_cache, "_LARGE", 1)
    return made


def settle(cache: DecodedCache) -> None:
    """Its own thread has done what it had to do."""
    cache._ahead.submit(lambda: None).result()


def test_a_first_crop_is_decoded_alone_and_the_next_ones_are_kept(
    tall: bytes, rows_decoded: list[UpperRows | None], parts_decoded: list[bool]
) -> None:
    decode = Counting()
    cache = DecodedCache(decode=decode)
    whole = decode_upright(tall).pixels
    for box in (Box(20, 30, 180, 90), Box(10, 20, 50, 60), Box(10, 290, 1, 1)):
        left, top, right, bottom = box.corners()
        made = cache.region(tall, box)
        assert np.array_equal(made, whole[top:bottom, left:right])
        assert made.flags.writeable
        settle(cache)
    assert parts_decoded == [True]
    assert len(rows_decoded) == 1
    assert decode.paths == []
    lower = cache.region(tall, Box(500, 10, 40, 50))
    assert np.array_equal(lower, whole[10:60, 500:540])
    assert decode.paths == [tall]


def test_a_first_crop_at_the_end_of_a_photo_brings_the_whole(
    tall: bytes, parts_decoded: list[bool]
) -> None:
    decode = Counting()
    cache = DecodedCache(decode=decode)
    whole = decode_upright(tall).pixels
    for x in (700, 5, 400):
        assert np.array_equal(cache.region(tall, Box(x, 5, 90, 50)), whole[5:55, x : x + 90])
        settle(cache)
    assert parts_decoded == [True]
    assert decode.paths == [tall]


@pytest.mark.parametrize(("most", "tried"), [(0, 0), (1000, 1)])
def test_nothing_is_decoded_ahead_that_cannot_be_kept(
    tall: bytes,
    rows_decoded: list[UpperRows | None],
    parts_decoded: list[bool],
    most: int,
    tried: int,
) -> None:
    cache = DecodedCache(most)
    for _ in range(3):
        cache.region(tall, Box(10, 20, 50, 60))
        settle(cache)
    assert parts_decoded == [True] * 3
    assert len(rows_decoded) == tried
    assert cache.num_bytes == 0


def test_what_goes_wrong_ahead_is_told_to_whoever_asks_next(
    tall: bytes, parts_decoded: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise UnreadablePhoto("the drive is gone", hint="")

    cache = DecodedCache()
    monkeypatch.setattr(decoded_cache, "decode_rows", fails)
    cache.region(tall, Box(10, 20, 50, 60))
    settle(cache)
    assert cache.num_bytes == 0
    Path(os.fsdecode(tall)).unlink()
    with pytest.raises(UnreadablePhoto, match=r"tall\.jpg"):
        cache.region(tall, Box(10, 20, 50, 60))

"""Decoded photos are kept within bounds, decoded once, and anew when the file changes."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from photocraft_local.errors import UnreadablePhoto
from photocraft_local.files.decode import Decoded, decode_upright
from photocraft_local.imaging.decoded_cache import DecodedCache

ONE = 40 * 30 * 3


def photo(path: Path, colour: int = 0) -> bytes:
    Image.new("RGB", (40, 30), (colour, 90, 160)).save(path)
    return bytes(path)


class Counting:
    def __init__(self, pause: float = 0.0) -> None:
        self.paths: list[bytes] = []
        self._pause, self._lock = pause, threading.Lock()

    def __call__(self, path: bytes) -> Decoded:
        with self._lock:
            self.paths.append(path)
        time.sleep(self._pause)
        return decode_upright(path)


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

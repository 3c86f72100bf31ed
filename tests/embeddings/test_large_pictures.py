"""Pictures of which very many pixels are decoded go one at a time; others side by side."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from photocraft_local.embeddings import decoding
from photocraft_local.embeddings.decoding import Decoder, Ready
from photocraft_local.embeddings.encoder import Vectors
from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.records import Photo

SIDE = 32  # what the encoder wants; at 1/8 a picture of 1,024 px has four times that


class Preparing(NullEncoder):
    """Resizes itself, so that its JPEGs come at a scale that divides them, or whole."""

    def __init__(self, wait: threading.Barrier | None = None) -> None:
        self._wait, self._lock = wait, threading.Lock()
        self.at_once = self.most = 0

    @property
    def spec(self) -> Any:
        return SimpleNamespace(decode_side=SIDE)

    def prepare(self, path: bytes, *, max_pixels: int) -> tuple[Any, tuple[str, ...]]:
        with self._lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        if self._wait:
            self._wait.wait(20)  # passes only where two are here
        else:
            time.sleep(0.005)  # others have the time to come in, where they may
        with self._lock:
            self.at_once -= 1
        return np.zeros((1, 1, 3), np.uint8), ()

    def encode_prepared(self, items: Sequence[Any]) -> Vectors:
        raise AssertionError("nothing is encoded here")


@pytest.fixture(autouse=True)
def a_small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "_LARGE_PIXELS", 400_000)


def photo(folder: Path, name: str, width: int, height: int, **how: Any) -> Photo:
    path = folder / name
    Image.new("RGB", (width, height), (9, 90, 9)).save(path, **how)
    kind = "JPEG" if name.endswith("jpg") else "PNG"
    facts = {"paths": (os.fsencode(path),), "format": kind, "width": width, "height": height}
    return SimpleNamespace(**facts)  # type: ignore[return-value]


def decoded(encoder: NullEncoder, photos: Sequence[Photo], threads: int = 4) -> None:
    decoder = Decoder(encoder, 10**9)
    with ThreadPoolExecutor(threads) as pool:
        assert all(isinstance(one, Ready) for one in pool.map(decoder.decode, photos))


@pytest.mark.parametrize(
    ("name", "width", "how"),
    [
        ("odd.jpg", 1001, {}),  # no scale divides it: it is decoded whole
        ("progressive.jpg", 1024, {"progressive": True}),  # all coefficients are held
        ("picture.png", 1024, {}),
    ],
)
def test_what_is_decoded_whole_goes_one_at_a_time(
    tmp_path: Path, name: str, width: int, how: dict[str, Any]
) -> None:
    encoder = Preparing()
    decoded(encoder, [photo(tmp_path, name, width, 1024, **how)] * 12)
    assert encoder.most == 1


@pytest.mark.parametrize(("width", "height"), [(1024, 1024), (600, 600)])
def test_what_is_decoded_at_a_fraction_and_what_is_small_go_side_by_side(
    tmp_path: Path, width: int, height: int
) -> None:
    encoder = Preparing(threading.Barrier(2))
    decoded(encoder, [photo(tmp_path, "even.jpg", width, height)] * 4, threads=2)


def test_an_odd_picture_for_an_encoder_that_takes_pixels_is_decoded_at_a_fraction(
    tmp_path: Path,
) -> None:
    decoder = Decoder(NullEncoder(), 10**9)
    assert not decoder._is_large(photo(tmp_path, "odd.jpg", 1001, 1001))
    cmyk = photo(tmp_path, "odd.jpg", 1001, 1001)
    Image.new("CMYK", (1001, 1001)).save(os.fsdecode(cmyk.paths[0]))
    assert decoder._is_large(cmyk)
    Path(os.fsdecode(cmyk.paths[0])).unlink()
    assert decoder._is_large(cmyk)  # nobody knows

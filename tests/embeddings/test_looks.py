"""Colours, light and flat areas are measured from the pixels."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from photocraft_local.embeddings.labels.looks import PHRASES, measure


def looks(pixels: np.ndarray) -> dict[str, float]:
    return dict(zip(PHRASES, map(float, measure(pixels)), strict=True))


def noisy(colour: tuple[int, int, int], *, side: int = 96) -> np.ndarray:
    noise = np.random.default_rng(3).normal(0, 6, (side, side, 3))
    return np.clip(np.array(colour) + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    ("name", "colour"),
    [
        ("red", (200, 30, 30)),
        ("orange", (240, 140, 20)),
        ("brown", (110, 70, 40)),
        ("yellow", (230, 215, 40)),
        ("green", (50, 150, 50)),
        ("blue", (40, 80, 200)),
        ("purple", (130, 50, 200)),
        ("pink", (230, 40, 160)),
        ("white", (245, 245, 245)),
        ("black", (12, 12, 12)),
        ("grey", (130, 130, 130)),
    ],
)
def test_a_plain_colour_is_called_by_its_name(name: str, colour: tuple[int, int, int]) -> None:
    found = looks(noisy(colour))
    colours = [look for look in found if PHRASES[look] == f"something {look}"]
    assert max(colours, key=lambda look: found[look]) == name
    assert found[name] > 0.8


def test_a_dark_picture_is_night_and_a_light_one_is_not() -> None:
    assert looks(noisy((10, 10, 14)))["night"] > 1
    assert looks(noisy((200, 190, 180)))["night"] == 0


def test_a_picture_without_colour_is_monochrome() -> None:
    grey = np.repeat(np.random.default_rng(1).integers(0, 256, (90, 120, 1)), 3, axis=2)
    assert looks(grey.astype(np.uint8))["monochrome"] == pytest.approx(1.5)
    assert looks(noisy((40, 80, 200)))["monochrome"] == 0


def test_blue_above_green_is_sky_above_a_lawn() -> None:
    picture = np.concatenate([noisy((90, 140, 220)), noisy((60, 150, 50))])
    found = looks(picture)
    assert found["sky"] > 1
    assert found["lawn"] > 1
    assert looks(picture[::-1])["sky"] == 0


def test_a_screen_with_text_is_flat_and_noise_is_not() -> None:
    screen = Image.new("RGB", (320, 320), (250, 250, 250))
    pen = ImageDraw.Draw(screen)
    for row in range(10, 300, 14):
        pen.text((10, row), "settings  wifi  battery 80 %", fill=(20, 20, 20))
    assert looks(np.asarray(screen))["flat"] > 1
    assert looks(noisy((128, 120, 100)))["flat"] == 0


def test_the_smallest_pictures_have_looks_too() -> None:
    for shape in ((2, 2, 3), (1, 9, 3), (64, 640, 3)):
        assert np.isfinite(measure(np.zeros(shape, np.uint8))).all()

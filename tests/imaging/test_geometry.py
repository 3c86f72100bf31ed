"""Boxes are refused, never clamped; sizes obey the model's limits for any picture."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from photocraft_local.errors import UsageError
from photocraft_local.imaging.geometry import (
    MAX_ASPECT,
    MAX_SIDE,
    MIN_SIDE,
    Box,
    fit_for_model,
    fit_inside,
    letterboxed,
    smart_resize,
)

sides = st.integers(1, 30_000)


def test_a_box_that_touches_all_borders_is_inside() -> None:
    Box(0, 0, 40, 30).check(40, 30)


@pytest.mark.parametrize(
    "box",
    [
        Box(1, 0, 40, 30),
        Box(0, 1, 40, 30),
        Box(-1, 0, 10, 10),
        Box(0, -1, 10, 10),
        Box(0, 0, 0, 10),
        Box(0, 0, 10, 0),
        Box(40, 0, 1, 1),
        Box(0, 30, 1, 1),
        Box(5, 5, -2, 3),
    ],
)
def test_a_box_outside_is_refused_with_the_real_size_and_the_request(box: Box) -> None:
    with pytest.raises(UsageError) as caught:
        box.check(40, 30)
    assert "40 pixels wide" in caught.value.message
    assert "30 pixels high" in caught.value.message
    assert f"x={box.x} y={box.y} width={box.width} height={box.height}" in caught.value.message
    assert "at most 40" in caught.value.hint


@pytest.mark.parametrize(
    ("height", "width", "expected"),
    [
        # Worked by hand from the published rule, factor 28, 4 … 16384 visual tokens.
        (1080, 1920, (1092, 1932)),
        (480, 640, (476, 644)),
        (20, 20, (56, 56)),
        (10_000, 10_000, (3556, 3556)),
    ],
)
def test_smart_resize_follows_the_published_rule(
    height: int, width: int, expected: tuple[int, int]
) -> None:
    assert smart_resize(height, width, 28, 56 * 56, 16384 * 28 * 28) == expected


@given(sides, sides, st.sampled_from([28, 32]), st.integers(1, 64), st.integers(256, 20_000))
@settings(max_examples=300, deadline=None)
def test_smart_resize_never_gives_a_side_of_0_and_keeps_the_area_within_limits(
    height: int, width: int, factor: int, least: int, most: int
) -> None:
    low, high = least * factor**2, most * factor**2
    new_height, new_width = smart_resize(height, width, factor, low, high)
    assert new_height >= factor
    assert new_width >= factor
    assert new_height % factor == new_width % factor == 0
    assert new_height * new_width >= low
    thin = min(new_height, new_width) == factor  # a side of one patch cannot shrink any more
    assert new_height * new_width <= high or thin


def test_smart_resize_takes_a_panorama_longer_than_200_to_1_as_letterboxed() -> None:
    assert smart_resize(2, 4000, 28, 3136, 10**7) == smart_resize(20, 4000, 28, 3136, 10**7)


def test_smart_resize_refuses_limits_that_contradict_each_other() -> None:
    with pytest.raises(ValueError, match="bad limits"):
        smart_resize(10, 10, 28, 4000, 3000)


@given(sides, sides)
@settings(max_examples=300, deadline=None)
def test_what_a_model_sees_has_sides_in_range_and_keeps_the_aspect(width: int, height: int) -> None:
    fit = fit_for_model(width, height)
    for side in (fit.canvas_width, fit.canvas_height):
        assert MIN_SIDE <= side <= MAX_SIDE
    long_side = max(fit.canvas_width, fit.canvas_height)
    short_side = min(fit.canvas_width, fit.canvas_height)
    assert long_side <= MAX_ASPECT * short_side
    assert fit.width <= fit.canvas_width
    assert fit.height <= fit.canvas_height
    scale = fit.width / width if width > height else fit.height / height
    assert abs(fit.width - width * scale) <= 1
    assert abs(fit.height - height * scale) <= 1


def test_a_small_crop_is_enlarged_and_a_large_one_reduced() -> None:
    small = fit_for_model(40, 30)
    assert (small.width, small.height) == (448, 336)
    assert not small.padded
    large = fit_for_model(8000, 6000)
    assert (large.width, large.height) == (2048, 1536)
    unchanged = fit_for_model(1000, 600)
    assert (unchanged.width, unchanged.height, unchanged.padded) == (1000, 600, False)


def test_a_thin_line_is_padded_rather_than_distorted() -> None:
    fit = fit_for_model(4000, 2)
    assert (fit.width, fit.height) == (2048, 1)
    assert (fit.canvas_width, fit.canvas_height) == (2048, MIN_SIDE)


def test_letterboxing_leaves_ordinary_pictures_alone() -> None:
    assert letterboxed(4000, 3000) == (4000, 3000)
    assert letterboxed(3, 1000) == (5, 1000)


@given(sides, sides, st.integers(16, 500))
@settings(max_examples=200, deadline=None)
def test_a_picture_fits_inside_its_tile_with_no_side_of_0(
    width: int, height: int, side: int
) -> None:
    new_width, new_height = fit_inside(width, height, side)
    assert 1 <= new_width <= side
    assert 1 <= new_height <= side
    assert new_width <= width
    assert new_height <= height

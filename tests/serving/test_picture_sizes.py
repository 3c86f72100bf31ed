"""Sizes and token counts of pictures: the family's own resizing leaves what we send alone."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.errors import ModelError
from photocraft_local.imaging.geometry import smart_resize
from photocraft_local.serving.tokens import PictureRule

QWEN2_5 = PictureRule(28, 4 * 28**2, 16384 * 28**2)
QWEN3 = PictureRule(32, 64 * 32**2, 16384 * 32**2)
RULES = [QWEN2_5, QWEN3, QWEN2_5.at_most(1280), QWEN3.at_most(256), QWEN2_5.at_most(1)]
side = st.integers(1, 12_000)


def published(height: int, width: int, rule: PictureRule) -> tuple[int, int]:
    """The families' published resizing, gaps and all."""
    assert max(height, width) / min(height, width) <= 200
    new_height = round(height / rule.factor) * rule.factor
    new_width = round(width / rule.factor) * rule.factor
    if new_height * new_width > rule.max_pixels:
        shrink = math.sqrt(height * width / rule.max_pixels)
        new_height = max(rule.factor, math.floor(height / shrink / rule.factor) * rule.factor)
        new_width = max(rule.factor, math.floor(width / shrink / rule.factor) * rule.factor)
    elif new_height * new_width < rule.min_pixels:
        grow = math.sqrt(rule.min_pixels / (height * width))
        new_height = math.ceil(height * grow / rule.factor) * rule.factor
        new_width = math.ceil(width * grow / rule.factor) * rule.factor
    return new_height, new_width


@pytest.mark.parametrize("rule", RULES)
@given(width=side, height=side)
def test_the_server_never_scales_what_was_fitted(
    rule: PictureRule, width: int, height: int
) -> None:
    fit = rule.fit(width, height)
    shown = fit.canvas_height, fit.canvas_width
    assert published(*shown, rule) == shown
    assert rule.min_pixels <= shown[0] * shown[1] <= rule.max_pixels
    assert rule.tokens(width, height) * rule.factor**2 == shown[0] * shown[1]
    assert 1 <= fit.width <= fit.canvas_width
    assert 1 <= fit.height <= fit.canvas_height
    assert rule.fit(*shown[::-1]) == rule.fit(fit.canvas_width, fit.canvas_height)
    assert not rule.fit(fit.canvas_width, fit.canvas_height).padded


@pytest.mark.parametrize("rule", RULES)
@given(width=st.integers(28, 6000), height=st.integers(28, 6000))
def test_an_ordinary_picture_gets_the_familys_own_size(
    rule: PictureRule, width: int, height: int
) -> None:
    if max(width, height) <= 4 * min(width, height):
        fit = rule.fit(width, height)
        theirs = smart_resize(height, width, rule.factor, rule.min_pixels, rule.max_pixels)
        assert (fit.canvas_height, fit.canvas_width) == theirs
        assert not fit.padded


def test_a_strip_stands_on_grey_and_keeps_its_shape() -> None:
    fit = QWEN3.fit(9000, 20)
    assert fit.padded
    assert fit.width / fit.height == pytest.approx(450, rel=0.1)
    assert fit.canvas_width / fit.canvas_height <= 200
    assert QWEN3.fit(20, 9000).canvas_height == fit.canvas_width


def test_a_lower_limit_for_one_picture_never_leaves_the_familys_range() -> None:
    assert QWEN3.at_most(1024).tokens(4000, 3000) <= 1024
    assert QWEN3.at_most(99999) == QWEN3
    assert QWEN3.at_most(1).max_pixels == 4 * QWEN3.min_pixels
    with pytest.raises(ModelError, match="no room"):
        PictureRule(28, 1000 * 28**2, 2000 * 28**2)

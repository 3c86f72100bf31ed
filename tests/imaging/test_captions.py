"""Captions hold any text: nothing raises, nothing is wider than its tile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from photocraft_local.imaging.captions import draw_lines, drawable, font, line_height, wrap

any_text = st.text(max_size=80)


def test_letters_with_accents_are_drawn_without_them() -> None:
    assert drawable("Zürich, Kraków, São Tomé") == "Zurich, Krakow, Sao Tome"


def test_what_the_font_lacks_is_one_visible_box_a_character() -> None:
    assert drawable("東京 a") == "\ufffd\ufffd a"
    ink = font(16).getmask("\ufffd")
    assert max(bytes(ink)) > 0


def test_combining_marks_do_not_become_boxes() -> None:
    assert drawable("e\u0301") == "e"


@pytest.mark.parametrize(
    "text",
    ["\u202eevil", "\x00\x1b[31m", "\ud800", "👩‍👩‍👧", "שלום", "مرحبا", "\u0301", "", "\n\n"],
)
def test_odd_text_is_wrapped_and_drawn(text: str) -> None:
    lines = wrap(text, 12, 60, max_lines=3)
    image = Image.new("RGB", (80, 60), (255, 255, 255))
    draw_lines(image, lines, 2, 2, size=12, colour=(0, 0, 0))
    visible = any(not char.isspace() and drawable(char) != "" for char in text)
    assert (np.asarray(image).min() < 255) == visible


@given(any_text, st.integers(20, 300), st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_no_line_is_wider_than_asked_and_none_too_many(
    text: str, width: int, max_lines: int
) -> None:
    lines = wrap(text, 12, width, max_lines=max_lines)
    assert len(lines) <= max_lines
    for line in lines:
        assert font(12).getlength(line) <= width or len(line) <= len("...") + 1


def test_text_breaks_at_blanks_and_at_line_breaks() -> None:
    assert wrap("one two\nthree", 12, 500, max_lines=3) == ["one two", "three"]
    assert wrap("aaaa bbbb", 12, int(font(12).getlength("aaaa b")), max_lines=3) == ["aaaa", "bbbb"]


def test_a_cut_is_shown_by_dots() -> None:
    lines = wrap("word " * 60, 12, 100, max_lines=2)
    assert len(lines) == 2
    assert lines[-1].endswith("...")


def test_a_line_is_as_high_as_its_letters() -> None:
    assert 12 <= line_height(12) <= 20

"""What reaches the terminal: escaped text, ASCII JSON, streams that cannot show a letter."""

from __future__ import annotations

import io
import json

import pytest

from photocraft_local.cli.console import Console, json_text, shown
from photocraft_local.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain.jpg", "plain.jpg"),
        ("Crémieux 東京.tiff", "Crémieux 東京.tiff"),
        ("red\x1b[31m.jpg", "red\\x1b[31m.jpg"),
        ("two\nlines\r.jpg", "two\\x0alines\\x0d.jpg"),
        ("gpj.\u202egnp.exe", "gpj.\\u202egnp.exe"),
        ("c1\x9b2J", "c1\\x9b2J"),
        ("half\ud83d", "half\\ud83d"),
        ("\u2028", "\\u2028"),
        ("tag\U000e0041", "tag\\U000e0041"),
    ],
)
def test_characters_that_could_steer_a_terminal_are_written_out(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_json_is_pure_ascii_and_survives_a_round_trip() -> None:
    value = {"paths": ["a\x7f\x9b\u202e\ud800é\n"]}
    text = json_text(value)
    assert text.isascii()
    assert text.isprintable()
    assert json.loads(text) == value


def test_a_stream_that_cannot_show_a_letter_gets_its_escape() -> None:
    raw = io.BytesIO()
    console = Console(stdout=io.TextIOWrapper(raw, encoding="ascii"), stderr=io.StringIO())
    console.line("Crémieux.tiff")
    console.flush()
    assert raw.getvalue() == b"Cr\\xe9mieux.tiff\n"


def test_quiet_hides_notes_but_neither_warnings_nor_errors() -> None:
    err = io.StringIO()
    console = Console(quiet=True, stdout=io.StringIO(), stderr=err)
    console.note("a note")
    console.warning("a warning")
    console.failure(UsageError("it is wrong", hint="do it right"))
    assert err.getvalue() == "warning: a warning\nerror: it is wrong\nhint: do it right\n"


def test_an_error_stays_on_one_line_whatever_its_message_holds() -> None:
    err = io.StringIO()
    Console(stdout=io.StringIO(), stderr=err).error("bad\nname\x1b[2J", "look\nhere")
    assert err.getvalue().splitlines() == ["error: bad\\x0aname\\x1b[2J", "hint: look\\x0ahere"]

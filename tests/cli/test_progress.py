"""Progress: a rewriting line with rate and time left on a terminal, few plain lines in a log."""

from __future__ import annotations

import io

import pytest

from photocraft_local.cli.progress import Progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_terminal_sees_share_rate_and_time_left_on_one_line() -> None:
    clock, stream = Clock(), Terminal()
    progress = Progress("embedding", stream, clock)
    progress.update(0, 100)
    clock.now += 2
    progress.update(20, 100)
    assert stream.getvalue() == (
        "\r\x1b[Kembedding …\r\x1b[Kembedding: 20 of 100 (20%, 10.0/s, 8 s left)"
    )
    progress.finish("100 photos")
    assert stream.getvalue().endswith("\r\x1b[Kembedding: 100 photos\n")


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    clock, stream = Clock(), Terminal()
    progress = Progress("embedding", stream, clock)
    clock.now += 11
    progress.update(20, 100)
    progress.finish()
    assert stream.getvalue() == "embedding: 20 of 100 (20%, 0.0/s)\n"


def test_a_terminal_is_not_flooded() -> None:
    clock, stream = Clock(), Terminal()
    progress = Progress("scanning", stream, clock)
    for count in range(10_000):
        clock.now += 0.0001
        progress.update(count)
    assert stream.getvalue().count("\r") <= 11


def test_a_log_gets_plain_lines_without_control_characters() -> None:
    clock, stream = Clock(), io.StringIO()
    progress = Progress("embedding", stream, clock)
    for count in range(301):
        progress.update(count, 300)
        clock.now += 0.1
    progress.finish("300 photos in 30 s")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[-1] == "embedding: 300 photos in 30 s"
    assert stream.getvalue().replace("\n", "").isprintable()


def test_work_of_an_earlier_run_does_not_count_as_speed() -> None:
    clock, stream = Clock(), Terminal()
    progress = Progress("embedding", stream, clock)
    progress.update(900, 1000)
    clock.now += 5
    progress.update(950, 1000)
    assert "10.0/s, 5 s left" in stream.getvalue()


def test_no_stream_means_silence() -> None:
    progress = Progress("embedding", None)
    progress.update(1, 2)
    progress.finish("done")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (61, "1 min 01 s"), (3661, "1 h 01 min"), (7500, "2 h 05 min")],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration(seconds) == text

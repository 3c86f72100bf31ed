"""Progress of a long step: a line that rewrites itself on a terminal, plain lines elsewhere.

Knows counts and clocks, not what is counted.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import TextIO

_TERMINAL_SECONDS = 0.1  # between two redraws of the line
_PLAIN_SECONDS = 10.0  # between two lines of a log
_LEAST_SECONDS = 0.5  # before that a rate says nothing
_CLEAR = "\r\x1b[K"


class Progress:
    """``update`` as often as you like; it writes only when enough time has passed."""

    def __init__(
        self,
        label: str,
        stream: TextIO | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._stream = stream
        self._clock = clock
        self._start = self._last = clock()
        self._first: int | None = None  # what was done before this run does not count as speed
        self._drawn = False
        # A dumb terminal shows the signs that redraw a line instead of obeying them.
        able = os.environ.get("TERM") != "dumb"
        self._terminal = stream is not None and able and stream.isatty()
        self._pause = _TERMINAL_SECONDS if self._terminal else _PLAIN_SECONDS
        if self._terminal:
            self._last = -math.inf  # the first line at once: something has begun

    def update(self, done: int, total: int | None = None) -> None:
        if self._stream is None:
            return
        if self._first is None:
            self._first = 0 if done <= 1 else done
        now = self._clock()
        if now - self._last < self._pause and done != total:
            return
        if done == total and not self._terminal:
            return  # ``finish`` writes the last line of a log
        self._last = now
        self._draw(self._text(done, total, now - self._start))

    def finish(self, summary: str = "") -> None:
        """Takes the moving line away and leaves ``summary`` in its place."""
        if self._stream is None:
            return
        if self._terminal and self._drawn:
            self._stream.write(_CLEAR)
        if summary:
            self._stream.write(f"{self._label}: {summary}\n")
        self._stream.flush()

    def _draw(self, text: str) -> None:
        assert self._stream is not None
        self._stream.write(f"{_CLEAR}{text}" if self._terminal else f"{text}\n")
        self._stream.flush()
        self._drawn = True

    def _text(self, done: int, total: int | None, seconds: float) -> str:
        rate = (done - (self._first or 0)) / seconds if seconds > 0 else 0.0
        if not done:
            return f"{self._label} …"
        if seconds < _LEAST_SECONDS:
            return f"{self._label}: {done:,}" + (f" of {total:,}" if total else "")
        if total is None:
            return f"{self._label}: {done:,} ({rate:,.0f}/s)"
        share = 100 * done // total if total else 100
        left = f", {duration((total - done) / rate)} left" if rate > 0 else ""
        return f"{self._label}: {done:,} of {total:,} ({share}%, {rate:,.1f}/s{left})"


def duration(seconds: float) -> str:
    """``42 s``, ``3 min 20 s``, ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"

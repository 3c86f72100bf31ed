"""Where text leaves the program: results on stdout, notes, progress and errors on stderr.

Everything shown passes ``shown``: file names and metadata are untrusted and must not be able to
move the cursor, recolour the terminal or reorder text. Knows nothing of photos.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from typing import Any, TextIO

from photocraft_local.cli.progress import Progress
from photocraft_local.errors import PhotocraftError

# Control characters, format characters (right-to-left overrides, zero-width letters), lone
# surrogates and the two Unicode line ends.
_ESCAPED_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def shown(text: str) -> str:
    """``text`` on one line, with every character that could steer a terminal written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_escaped, text))


def _escaped(letter: str) -> str:
    if unicodedata.category(letter) not in _ESCAPED_CATEGORIES:
        return letter
    code = ord(letter)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def json_text(value: Any) -> str:
    """One line of pure ASCII JSON, keys in the order given, so that it survives any encoding."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False).replace("\x7f", "\\u007f")


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # until the process ends


class Console:
    """The two output streams of one command."""

    def __init__(
        self,
        *,
        quiet: bool = False,
        debug: bool = False,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self.quiet = quiet
        self.debug = debug
        self.after_ctrl_c = "run the same command again to go on where it stopped"
        self._out = stdout or sys.stdout or _nowhere()  # None: closed by whoever started us
        self._err = stderr or sys.stderr or _nowhere()
        for stream in (self._out, self._err):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure:  # a terminal that cannot show a letter gets its escape instead
                reconfigure(errors="backslashreplace")

    def line(self, text: str = "") -> None:
        """One line of the result."""
        self._out.write(shown(text) + "\n")

    def json(self, value: Any) -> None:
        """One JSON value of the result on a line of its own."""
        self._out.write(json_text(value) + "\n")

    def note(self, text: str) -> None:
        """Something worth knowing that is not the result; silent with ``--quiet``."""
        if not self.quiet:
            self._write_error(text)

    def warning(self, text: str) -> None:
        """Something that the person has to know; shown with ``--quiet`` too."""
        self._write_error(f"warning: {text}")

    def error(self, message: str, hint: str = "") -> None:
        """One line for what went wrong, one for the way out."""
        self._write_error(f"error: {message}")
        if hint:
            self._write_error(f"hint: {hint}")

    def failure(self, error: PhotocraftError) -> None:
        self.error(error.message, error.hint)

    def progress(self, label: str) -> Progress:
        return Progress(label, None if self.quiet else self._err)

    def flush(self) -> None:
        self._out.flush()

    def abandon_stdout(self) -> None:
        """After a broken pipe: point stdout at nothing, so that closing it cannot fail again."""
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self._out.fileno())
        os.close(nothing)

    def _write_error(self, text: str) -> None:
        self._out.flush()  # keep the order where both streams are one terminal
        self._err.write(shown(text) + "\n")
        self._err.flush()

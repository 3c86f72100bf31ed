"""A text in the person's own editor, and the text of a file or of stdin.

Knows neither plans nor memories: whoever calls says what it is and whether it can be used.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from photocraft_local.cli.console import Console
from photocraft_local.errors import PhotocraftError, UsageError

_LARGEST = 1 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Subject:
    """What is edited, in the words of the messages."""

    name: str = "plan"
    undone: str = "nothing is searched"  # if the text is not used
    editorless: str = "or write the plan with --show-plan and run it with --plan FILE"
    ending: str = ".plan.txt"
    again: str = "run photocraft ask --plan {path}"  # with a text that was kept


PLAN = Subject()


def read_text(name: str) -> str:
    """The text of a file, of stdin for ``-``. Raises UsageError."""
    try:
        if name == "-":
            raw = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with Path(name).expanduser().open("rb") as file:
                raw = file.read(_LARGEST + 1)
        if len(raw) > _LARGEST:
            raise UsageError(f"{_shown(name)} is larger than a plan can be", hint="name a plan")
        return raw.decode("utf-8")
    except OSError as exc:
        raise UsageError(
            f"{_shown(name)} cannot be read: {exc.strerror}",
            hint="photocraft ask QUESTION --show-plan > FILE writes a plan",
        ) from exc
    except UnicodeDecodeError as exc:
        raise UsageError(
            f"{_shown(name)} is no text in UTF-8", hint="save it as UTF-8, or name another file"
        ) from exc


def _shown(name: str) -> str:
    return "the plan on stdin" if name == "-" else f"the plan {name!r}"


def edited(
    text: str, check: Callable[[str], object], console: Console, subject: Subject = PLAN
) -> str:
    """``text`` as the person leaves it in ``$VISUAL`` or ``$EDITOR``, with ``check`` passed.

    What ``check`` refuses is opened again if the person wishes; else the file is kept and named.
    Raises UsageError, also for a text that is emptied: nothing is done then.
    """
    editor = _editor(subject)
    handle, name = tempfile.mkstemp(prefix="photocraft-", suffix=subject.ending)
    path = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    keep = False
    try:
        while True:
            changed = _opened(editor, path, subject)
            if not changed.strip():
                raise UsageError(
                    f"the {subject.name} was emptied; {subject.undone}",
                    hint="run the same command again to start anew",
                )
            try:
                check(changed)
            except PhotocraftError as error:
                if not _again(error, console):
                    keep = True
                    raise _with_file(error, path, subject) from error
            else:
                return changed
    finally:
        if not keep:
            path.unlink(missing_ok=True)


def _editor(subject: Subject) -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        if words := os.environ.get(variable, "").strip():
            try:
                return shlex.split(words)
            except ValueError as exc:
                raise UsageError(
                    f"the variable {variable} is no command: {exc}",
                    hint="set it to your editor, e.g. export EDITOR=nano",
                ) from exc
    raise UsageError(
        "no editor is chosen: neither VISUAL nor EDITOR is set",
        hint=f"export EDITOR=nano; {subject.editorless}",
    )


def _opened(editor: list[str], path: Path, subject: Subject) -> str:
    try:
        code = subprocess.run([*editor, str(path)], check=False).returncode  # noqa: S603
    except OSError as exc:
        raise UsageError(
            f"the editor {editor[0]!r} cannot be started: {exc.strerror}",
            hint="set VISUAL or EDITOR to an editor that is installed",
        ) from exc
    if code:
        raise UsageError(
            f"the editor {editor[0]!r} ended with code {code}; {subject.undone}",
            hint=f"leave the editor without an error to use the {subject.name}",
        )
    return read_text(str(path))


def _again(error: PhotocraftError, console: Console) -> bool:
    """Whether a person sits there and wants to mend it."""
    if not sys.stdin.isatty():
        return False
    console.failure(error)
    console.warning("press Enter to edit it again, or type q and Enter to leave it")
    return sys.stdin.readline().strip().casefold() in ("", "y", "yes", "e")


def _with_file(error: PhotocraftError, path: Path, subject: Subject) -> UsageError:
    way = f"your text is kept: mend {path} and {subject.again.format(path=path)}"
    return UsageError(error.message, hint=f"{error.hint}; {way}" if error.hint else way)

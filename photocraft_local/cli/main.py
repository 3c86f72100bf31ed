"""The entry point: parse, run one command, turn every end into an exit code.

A person never sees a traceback unless they ask with ``--debug``.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
import traceback
from collections.abc import Sequence

from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import build_parser, module_of, with_coordinates
from photocraft_local.errors import LibraryError, PhotocraftError, StorageFull
from photocraft_local.records import path_text


def main(argv: Sequence[str] | None = None) -> int:
    """Runs ``photocraft`` with these arguments and gives its exit code (docs/cli.md)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    console = Console(quiet="--quiet" in arguments, debug="--debug" in arguments)
    handler = _LogLines(console)
    log = logging.getLogger("photocraft_local")
    log.addHandler(handler)
    log.setLevel(logging.DEBUG if console.debug else logging.WARNING)
    try:
        code = _run(arguments, console)
        console.flush()
    except BrokenPipeError:
        console.abandon_stdout()
        return exit_codes.BROKEN_PIPE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # the last line of defence
        if console.debug:
            traceback.print_exception(error)
        return _explain(error, console)
    finally:
        log.removeHandler(handler)
    return code


class _LogLines(logging.Handler):
    """What the layers below log: warnings always, reasons for choices with ``--debug``."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self._console.warning(record.getMessage())
        else:
            self._console.note(f"debug: {record.getMessage()}")


def _run(arguments: list[str], console: Console) -> int:
    try:
        parsed = build_parser(arguments).parse_args(with_coordinates(arguments))
    except SystemExit as done:  # --help and --version have printed what they had to say
        return int(done.code or 0)
    return int(module_of(parsed.command).run(parsed, console))


def _explain(error: BaseException, console: Console) -> int:
    if isinstance(error, KeyboardInterrupt):
        console.error(
            "interrupted; everything that was finished is kept", hint=console.after_ctrl_c
        )
        return exit_codes.INTERRUPTED
    error = _named(error)
    if isinstance(error, PhotocraftError):
        console.failure(error)
        return error.exit_code
    console.error(
        f"internal error: {type(error).__name__}: {error}",
        hint="this is a fault of photocraft; --debug shows where it happened",
    )
    return exit_codes.INTERNAL


def _named(error: BaseException) -> BaseException:
    """Causes outside of this program that no layer below has named."""
    if isinstance(error, MemoryError):
        hint = "close other programs, or give fewer threads and photos: --workers 1 --batch-size 1"
        return PhotocraftError("there is not enough memory", hint=hint)
    if not isinstance(error, OSError) or error.errno is None:
        return error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "free some space and run it again"
        return StorageFull(f"no space left on the disk: {error}", hint=hint)
    name = error.filename
    where = path_text(os.fsencode(name)) if isinstance(name, str | bytes) else "a file"
    return LibraryError(
        f"{where} cannot be used: {error.strerror}",
        hint="check that it is there, on a mounted drive, and yours; --debug shows who needed it",
    )


if __name__ == "__main__":
    sys.exit(main())

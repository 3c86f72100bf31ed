"""The entry point: parse, run one command, turn every end into an exit code.

A person never sees a traceback unless they ask with ``--debug``.
"""

from __future__ import annotations

import errno
import logging
import sys
import traceback
from collections.abc import Sequence

from photocraft_local.cli import exit_codes
from photocraft_local.cli.console import Console
from photocraft_local.cli.parser import build_parser, module_of
from photocraft_local.errors import PhotocraftError, StorageFull


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
        parsed = build_parser(arguments).parse_args(arguments)
    except SystemExit as done:  # --help and --version have printed what they had to say
        return int(done.code or 0)
    return int(module_of(parsed.command).run(parsed, console))


def _explain(error: BaseException, console: Console) -> int:
    if isinstance(error, KeyboardInterrupt):
        console.error(
            "interrupted; everything that was finished is kept",
            hint="run the same command again to go on where it stopped",
        )
        return exit_codes.INTERRUPTED
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        error = StorageFull(
            f"no space left on the disk: {error}", hint="free some space and run it again"
        )
    if isinstance(error, PhotocraftError):
        console.failure(error)
        return error.exit_code
    console.error(
        f"internal error: {type(error).__name__}: {error}",
        hint="this is a fault of photocraft; --debug shows where it happened",
    )
    return exit_codes.INTERNAL


if __name__ == "__main__":
    sys.exit(main())

"""What the command ``photocraft`` starts. All else is imported inside, so that Ctrl-C while the
program is still being read ends in a line, not in a traceback. Knows no command."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command of ``sys.argv`` and gives its exit code (docs/cli.md)."""
    try:
        from photocraft_local.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted; nothing was begun\nhint: run it again\n")
        return 130  # exit_codes.INTERRUPTED; importing it may be what was interrupted
    return run()

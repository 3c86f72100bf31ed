"""What the command line's exit codes mean; stable, scripts rely on them (docs/cli.md).

Codes 2 to 6 of errors stand in ``errors.py``, beside the errors themselves.
"""

from __future__ import annotations

OK = 0  # done; a search or question found photos
NOTHING_FOUND = 1  # it ran as asked, and no photo matches
FAULT_FOUND = 1  # of `doctor`, `weights verify`, `replay`: it ran, and something is not as it was
PARTLY_UNDERSTOOD = 7  # it ran, but words of the query or question were not used
INTERNAL = 70  # a fault of this program
INTERRUPTED = 130  # Ctrl-C
BROKEN_PIPE = 141  # the reader of the output went away


def of_result(found: int, not_understood: tuple[str, ...]) -> int:
    """The code of a search or question. Unused words weigh more than an empty result: an
    empty or full answer to half a question must not look like the answer to the whole."""
    if not_understood:
        return PARTLY_UNDERSTOOD
    return OK if found else NOTHING_FOUND

"""Files that a person names for what an evaluation writes. Nothing of theirs is written over.

Knows no format: what is an earlier one of ours, its writer says.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from photocraft_local.errors import EvaluationError


def check_target(path: Path, what: str, is_ours: Callable[[Path], bool]) -> None:
    """Before hours of questions. Raises EvaluationError where the folder is missing, or something
    stands there that is no ``what`` of ours."""
    if not path.parent.is_dir():
        raise EvaluationError(
            f"there is no folder {str(path.parent)!r} for the {what}", hint="make it first"
        )
    is_free = not path.is_symlink() and (not path.exists() or (path.is_file() and is_ours(path)))
    if not is_free:
        raise EvaluationError(
            f"{str(path)!r} exists and is no {what} of photocraft",
            hint="name another file; nothing of yours is written over",
        )

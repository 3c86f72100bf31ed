"""The exception tree: the docstring's drawing is the truth, and every leaf has an exit code."""

from __future__ import annotations

import inspect
import re

from photocraft_local import errors
from photocraft_local.errors import MissingExtraError, PhotocraftError


def classes() -> dict[str, type[PhotocraftError]]:
    return {
        name: value
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, PhotocraftError)
    }


def test_the_docstring_draws_exactly_the_classes_that_exist() -> None:
    drawn = set(re.findall(r"[├└]── (\w+)", errors.__doc__ or ""))
    assert drawn == set(classes()) - {"PhotocraftError"}


def test_every_error_ends_a_command_with_a_code() -> None:
    assert all(kind.exit_code > 0 for kind in classes().values())


def test_a_missing_extra_names_the_command_that_mends_it() -> None:
    error = MissingExtraError("faiss", "cpu", "vector search")
    assert "faiss" in error.message
    assert "photocraft-local[cpu]" in error.hint

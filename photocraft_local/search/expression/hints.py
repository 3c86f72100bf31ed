"""Words for mistakes in a filter: what stands where it should not, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence

from photocraft_local.search.expression.errors import did_you_mean
from photocraft_local.search.expression.fields import FIELDS, Value
from photocraft_local.search.expression.functions import FUNCTIONS

_INSTEAD = {
    "=": "write == to compare",
    "&": "write and",
    "|": "write or",
    "!": "write not",
    "~": "write == ; camera and address match parts of the text by themselves",
    "AND": "write and",
    "OR": "write or",
    "NOT": "write not",
    "is": "write ==",
    "like": "write == ; camera and address match parts of the text by themselves",
    "between": "write low <= field <= high",
    "None": "write not has_time, not has_gps, not has_place or not has_camera",
}
EXAMPLE = 'a filter reads like: year == 2021 and near("Lisbon", 10)'
_LONGEST = 60  # characters of the person's own that a message repeats


def unexpected(tokens: Sequence[str], at: int, wanted: str) -> tuple[str, None, str]:
    """Message, no other position, and hint for the token at hand, where ``wanted`` should be."""
    token = tokens[at][:_LONGEST]
    if not token:
        return f"the filter ends where {wanted} should follow", None, "complete it"
    hint = _INSTEAD.get(token) or (_INSTEAD.get(tokens[at - 1], "") if at else "")
    if not hint and (token[0].isalpha() or token[0] == "_"):
        if tokens[at + 1] == "(":
            return f"unknown function {token!r}", None, did_you_mean(token, FUNCTIONS)
        if wanted.startswith("a field"):
            return f"unknown field {token!r}", None, _name_hint(token)
    return f"{token!r} where {wanted} should stand", None, hint


def _name_hint(token: str) -> str:
    known = did_you_mean(token, [*FIELDS, *FUNCTIONS], f"known fields: {', '.join(FIELDS)}")
    return f'{known}; text stands in quotes: "{token}"'


def example_with(value: Value) -> str:
    """A condition in which the value would make sense."""
    if isinstance(value, str):
        word = value[:_LONGEST]
        return f'city == "{word}" or place("{word}")'
    return f"year == {value!r}"

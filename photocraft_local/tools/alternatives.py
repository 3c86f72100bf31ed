"""Conditions of which no photo can meet two: a question that names both asks for either.

"Lisbon in 2021 or Porto in 2022", "more photos in Lisbon than in Porto". Only what excludes one
another by itself counts, not what just no photo of this library happens to be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from photocraft_local.errors import PhotocraftError
from photocraft_local.timelang import parse_when
from photocraft_local.timelang.when import When
from photocraft_local.tools.scope import filtered, when_expression
from photocraft_local.tools.stated import Stated

if TYPE_CHECKING:
    from photocraft_local.tools.context import ToolContext

# One field or function of the filter language with one name.
_ATOM = re.compile(r"(\w+)(?: *== *| *\( *)(?:\"([^\"]*)\"|'([^']*)')(?: *\))?")


def alternatives(context: ToolContext, stated: Sequence[Stated]) -> list[list[Stated]]:
    """In groups, those that exclude one another together; each other one by itself."""
    groups = [[one] for one in stated]
    for one, other in combinations(stated, 2):
        if _exclude(context, one, other):
            first, second = (next(group for group in groups if it in group) for it in (one, other))
            if first is not second:
                first += second
                groups = [group for group in groups if group is not second]
    return groups


def either(context: ToolContext, group: Sequence[Stated]) -> Stated:
    """A group as one condition, which what meets any of them meets."""
    if len(group) == 1:
        return group[0]
    where = " or ".join(f"({_expression(context, one)})" for one in group)
    words = " or ".join(dict.fromkeys(one.text for one in group))
    return Stated("where", where, min(one.step for one in group), words=words)


def _exclude(context: ToolContext, one: Stated, other: Stated) -> bool:
    if not (one.is_fact and other.is_fact):
        return False
    first, second = _when(context, one), _when(context, other)
    if first is not None and second is not None:
        return first.excludes(second)
    name, its = (_ATOM.fullmatch(str(it.value).strip()) for it in (one, other))
    if name is None or its is None or name[1] != its[1]:
        return False
    # A place inside another shares its photos, if there are any.
    try:
        mine, theirs = (filtered(context, str(it.value)) for it in (one, other))
    except PhotocraftError:
        return False
    return bool(len(mine) and len(theirs)) and len(mine - theirs) == len(mine)


def _when(context: ToolContext, one: Stated) -> When | None:
    """None where it is no time in words."""
    words = str(one.value) if one.check == "when" else one.words
    try:
        return parse_when(words, today=context.today, habits=context.habits) if words else None
    except PhotocraftError:
        return None


def _expression(context: ToolContext, one: Stated) -> str:
    if one.check == "when":
        return when_expression(context, str(one.value))[0]
    return str(one.value)

"""Which photos a call looks at: a saved set, words for time and a filter expression, together.

All three are exact and hold at once; what ran is echoed. Knows nothing of looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from photocraft_local.errors import UsageError
from photocraft_local.records import Json
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import safe_text

if TYPE_CHECKING:
    from photocraft_local.search.selection import Selection

_LONGEST_ECHO = 500  # characters


@dataclass(frozen=True, slots=True)
class Scope:
    """``selection`` is None for the whole library. ``facts`` echo what was understood."""

    selection: Selection | None
    facts: dict[str, Json]


def scope_of(context: ToolContext, arguments: Mapping[str, Json]) -> Scope:
    """The photos that ``within``, ``when`` and ``where`` leave.

    Raises UnknownSet, TimeWordsError, FilterSyntaxError, PlaceNotFound; UsageError for an
    empty ``within``, in which nothing can be found.
    """
    selection: Selection | None = None
    facts: dict[str, Json] = {}
    if "within" in arguments:
        selection = _within(context, arguments["within"])
        facts["within"] = {"set": arguments["within"], "count": len(selection)}
    expressions = []
    if "when" in arguments:
        expression, facts["when"] = when_expression(context, arguments["when"])
        expressions.append(expression)
    if "where" in arguments:
        expressions.append(arguments["where"])
    parts = [filtered(context, expression) for expression in expressions]
    for part in parts:
        selection = part if selection is None else selection & part
    if parts:
        facts["filter"] = safe_text(_echo(parts), _LONGEST_ECHO)
    return Scope(selection, facts)


def _echo(parts: Sequence[Selection]) -> str:
    """All filters as one, and behind it what their names were taken to mean."""
    texts = [part.expression for part in parts]
    if len(texts) > 1:
        texts = [f"({text})" if " or " in text else text for text in texts]
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return " and ".join(texts) + (f" [{'; '.join(notes)}]" if notes else "")


def filtered(context: ToolContext, expression: str) -> Selection:
    """The photos that pass one filter expression."""
    return context.catalog.filter(expression, today=context.today, places=context.gazetteer)


def when_expression(context: ToolContext, words: str) -> tuple[str, str]:
    """(filter expression, meaning) of words for time. Raises TimeWordsError."""
    from photocraft_local.timelang import parse_when

    when = parse_when(words, today=context.today, habits=context.habits)
    return when.to_expression(), safe_text(when.meaning, _LONGEST_ECHO)


def saved(context: ToolContext, name: str) -> Selection:
    """The photos of a saved set, possibly none. Raises UnknownSet."""
    return context.catalog.selection_of(context.sets.get(name).uids, f"set {name}")


def _within(context: ToolContext, name: str) -> Selection:
    kept = context.sets.get(name)
    if not kept.uids:
        raise UsageError(
            f"the set {name!r} is empty, so nothing can be found inside it",
            hint="leave within out to look in the whole library, or loosen the call that made "
            "the set: " + (kept.origin or "unknown"),
        )
    return saved(context, name)

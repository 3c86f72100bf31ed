"""The ``save_as`` argument that several tools share."""

from __future__ import annotations

from collections.abc import Sequence

from photocraft_local.records import Json
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import safe_text
from photocraft_local.tools.ports import Arguments

_LONGEST_ORIGIN = 200  # characters


def check_save_as(context: ToolContext, arguments: Arguments) -> None:
    """UsageError for a name that cannot be saved, before any work is done."""
    if "save_as" in arguments:
        context.sets.check_name(arguments["save_as"])


def keep(
    context: ToolContext,
    tool: str,
    arguments: Arguments,
    uids: Sequence[str],
    data: dict[str, Json],
) -> str:
    """Save the result if the call asks for it; notes it in ``data`` and returns it in words."""
    if "save_as" not in arguments:
        return ""
    name: str = arguments["save_as"]
    replaced = context.sets.get(name) if name in context.sets else None
    context.sets.save(name, uids, origin(tool, arguments))
    data["saved_as"] = name
    if replaced is not None:
        data["replaced"] = f"an older set {name} of {len(replaced)}"
    return f", saved as {name}"


def origin(tool: str, arguments: Arguments) -> str:
    """The call that made a set, on one line."""
    parts = [f"{key}={value!r}" for key, value in sorted(arguments.items()) if key != "save_as"]
    return safe_text(" ".join([tool, *parts]), _LONGEST_ORIGIN)
